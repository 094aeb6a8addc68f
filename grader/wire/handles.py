"""Objects that stay with a worker: what is told of one, and what stands for it at the asking end."""

from __future__ import annotations

import sys
import types
from typing import Any, NamedTuple

from grader.wire.bounds import ProtocolFault
from grader.wire.checked import MAX_NAME, listed, name, parts
from grader.wire.special import SPECIAL
from grader.wire.tree import Plain

MAX_TEXT = 500
_NAMELESS = {
    f"{kind.__module__}.{kind.__qualname__}": kind
    for kind in (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.GeneratorType)
} | {"builtins.coroutine": types.CoroutineType, "builtins.async_generator": types.AsyncGeneratorType}
"""Classes that say of themselves that they are built in, where they have no name."""
_MAX_BASES = 40


class HandleRow(NamedTuple):
    """An object that stays with the worker, as the worker claims.

    Attributes:
        type: name of its class.
        text: why it could not be handed over, if there is more to say than its class.
        bases: its class and those that it derives from, as `name_of_class` has them, nearest first.
        special: the special methods that its class has.
    """

    type: str
    text: str = ""
    bases: tuple[str, ...] = ()
    special: tuple[str, ...] = ()

    def plain(self) -> list[Plain]:
        """The row of a message."""
        return ["handle", self.type, self.text, list(self.bases), list(self.special)]

    @classmethod
    def read(cls, value: object) -> HandleRow:
        """A row as it arrived, or a `ProtocolFault`."""
        _, kind, told, bases, special = parts(value, 5)
        if not isinstance(kind, str) or not isinstance(told, str) or len(kind) + len(told) > 3 * MAX_TEXT:
            raise ProtocolFault("a handle is described wrongly")
        names, methods = listed(bases), listed(special)
        if len(names) > _MAX_BASES or not SPECIAL.issuperset(each for each in methods if isinstance(each, str)):
            raise ProtocolFault("a handle is described wrongly")
        return cls(kind, told, tuple(map(name, names)), tuple(sorted({name(each) for each in methods})))


def describe_handle(obj: object, reason: str | None) -> HandleRow:
    """An object of a student's as a row: by its class alone, as the object may do anything when it is asked."""
    kind = type(obj)
    mro = kind.__mro__
    bases = [name_of_class(base) for base in mro[:_MAX_BASES]]
    return HandleRow(
        kind.__name__[:MAX_TEXT],
        (reason or "")[:MAX_TEXT],
        tuple(name for name in bases if name),
        tuple(sorted(each for each in SPECIAL if _has(mro, each))),
    )


def name_of_class(kind: type) -> str:
    """The name of a class with that of its module, if it is what is found there under that name; else ""."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    return name if len(name) <= MAX_NAME and class_named(name) is kind else ""


def class_named(name: str) -> type | None:
    """The class of that name in a module that is loaded here."""
    if name in _NAMELESS:
        return _NAMELESS[name]
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:cut]))
        for part in parts[cut:]:
            found = vars(found).get(part) if isinstance(found, (type, types.ModuleType)) else None
        if isinstance(found, type):
            return found
    return None


def _has(mro: tuple[type, ...], method: str) -> bool:
    # As Python looks it up: the nearest class that has it decides, and may say that it has none (`__hash__ = None`).
    return next((vars(base)[method] for base in mro if method in vars(base)), None) is not None


class Origin(NamedTuple):
    """Where something lives that is known here by a name or a number.

    Attributes:
        owner: whose worker it lives in: the `owner` of that worker's exchange.
        name: its name on the wire; None for an object, which is known by its number.
        word: what messages call it.
    """

    owner: object
    name: list[Plain] | None
    word: str


class Remote:
    """Something that lives in a worker: a function, a class, an object.

    Its attributes are those that it has there. So what this end knows of it is read by `origin_of`.
    """

    __slots__ = ("__weakref__", "_origin")

    def __init__(self, origin: Origin) -> None:
        object.__setattr__(self, "_origin", origin)

    def __word__(self) -> str:
        """What messages call it, which no worker says."""
        return origin_of(self).word


def origin_of(remote: Remote) -> Origin:
    """Where something remote lives."""
    origin: Origin = object.__getattribute__(remote, "_origin")
    return origin


def is_remote(value: Any) -> bool:
    """Whether a value lives in a worker: `isinstance` asks what it is there."""
    return issubclass(type(value), Remote)
