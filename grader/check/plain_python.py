"""Answers that come without help: what a file imports, and whether PyTorch ran."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any

from grader.check.bindings import never_runs
from grader.check.costs import count_ops
from grader.check.kinds import require
from grader.check.values import agrees, plain
from grader.model.endings import CannotJudge, CheckFailed
from grader.model.public import say
from grader.remote.handle import Handle, word_of
from grader.remote.raised import raised_by_student
from grader.remote.student import Student, side_behind, source

_IMPORTERS = ("__import__", "import_module")


def imports_no(student: Student, *packages: str) -> None:
    """The student's file imports none of these packages, anywhere in it, be it by `importlib` or `__import__`.

    What never runs when the file is imported is no use of them: `if __name__ == "__main__":`, `if TYPE_CHECKING:`.
    """
    side_behind(student).names()  # a file that does not load is told as that
    imported = {name.split(".")[0] for name in _imports(ast.parse(source(student)))}
    if found := sorted(imported & set(packages)):
        told = functools.reduce(lambda one, other: say("{} and {}", one, other), found)
        raise CheckFailed(say("your file imports {}; the rule needs no help from there", told))


def runs_no_operation(*cases: tuple[Handle, tuple[Any, ...], Any]) -> None:
    """Right answers come without any operation of PyTorch's.

    Args:
        cases: each a function of the student's, its arguments, and the answer; a list is as good as a tuple.

    Raises:
        CannotJudge: no answer is right, and of wrong ones it does not matter how they came about.
        CheckFailed: a right one comes from PyTorch.
    """
    errors: list[Exception] = []
    working = [(function, args) for function, args, asked in cases if _answers(function, args, asked, errors)]
    if not working:
        if errors:
            raise errors[0]
        one = say("the function gives wrong answers so far; how it gets them is judged later")
        both = say("both functions give wrong answers so far; how they get them is judged later")
        more = say("all functions give wrong answers so far; how they get them is judged later")
        raise CannotJudge({1: one, 2: both}.get(len({word_of(function) for function, _, _ in cases}), more))
    for function, args in working:
        found = count_ops(function, *args)
        public = say("`{}` runs PyTorch operations; work the answer out instead", function)
        require(not found, public, f"{public} (it runs {', '.join(found)})")


def _imports(node: ast.AST) -> Iterator[str]:
    """The modules that code imports, as far as its text names them."""
    match node:
        case ast.If() if never_runs(node):
            for other in node.orelse:
                yield from _imports(other)
            return
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            yield module
        case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
            if ast.unparse(function).split(".")[-1] in _IMPORTERS:
                yield name
        case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
            if ast.unparse(value).split(".")[-1] == "modules":
                yield name
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def _answers(function: Handle, args: tuple[Any, ...], asked: Any, errors: list[Exception]) -> bool:
    """Whether a call gives the right answer. What student code raises is none, and is noted."""
    try:
        return agrees(plain(function(*args)), plain(asked))
    except Exception as error:
        if raised_by_student(error) is None:
            raise
        errors.append(error)
        return False
