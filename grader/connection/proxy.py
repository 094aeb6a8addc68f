"""A proxy stands in a check for an object that stays in the worker.

A proxy has six abilities: get and set an attribute, call, get an item, get the length, iterate. Any other use raises an
error that names the probe to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.model.endings import CannotJudge
from grader.wire.bounds import Unsupported

if TYPE_CHECKING:
    from grader.connection.connection import Connection

_UNSUPPORTED = """
    bool eq ne lt le gt ge contains setitem delitem delattr add radd iadd sub rsub isub mul rmul imul truediv
    rtruediv floordiv rfloordiv mod rmod divmod rdivmod pow rpow matmul rmatmul lshift rlshift rshift rrshift and rand
    or ror xor rxor neg pos abs invert int float complex index round trunc floor ceil reversed fspath
    enter exit next await aiter array reduce_ex copy deepcopy
"""
"""What Python asks of a value by other methods than those six."""


@dataclass(frozen=True)
class Place:
    """Where a proxy's object lives, and what messages call it.

    Attributes:
        connection: whose worker it lives in.
        child: as the wire has it: `["name", space, name]`, or `["proxy", number]`.
        word: what messages call it, in words of the check's own.
        kind: the name of its class, as the worker says; "" for what has a name.
        life: in which of the connection's workers it lives; 0 for what has a name, and so is found in each of them.
    """

    connection: Connection
    child: tuple[Any, ...]
    word: str
    kind: str = ""
    life: int = 0


class Proxy:
    """An object in a worker."""

    __slots__ = ("_Proxy__place", "__weakref__")

    __place: Place

    def __init__(self, place: Place) -> None:
        object.__setattr__(self, "_Proxy__place", place)

    def __getattr__(self, name: str) -> Any:
        """An attribute of the object."""
        if name.startswith("__"):  # Python, NumPy and PyTorch ask for such names to find out what something is
            raise AttributeError(name)
        return place_of(self).connection.ask("get", [self, name], what_of(self, name), f"{word_of(self)}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute of the object."""
        place_of(self).connection.ask("set", [self, name, value], what_of(self, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object."""
        return self.__place.connection.call(self, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        """An item of the object."""
        return place_of(self).connection.ask("item", [self, key], what_of(self), word_of(self))

    def __len__(self) -> int:
        """The length of the object."""
        length = place_of(self).connection.ask("len", [self], what_of(self))
        if type(length) is not int or not 0 <= length < 1 << 62:  # the worker may answer anything
            raise TypeError(f"the length of {word_of(self)} is not a number")
        return length

    def __iter__(self) -> Iterator[Any]:
        """The items of the object, which come together as a list."""
        return iter(place_of(self).connection.ask("iter", [self], what_of(self), word_of(self)))

    def __del__(self) -> None:
        """Let the worker forget the object."""
        place = place_of(self)
        if place.life:
            place.connection.drop(place.child[1], place.life)

    def __word__(self) -> str:
        """What messages call it; see `model.public`."""
        return place_of(self).word

    def __repr__(self) -> str:
        """Its name, or what it is a proxy of."""
        place = place_of(self)
        return f"<proxy of {place.kind}>" if place.kind else place.word

    __hash__ = object.__hash__


def _unsupported(name: str) -> Any:
    def method(self: Proxy, *_: Any) -> Any:
        raise TypeError(
            f"a check cannot use __{name}__ of {self!r}, which lives in another process: write a probe, a function "
            "that runs beside student code, and let it do this"
        )

    return method


for _name in _UNSUPPORTED.split():
    setattr(Proxy, f"__{_name}__", _unsupported(_name))


def is_proxy(value: object) -> bool:
    """Whether something stands for an object in a worker."""
    return type(value) is Proxy


def place_of(proxy: Proxy) -> Place:
    """Where a proxy's object lives."""
    place: Place = object.__getattribute__(proxy, "_Proxy__place")
    return place


def connection_of(proxy: Proxy) -> Connection:
    """The connection to the worker that an object lives in."""
    return place_of(proxy).connection


def word_of(proxy: Proxy) -> str:
    """What messages call an object: words of the check's own."""
    return place_of(proxy).word


def kind_of(proxy: Proxy) -> str:
    """The name of an object's class, as its worker says."""
    return place_of(proxy).kind or "function"


def what_of(proxy: Proxy, attribute: str = "") -> str:
    """What messages call an object, with its owner: "your `Counter`"."""
    place = place_of(proxy)
    word = f"{place.word}.{attribute}" if attribute else place.word
    of_probe = place.child[0] == "name" and place.child[1] != "student"
    return f"the probe `{word}`" if of_probe else f"{place.connection.owner} `{word}`"


def function_expected(function: Any) -> Proxy:
    """A function of the student's or the reference's.

    Raises:
        CannotJudge: the student's file has something else under that name.
        Unsupported: it is no such function, which is the check's fault.
    """
    if is_proxy(function):
        return function  # type: ignore[no-any-return]
    if callable(function):
        raise Unsupported("a function of the student's is expected here, such as student.total")
    raise CannotJudge("your file has a value where a function is expected")


def named(connection: Connection, name: str, space: str = "student") -> Proxy:
    """What has a name in a worker: of the student's module ("student"), of a probe file, or of ours ("")."""
    return Proxy(Place(connection, ("name", space, name), name))
