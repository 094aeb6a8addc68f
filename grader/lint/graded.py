"""Checks and tests that are never run, or not as their author means."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.lint.source import Finding, Function, Source, parameters

_OF_ONE_CHECK = ("student", "reference", "rng", "probe", "tmp_path")
_XFAIL = re.compile(r"pytest\.(mark\.)?xfail|unittest\.expectedFailure")
_SKIP = re.compile(r"pytest\.(mark\.skip(if)?|skip|importorskip)|unittest\.skip\w*")


def not_graded(source: Source) -> Iterator[Finding]:
    """Every finding of this kind."""
    inside = {
        function: parent.name
        for parent in source.nodes
        if isinstance(parent, (ast.ClassDef, Function))
        for function in ast.walk(parent)
        if function is not parent
    }
    first: dict[str, int] = {}
    for function in source.functions:
        name, line = function.name, function.lineno
        if function in inside:
            if source.is_check(function):
                yield Finding(line, f"`{name}` is inside `{inside[function]}` and is never run", "move it out of there")
            continue
        if source.is_check(function) and (before := first.setdefault(name, line)) != line:
            yield Finding(line, f"this `{name}` replaces the one on line {before}", "give each check its own name")
        yield from _name(name, line, is_check=source.is_check(function))
        yield from _scope(source, function)
    for node in (node for node in source.nodes if isinstance(node, (ast.Name, ast.Attribute))):
        path = source.path(node)
        if _XFAIL.fullmatch(path):
            yield Finding(node.lineno, f"`{path}` has no effect: a check that fails costs its points", "remove it")
        elif _SKIP.fullmatch(path):
            instead = 'for a GPU, write `@check(device="cuda")`; where a value rules out judging, raise `CannotJudge`'
            yield Finding(node.lineno, f"`{path}` leaves the check's points undecided in every report", instead)


def _name(name: str, line: int, *, is_check: bool) -> Iterator[Finding]:
    """A function whose name and decorator do not agree: pytest collects by the name, the decorator says the rule."""
    if name.startswith("test_"):
        yield Finding(line, f"`{name}` is never run", f'make it a check: `@check("C1")` and `def check_{name[5:]}`')
    elif is_check and not name.startswith("check_"):
        yield Finding(line, f"`{name}` is never run: the name of a check begins with check_", f"name it `check_{name}`")
    elif name.startswith("check_") and not is_check:
        what = f"`{name}` has no `@check`, so it is graded as a check of no rule with one share"
        yield Finding(line, what, f'write `@check("C1")` above it; if it is a helper, name it `{name[5:]}`')


def _scope(source: Source, function: Function) -> Iterator[Finding]:
    """A fixture that outlives what it takes."""
    fixture = source.decorator(function, "pytest.fixture")
    for keyword in fixture.keywords if isinstance(fixture, ast.Call) else ():
        taken = [name for name in parameters(function) if name in _OF_ONE_CHECK]
        if keyword.arg == "scope" and ast.unparse(keyword.value) != "'function'" and taken:
            what = f"every check that takes the fixture `{function.name}` fails: `{taken[0]}` belongs to one check"
            yield Finding(function.lineno, what, "remove `scope`")
