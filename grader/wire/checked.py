"""Parts of what arrived, held to their types and bounds: each function gives the value or a `ProtocolFault`."""

from __future__ import annotations

from grader.wire.bounds import ProtocolFault
from grader.wire.tree import Plain

# Far above what fits into a message, and small enough that no product or sum of a few of them is slow to compute.
MAX_NUMBER = 1 << 31
MAX_SIZE = 1 << 48
MAX_DIMS = 64  # as in NumPy 2
MAX_NAME = 200


def whole(value: object, low: int, high: int) -> int:
    """An integer within bounds."""
    if type(value) is not int or not low <= value <= high:  # by its type: True is an int, too
        raise ProtocolFault("a number is missing or out of bounds")
    return value


def sizes(value: object, low: int = 0) -> tuple[int, ...]:
    """A shape, or strides."""
    if not isinstance(value, list) or len(value) > MAX_DIMS:
        raise ProtocolFault("not a shape")
    return tuple([whole(item, low, MAX_SIZE) for item in value])


def text(value: object) -> str:
    """The name of a dtype; whether there is one of that name is seen later."""
    if not isinstance(value, str):
        raise ProtocolFault("unknown dtype")
    return value


def flag(value: object) -> bool:
    """A claim that is true or false."""
    if not isinstance(value, bool):
        raise ProtocolFault("claims are of the wrong type")
    return value


def name(value: object) -> str:
    """A claim that is a name: short, since checks show it."""
    if not isinstance(value, str) or len(value) > MAX_NAME:
        raise ProtocolFault("claims are of the wrong type")
    return value


def parts(value: object, length: int) -> list[Plain]:
    """A list of that many parts."""
    if not isinstance(value, list) or len(value) != length:
        raise ProtocolFault("a row is of the wrong length")
    return value


def listed(value: object) -> list[Plain]:
    """A list of any length."""
    if not isinstance(value, list):
        raise ProtocolFault("a list is missing")
    return value
