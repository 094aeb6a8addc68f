"""What a check file takes of pytest: each of its features works here, or is refused by name when the file is collected.

A check is run again and again in one session, without the hooks that pytest calls around each test. What hangs on those
would be left out in silence: a check that passes for any answer. The table in docs/writing-exercises.md lists all.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.skipping import evaluate_skip_marks
from _pytest.unittest import TestCaseFunction

FIXTURES = ("student", "reference", "rng", "files", "accelerator", "probe", "tmp_path", "subtests")
"""The fixtures that every check can use."""

_MARKS = {"graded", "parametrize", "usefixtures", "skip", "skipif", "timeout"}
_CAPTURE = "call `capture(student.f, ...)`, which returns what the call printed and what it warned of"
_INSTEAD_OF_MARKS = {
    "xfail": "a check that fails costs its points; remove it",
    "filterwarnings": "call `assert_no_warnings(student.f, ...)`",
}
_INSTEAD_OF_FIXTURES = {
    **dict.fromkeys(("capsys", "capfd", "capsysbinary", "capfdbinary", "caplog"), _CAPTURE),
    "record_property": "pass a message to `assert_true`",
    "cache": "work out what you need in the check",
}
_EXERCISE_FILE = "exercise.yaml"
_CONFTEST, _NOT_READ = "conftest.py", "is not read; move its fixtures into the check file"
_HOOK = "pytest_generate_tests"
"""The one hook that pytest calls in a file of tests."""


def unsupported_feature_of_item(item: pytest.Item) -> str:
    """Return a sentence on an unsupported feature of pytest that a check uses, or "".

    For example, "`check_sum` is `async`, so that nothing of it would run; write an ordinary function".

    Args:
        item: the check, as pytest collected it.
    """
    if isinstance(item, TestCaseFunction) or not isinstance(item, pytest.Function):
        return f"`{item.name}` is a test of unittest; write a function with `@check`"
    function = inspect.unwrap(item.function)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return f"`{item.name}` is `async`, so that nothing of it would run; write an ordinary function"
    if inspect.isgeneratorfunction(function):
        return f"`{item.name}` contains `yield`, so that nothing of it would run; use `@pytest.mark.parametrize`"
    for mark in item.iter_markers():
        if mark.name not in _MARKS:
            instead = _INSTEAD_OF_MARKS.get(mark.name, "it has no effect here; remove it")
            return f"`{item.name}` has the mark `{mark.name}`; {instead}"
    known = item._fixtureinfo.name2fixturedefs
    for name in item.fixturenames:
        if name not in known and name != "request":
            instead = _INSTEAD_OF_FIXTURES.get(name, f"a check can use {', '.join(FIXTURES)}, and those of its file")
            if item.path.with_name(_CONFTEST).exists():
                instead = f"{_CONFTEST} {_NOT_READ}"
            return f"`{item.name}` uses the fixture `{name}`, which does not exist; {instead}"
    return ""


def unsupported_feature_of_file(path: Path) -> str:
    """Return a sentence on an unsupported feature of pytest that a check file uses, or "".

    For example, "`pytest_plugins` does not work here; import what you need".

    Args:
        path: the path of the file, which is valid Python.
    """
    # Beside the shown checks is the student's folder, in which a student may have one, too.
    if path.with_name(_CONFTEST).exists() and not path.with_name(_EXERCISE_FILE).exists():
        return f"{_CONFTEST} beside it {_NOT_READ}"
    return next(_unsupported_features(ast.parse(path.read_bytes())), "")


def _unsupported_features(tree: ast.Module) -> Iterator[str]:
    """Yield a sentence for each unsupported feature of pytest in a check file."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name("pytest_plugins")]):
                yield "`pytest_plugins` does not work here; import what you need"
            case ast.ClassDef(name=name, body=body):
                inside = [each.name for each in body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
                checks = [each for each in inside if each.startswith(("check_", "test_"))]
                if checks:
                    yield f"`{checks[0]}` is in the class `{name}`, where it is never run; move it out of there"
            case ast.FunctionDef(name=name) if name.startswith("pytest_") and name != _HOOK:
                yield f"`{name}` is a hook, which pytest calls in no file of checks; use a fixture"
            case ast.FunctionDef(name=name) if name.startswith("check_") and (line := _returning_line(statement)):
                yield f"`{name}` returns a value in line {line}, which nobody reads; write `assert`"
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("pytest"), attr="xfail" | "exit" as name)):
                yield f"`pytest.{name}` in line {node.lineno} does not work in a check; raise `CannotJudge`"


def _returning_line(function: ast.FunctionDef) -> int:
    """Return the line of a `return` with a value in a function, or 0.

    Functions and classes within the function do not count.
    """
    todo: list[ast.AST] = [*function.body]
    while todo:
        match node := todo.pop():
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                continue
            case ast.Return(value=None | ast.Constant(value=None)):
                pass
            case ast.Return():
                return node.lineno
        todo += ast.iter_child_nodes(node)
    return 0


def skip_if_marked(item: pytest.Item) -> None:
    """Raise the exception of `pytest.skip` if a mark of the check says so.

    Such marks are `skip` and `skipif`. The check's points stay undecided then.

    Args:
        item: the check.
    """
    if (skip := evaluate_skip_marks(item)) is not None:
        raise pytest.skip.Exception(skip.reason, _use_item_location=True)


class Subtests:
    """The fixture `subtests`: parts of a check, which ends at the first that fails."""

    def test(self, msg: str | None = None, **parameters: object) -> _Subtest:
        """Return a context manager for one part of a check.

        Args:
            msg: the name of the part, unused: a check has one verdict, so no part has a row of its own.
            **parameters: the parameters of the part, unused as well.
        """
        del msg, parameters
        return _Subtest()


class _Subtest:
    def __enter__(self) -> None:
        """Begin a part of the check."""

    def __exit__(self, *_: object) -> None:
        """Do nothing: an exception propagates, and ends the check."""
