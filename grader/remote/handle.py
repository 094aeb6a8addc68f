"""What stands in a check for something that lives in a worker: all that is asked of it is asked there.

A handle has the special methods that the class of its object has, and no others. So `len`, `in` or `callable` say of it
what they say of the object, and Python refuses what the object has no method for. `isinstance` is answered from what
the worker told of its class. No attribute is this end's own: a student may give any name a meaning.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Generator, Iterator
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from grader.model.endings import CheckFailed
from grader.model.public import Limit, say
from grader.remote.classes import joined, public_class, told_of
from grader.wire.bounds import Unsupported
from grader.wire.handles import HandleRow, Origin, Remote, class_named, origin_of
from grader.wire.special import ALWAYS

if TYPE_CHECKING:
    from grader.remote.side import Side

_CLASSES = 1000
_MOST_FIELDS = 100
_MOST_ITEMS = 10_000
_REPORTS = "_pytest._io.saferepr"
_MOST_LENGTH = 10_000_000
_OURS = frozenset(("__copy__", "__deepcopy__", "__reduce_ex__"))
"""Methods that Python looks up in the object, though it means the class."""


class Handle(Remote):
    """Something in a worker; see `handle_class` for its special methods."""

    __slots__ = ()

    def __init__(self, origin: Origin | None = None, **values: Any) -> None:
        if origin is None or values:  # as `dataclasses.replace` would
            raise Unsupported("an object of a student's class is made by the class: student.Name(...)")
        super().__init__(origin)

    if TYPE_CHECKING:  # those that can be called have it

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """Call it in the worker."""

    def __getattribute__(self, name: str) -> Any:
        """Read an attribute in the worker."""
        if name == "__class__":
            kind = type(self)
            return joined(kind.__dict__.get("_bases_of_object") or _bases_of(self)) or kind
        if name == "__dataclass_fields__" and name in vars(type(self)):
            return _fields(self)
        if name == "send" and "__await__" in vars(type(self)):  # by which asyncio runs a coroutine
            return partial(_run, self)
        if name == "_torchdynamo_orig_callable":  # which torch.compile looks for first
            raise Unsupported(f"`{word_of(self)}` lives in another process: let the probe file compile it there")
        if name == "__mro_entries__":
            raise Unsupported(
                f"`{word_of(self)}` lives in another process and can be the base of no class in a check: write the "
                "class in the probe file"
            )
        if name in _OURS:
            return object.__getattribute__(self, name)
        if name == "__signature__":
            return _signature(self)
        if name == "__bases__":
            return tuple(base for name in ask(self, "bases") if (base := public_class(name)) is not None)
        return _home(self).get(self, name, what_of(self, name))

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute in the worker."""
        ask(self, "set_attribute", name, value)

    def __delattr__(self, name: str) -> None:
        """Delete an attribute in the worker."""
        ask(self, "delete_attribute", name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse to be pickled: the object is in another process."""
        raise TypeError(f"`{word_of(self)}` lives in a worker and cannot be pickled; a probe can do that beside it")

    def __copy__(self) -> Any:
        """A copy of the object, in the worker."""
        return ask(self, "copied", False)

    def __deepcopy__(self, memo: Any) -> Any:
        """A deep copy of the object, in the worker."""
        return ask(self, "copied", True)

    def __instancecheck__(self, instance: Any) -> bool:
        """Whether the worker calls something an instance of this class."""
        return bool(ask(self, "is_instance", instance))

    def __subclasscheck__(self, other: Any) -> bool:
        """Whether the worker calls something a subclass of this class."""
        return bool(ask(self, "is_subclass", other))


def side_of(handle: Remote) -> Side:
    """The side whose worker it lives in."""
    side: Side = origin_of(handle).owner  # type: ignore[assignment]
    return side


def what_of(handle: Remote, attribute: str = "") -> str:
    """What messages call it, with its owner: "your `Counter`"."""
    _, name, word = origin_of(handle)
    of_probe = name is not None and name[1] != "student"
    word = f"{word}.{attribute}" if attribute else word
    return f"the probe `{word}`" if of_probe else f"{side_of(handle).sitting.owner} `{word}`"


def word_of(handle: Remote) -> str:
    """What messages call it: words of the check's own."""
    return origin_of(handle).word


def _home(handle: Remote) -> Side:
    """Its side, whose worker must still be there: to ask for what is gone would only start another.

    Raises:
        RuntimeError: the worker is gone.
    """
    side = side_of(handle)
    if origin_of(handle).name is None and (side.sitting.worker is None or side.exchange.number_of(handle) is None):
        raise RuntimeError(f"`{word_of(handle)}` is gone: its worker has ended, or it is of an earlier check")
    return side


def ask(handle: Remote, probe: str, *values: Any) -> Any:
    """Let a probe of ours do something with it in its worker."""
    return _home(handle).own_probe(probe, (handle, *values), what_of(handle))


# -- special methods --------------------------------------------------------------------------------------------------


@functools.cache  # one for all classes: a worker may say that it has many
def _operation(name: str) -> Any:
    def operation(self: Remote, *values: Any) -> Any:
        return ask(self, "operate", name, *values)

    operation.__name__ = operation.__qualname__ = name
    return operation


def _call(self: Remote, *args: Any, **kwargs: Any) -> Any:
    return _home(self).call(self, args, kwargs, what_of(self))


def _iter(self: Remote) -> Iterator[Any]:
    return _Items(ask(self, "operate", "__iter__"), self)


def _repr(self: Remote) -> Any:
    # What pytest writes down of a failure is no question of the check's, and may come when the worker is gone.
    if sys._getframe(1).f_globals.get("__name__") == _REPORTS:
        return f"<{told_of(self)}>"
    return ask(self, "operate", "__repr__")


def _len(self: Remote) -> Any:
    found = ask(self, "operate", "__len__")
    if isinstance(found, int) and found > _MOST_LENGTH:  # Python makes room for as many at once
        raise CheckFailed(say("`{}` has more than {} items", self, Limit(f"{_MOST_LENGTH:,}")))
    return found


def _next(self: Remote) -> Any:
    match ask(self, "following"):
        case [value]:
            return value
    raise StopIteration


def _exit(self: Remote, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
    told = None if kind is None else [next(base.__name__ for base in kind.__mro__ if base.__module__ == "builtins")]
    return bool(ask(self, "leave", told and [*told, str(error)]))


def _run(self: Remote, _: None = None) -> Any:
    raise StopIteration(ask(self, "awaited"))


def _await(self: Remote) -> Generator[None, None, Any]:
    yield from ()
    return ask(self, "awaited")


class _Fields:
    """What tells `dataclasses` of an object's class that it is one of theirs."""

    def __get__(self, handle: Remote | None, kind: type | None = None) -> Any:
        return self if handle is None else _fields(handle)


def _fields(handle: Remote) -> dict[str, dataclasses.Field[Any]]:
    rows = {name: (kind, default) for name, kind, default in ask(handle, "fields")[:_MOST_FIELDS]}
    fields = {field.name: field for field in dataclasses.fields(dataclasses.make_dataclass("Fields", rows))}
    for name, (kind, default) in rows.items():
        fields[name].type = class_named(kind) or kind
        if default:
            (fields[name].default,) = default
    return fields


class _Items:
    """The items of something in a worker, one by one, up to a bound: a generator may have no end."""

    def __init__(self, iterator: Any, of: Remote) -> None:
        self._iterator = iter(iterator) if not isinstance(iterator, Remote) else iterator
        self._of = of
        self._count = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        item = _next(self._iterator) if isinstance(self._iterator, Remote) else next(self._iterator)
        self._count += 1
        if self._count > _MOST_ITEMS:
            text = say("`{}` gives more than {} items, and is not asked for more", self._of, Limit(f"{_MOST_ITEMS:,}"))
            raise CheckFailed(text)
        return item


_METHODS: dict[str, Any] = {
    "__repr__": _repr,
    "__call__": _call,
    "__len__": _len,
    "__iter__": _iter,
    "__next__": _next,
    "__exit__": _exit,
    "__await__": _await,
    "__dataclass_fields__": _Fields(),
}


def methods(special: frozenset[str]) -> dict[str, Any]:
    """The special methods of a class of handles."""
    if "__getitem__" in special:  # as Python counts up then, for which there is an end here
        special |= {"__iter__"}
    found = {name: _METHODS.get(name) or _operation(name) for name in special | ALWAYS}
    return found if "__hash__" in special else {**found, "__hash__": None}


def make_handle(side: Side, row: HandleRow, word: str) -> Handle:
    """What stands for an object of a side's worker.

    Args:
        side: whose worker it lives in.
        row: what the worker told.
        word: what messages call it.
    """
    kind = _handle_class(row.type, row.text, row.bases, frozenset(row.special))
    return kind(Origin(side, None, word))


@functools.lru_cache(maxsize=_CLASSES)
def _handle_class(name: str, text: str, bases: tuple[str, ...], special: frozenset[str]) -> type[Handle]:
    space = {"__slots__": (), "_type_of_object": name, "_text_of_object": text, "_bases_of_object": bases}
    return type(name if name.isidentifier() else "Object", (Handle,), {**space, **methods(special)})


def _bases_of(handle: Remote) -> tuple[str, ...]:
    """The classes of what has a name in the module, as the worker says; none where that is gone."""
    side, name = side_of(handle), origin_of(handle).name
    if name is None or name[1] != "student" or not name[2] or side.sitting.worker is None:
        return ()
    word = str(name[2])
    known = side.errors.classes
    if word not in known:
        told = ask(handle, "kinds")
        known[word] = tuple(item for item in told if isinstance(item, str)) if isinstance(told, list) else ()
    return known[word]


def _signature(handle: Remote) -> inspect.Signature:
    rows = ask(handle, "signature")
    kinds = {kind.name: kind for kind in inspect._ParameterKind}
    parameters = []
    for name, kind, has_default, default in rows:
        value = default if has_default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kinds[kind], default=value))
    return inspect.Signature(parameters)
