"""What a function answers in each of several cases: asked for together, as each message to a worker takes its time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from grader.check import show
from grader.model.endings import CannotJudge
from grader.model.public import say
from grader.remote.ahead import Ahead
from grader.remote.handle import Handle, side_of, what_of
from grader.remote.journal import Call
from grader.remote.raised import graph_stays
from grader.remote.student import note, noted
from grader.wire.handles import is_remote, origin_of

_SIZES = (4, 16, 64)
"""Calls of the first messages, and of all others: a check that ends early has let few be made for nothing."""
_MOST_OBJECTS = 32
"""What can change, in the arguments of one message: with each reply all that both ends know is looked at."""
_TENSOR = 4
"""As how many lists a tensor counts, which takes longer to look at."""
_MOST_BYTES = 1 << 20


def each(function: Handle, cases: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """What a function gives in each case, in order: like `itertools.starmap`, and several times as fast as a loop.

    The worker makes the calls one after the other, and is on its way to the next while the check looks at what came of
    one. All cases are made before the first call; what a check does to an argument afterwards is not seen by it. Where
    a call raises, `next` raises that, and goes on with the next case when it is asked again.

    Args:
        function: of the student's or the reference's.
        cases: the positional arguments of each call, as a tuple.
    """
    return Each(function_asked(function), cases)


def function_asked(function: Any) -> Handle:
    """A function that lives in a worker.

    Raises:
        CannotJudge: it is something else.
    """
    if is_remote(function) and callable(function):
        return function  # type: ignore[no-any-return]
    raise CannotJudge(say("your file has {} where a function is asked", show.kind(function, public=True)))


class Each(Iterator[Any]):
    """What a function answers in each case, in order.

    Args:
        function: lives in a worker.
        cases: the arguments of each call.
    """

    def __init__(self, function: Handle, cases: Iterable[tuple[Any, ...]]) -> None:
        self._function = function
        self._cases = list(cases)
        self._place = self._asked = self._messages = 0
        self._ahead: Ahead | None = None
        self._noted: Iterator[Call | None] = iter(())

    def __next__(self) -> Any:
        """The next answer. What student code raised for it is raised here; then one may go on with the next."""
        if self._place == len(self._cases):
            raise StopIteration
        if self._place == self._asked:
            self._ask()
        place, self._place = self._place, self._place + 1
        answer = None if self._ahead is None else self._ahead.take()
        if answer is None:  # it goes by itself
            return self._function(*self._cases[place])
        note(self._function, next(self._noted))
        if answer.error is not None:
            if isinstance(answer.error, RuntimeError):
                graph_stays(answer.error, self._cases[place], {})
            raise answer.error
        return answer.value

    def _ask(self) -> None:
        """Ask for as many of the next calls as go into one message."""
        side, cases = side_of(self._function), self._next_cases()
        self._ahead, self._messages = None, self._messages + 1
        self._asked += len(cases)
        named = origin_of(self._function).name is not None  # an object may be gone with its worker
        if named and len(cases) > 1 and side.goes_ahead():
            self._noted = iter([noted(self._function, case, {}) for case in cases])  # before any of them is made
            self._ahead = side.ask_ahead(self._function, cases, what_of(self._function))

    def _next_cases(self) -> Sequence[tuple[Any, ...]]:
        most = _SIZES[min(self._messages, len(_SIZES) - 1)]
        objects = size = 0
        chosen = self._cases[self._asked : self._asked + most]
        for count, case in enumerate(chosen):
            leaves = [value for value in case if isinstance(value, (torch.Tensor, np.ndarray))]
            objects += _TENSOR * len(leaves) + sum(isinstance(value, (list, dict, set)) for value in case)
            size += sum(leaf.nbytes for leaf in leaves)
            if count and (objects > _MOST_OBJECTS or size > _MOST_BYTES):
                return chosen[:count]
        return chosen
