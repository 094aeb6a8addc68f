"""What a check looks at after a call: arguments that it asks for, and those that it compares without a word.

What student code changes in an argument must not reach what a check expects: else `x.zero_()` would make any multiple
of x right. Where one was changed that the check does not ask for, it is run once more, and student code gets copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grader.wire.blocks import Extent, extent_of

_asked: list[object] = []
_compared: list[object] = []
_withheld: list[object] = []


def begin() -> None:
    """A check is run: nothing is asked for yet."""
    for each in (_asked, _compared, _withheld):
        each.clear()


def ask_for(*arguments: object) -> None:
    """The check reads these as a call left them."""
    _asked.extend(arguments)


def asked_for() -> list[object]:
    """What the check that runs has asked for."""
    return list(_asked)


def compare(value: object) -> None:
    """The check compares this with what it expects."""
    _compared.append(value)


def withhold(*arguments: object) -> None:
    """Student code was given copies of these."""
    _withheld.extend(arguments)


def compares_withheld() -> bool:
    """Whether the check compares an argument of which student code had a copy: it wants to see it changed, or kept."""
    places = list(_extents(_withheld))
    return any(one.start < other.end and other.start < one.end for one in _extents(_compared) for other in places)


def _extents(value: Any) -> Iterator[Extent]:
    if isinstance(value, (list, tuple, set, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _extents(item)
    elif (extent := extent_of(value)) is not None and extent.end > extent.start:
        yield extent
