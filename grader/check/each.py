"""Many calls of one function, sent together: one message there and one back for several of them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from grader.connection.proxy import Proxy, connection_of, function_expected

_SIZES = (4, 16, 64)
"""Calls of the first groups, and of all others: a check that ends early has made few calls for nothing."""

_MOST_BYTES = 1 << 15
"""Of the tensors in one group: both processes have all of them at once."""


class Each(Iterator[Any]):
    """What a function returns in each case, in order.

    Args:
        function: lives in a worker.
        cases: the positional arguments of each call.
    """

    def __init__(self, function: Proxy, cases: Iterable[tuple[Any, ...]]) -> None:
        self._function, self._cases = function, deque(cases)
        self._answers: deque[Callable[[], Any]] = deque()
        self._groups = 0
        self._together = True

    def __next__(self) -> Any:
        """The next result. What student code raised for it is raised here; then one may go on with the next."""
        if not self._cases:
            raise StopIteration
        if not self._answers and self._together and len(group := self._group()) > 1:
            self._groups += 1
            self._answers.extend(connection_of(self._function).ask_each(self._function, group))
            self._together = bool(self._answers)  # or one of them ended the worker: which one is found out
        args = self._cases.popleft()
        return self._answers.popleft()() if self._answers else self._function(*args)

    def _group(self) -> list[tuple[Any, ...]]:
        """The cases that are sent together next."""
        most = _SIZES[min(self._groups, len(_SIZES) - 1)]
        group: list[tuple[Any, ...]] = []
        for args in itertools.islice(self._cases, most):
            # A container may be of any size, and an earlier call may change it.
            if not all(isinstance(value, (torch.Tensor, str, int, float, tuple, type(None))) for value in args):
                break
            group.append(args)
            memory = (arg.untyped_storage().nbytes() for each in group for arg in each if isinstance(arg, torch.Tensor))
            if sum(memory) > _MOST_BYTES:
                break
        return group


def each(function: Proxy, cases: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """What a function returns in each case, in order: like `itertools.starmap`, and several times as fast as a loop.

    The worker makes several calls, one after the other, before the check examines the first result: a change that a
    check, or an earlier call, makes to a later argument is not seen. If a call raises, `next` raises that, and goes on
    with the next case when it is called again.

    Args:
        function: of the student's or the reference's.
        cases: the positional arguments of each call, as a tuple.
    """
    return Each(function_expected(function), cases)
