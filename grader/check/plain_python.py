"""Answers that come without help: what a file imports, and whether PyTorch ran."""

from __future__ import annotations

import ast
import functools
from typing import Any

from grader.check.costs import count_ops
from grader.check.kinds import require
from grader.check.values import agrees, plain
from grader.model.endings import CannotJudge, CheckFailed
from grader.model.public import say
from grader.remote.student import RemoteFunction, Student, side_of, source


def imports_no(student: Student, *packages: str) -> None:
    """The student's file imports none of these packages, anywhere in it."""
    side_of(student).names()  # a file that does not load is told as that
    imported = set()
    for node in ast.walk(ast.parse(source(student))):
        match node:
            case ast.Import(names=names):
                imported |= {alias.name.split(".")[0] for alias in names}
            case ast.ImportFrom(module=str(module), level=0):
                imported.add(module.split(".")[0])
    if found := sorted(imported & set(packages)):
        told = functools.reduce(lambda one, other: say("{} and {}", one, other), found)
        raise CheckFailed(say("your file imports {}; the rule needs no help from there", told))


def runs_no_operation(*cases: tuple[RemoteFunction, tuple[Any, ...], Any]) -> None:
    """Right answers come without any operation of PyTorch's.

    Args:
        cases: each a function of the student's, its arguments, and the answer; a list is as good as a tuple.

    Raises:
        CannotJudge: no answer is right, and of wrong ones it does not matter how they came about.
        CheckFailed: a right one comes from PyTorch.
    """
    working = [(function, args) for function, args, asked in cases if agrees(plain(function(*args)), plain(asked))]
    if not working:
        one = say("the function gives wrong answers so far; how it gets them is judged later")
        both = say("both functions give wrong answers so far; how they get them is judged later")
        more = say("all functions give wrong answers so far; how they get them is judged later")
        raise CannotJudge({1: one, 2: both}.get(len({repr(function) for function, _, _ in cases}), more))
    for function, args in working:
        found = count_ops(function, *args)
        public = say("`{}` runs PyTorch operations; work the answer out instead", function)
        require(not found, public, f"{public} (it runs {', '.join(found)})")
