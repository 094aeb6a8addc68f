"""Answers that come without help: what a file imports, and whether PyTorch ran."""

from __future__ import annotations

from typing import Any

from grader.check.costs import count_ops
from grader.check.evidence import reads_openly
from grader.check.kinds import require
from grader.check.text import text_of
from grader.check.values import agrees, plain
from grader.connection.proxy import Proxy, named, word_of
from grader.connection.raised import raised_by_student
from grader.connection.student import Student, connection_behind
from grader.model.endings import CannotJudge, CheckFailed
from grader.model.public import say


def imports_no(student: Student, *packages: str) -> None:
    """The student's files import none of these packages, nor contain what could import one unseen.

    Imports that never run count for nothing: those below `if __name__ == "__main__":` and `if TYPE_CHECKING:`.
    """
    connection = connection_behind(student)
    reads_openly(named(connection, ""))
    if (mention := text_of(connection.files, connection.module).imported(packages)) is not None:
        text = say("your file imports {}; the rule needs no help from there", mention.name)
        raise CheckFailed(text, f"{text} (line {mention.line})", from_text=True)


def runs_no_operation(*cases: tuple[Proxy, tuple[Any, ...], Any]) -> None:
    """Right answers come without any operation of PyTorch's.

    Together with `imports_no`, which reads the text, this finds what PyTorch is asked through an argument.

    Args:
        cases: each a function of the student's, its arguments, and the answer; a list is as good as a tuple.

    Raises:
        CannotJudge: no answer is right, and of wrong ones it does not matter how they came about.
        CheckFailed: a right one comes from PyTorch.
    """
    errors: list[Exception] = []
    working = [(function, args) for function, args, expected in cases if _answers(function, args, expected, errors)]
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


def _answers(function: Proxy, args: tuple[Any, ...], expected: Any, errors: list[Exception]) -> bool:
    """Whether a call gives the right answer. What student code raises is none, and is noted."""
    try:
        return agrees(plain(function(*args)), plain(expected))
    except Exception as error:
        if raised_by_student(error) is None:
            raise
        errors.append(error)
        return False
