"""What a call of the student's does as a whole: it raises or does not, it answers yes or no; its text for staff."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from grader.check import show
from grader.check.kinds import require
from grader.connection.connection import Proxy, word_of
from grader.connection.raised import another_expected, raised_by_student
from grader.connection.student import function_expected
from grader.model.endings import CheckFailed
from grader.model.public import say


def raises(function: Proxy, *args: Any, error: type[Exception] = ValueError, case: str) -> None:
    """The call raises an error; any other that student code raises makes the check crash, and the asked one is told.

    Args:
        function: a function of the student's.
        args: its arguments.
        error: the builtin error that is asked.
        case: what is refused, in words without hidden numbers, such as "an empty tensor".

    Raises:
        CheckFailed: it raises nothing.
    """
    call = _text(function_expected(function), args)
    try:
        yours = function(*args)
    except error as raised:
        if raised_by_student(raised) is None:
            raise
        return
    except Exception as raised:
        another_expected(raised, say("{} is asked for {}", show.with_article(error.__name__), case))
        raise
    public = say("`{}` accepts {}; {} is asked", function, case, show.with_article(error.__name__))
    raise CheckFailed(public, f"{public}\nthe call  {call}\ngives     {show.show(yours)}")


def accepts(function: Proxy, *args: Any, error: type[Exception] = ValueError, case: str) -> Any:
    """The call does not raise this error. Gives its result.

    Args:
        function: a function of the student's.
        args: its arguments.
        error: the builtin error with which it could refuse them.
        case: what it may not refuse, in words without hidden numbers, such as "a matrix of small numbers".

    Raises:
        CheckFailed: it raises the error.
    """
    call = _text(function_expected(function), args)
    try:
        return function(*args)
    except error as raised:
        if (told := raised_by_student(raised)) is None:
            raise
        public = say("`{}` refuses {}; there is no reason for {}", function, case, show.with_article(error.__name__))
        raise CheckFailed(public, f"{public}\nthe call  {call}\nraised    {told.type}: {told.text}") from None


def answers(function: Proxy, *args: Any, asked: bool, case: str) -> None:
    """The call returns this truth value, as a bool.

    Args:
        function: a function of the student's.
        args: its arguments.
        asked: what it must return.
        case: when, in words without hidden numbers, such as "for an empty tensor".
    """
    yours = function_expected(function)(*args)
    require(isinstance(yours, (bool, np.bool_)), say("`{}` must return True or False", function))
    require(bool(yours) == asked, say("`{}` returns {} {}; {} is asked", function, bool(yours), case, asked))


@contextmanager
def calling(function: Proxy, *args: Any) -> Iterator[Any]:
    """The result of a call. Where what runs inside fails, staff are told the call as well."""
    call = _text(function_expected(function), args)
    try:
        yield function(*args)
    except CheckFailed as failed:
        raise CheckFailed(failed.public, f"{call}\n{failed.story}") from None


def _text(function: Proxy, args: tuple[Any, ...]) -> str:
    return f"{word_of(function)}({', '.join(show.show(arg) for arg in args)})"
