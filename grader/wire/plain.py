"""Values without identity, as JSON: numbers, text, bytes, and others by tags. Standard library only.

None, bool, int, float and str stand for themselves; all other values are a list that begins with a tag. Values that are
neither are rows of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from grader.wire.frames import ProtocolError, expect

PLAIN: set[type] = {type(None), bool, int, float, str}


class TaggedType(NamedTuple):
    """A type whose values are lists with a tag, as `1 + 2j` is `["complex", 1.0, 2.0]`.

    Attributes:
        tag: the first item of the list, such as "complex".
        write: a function that returns the other items of the list for a value.
        read: a function that returns the value of these items, which may be anything.
    """

    tag: str
    write: Callable[[Any], list[Any]]
    read: Callable[..., Any]


def _complex(real: Any, imag: Any) -> complex:
    expect(type(real) is type(imag) is float, "invalid complex")
    return complex(real, imag)


KINDS: Mapping[type, TaggedType] = {
    complex: TaggedType("complex", lambda value: [value.real, value.imag], _complex),
    bytes: TaggedType("bytes", lambda value: [value.decode("latin-1")], lambda text: text.encode("latin-1")),
    type(...): TaggedType("Ellipsis", lambda _: [], lambda *_: ...),
}
"""The kinds of values that Python itself has."""


class Tags:
    """Turns values such as `1 + 2j` into lists that begin with a tag, and back.

    `1 + 2j` becomes `["complex", 1.0, 2.0]`.

    Args:
        kinds: the tag of each type, with the functions that write and read its values.

    Attributes:
        types: the types.
    """

    def __init__(self, kinds: Mapping[type, TaggedType]) -> None:
        self.types = tuple(kinds)
        self._kinds = kinds
        self._readers = {kind.tag: kind.read for kind in kinds.values()}

    def kind_of(self, value: Any) -> type | None:
        """Return the type whose tag a value gets in a message; None for a value without a tag.

        For `1 + 2j` it is `complex`.
        """
        return type(value) if type(value) in self._kinds else None

    def to_plain(self, value: Any) -> list[Any] | None:
        """Return a value as a list that begins with the tag of its type.

        `1 + 2j` becomes `["complex", 1.0, 2.0]`. For a value without a tag, return None.
        """
        if (known := self.kind_of(value)) is None:
            return None
        kind = self._kinds[known]
        return [kind.tag, *kind.write(value)]

    def from_plain(self, tag: Any, *rest: Any) -> Any:
        """Return the value that `to_plain` turned into a tag and the items that follow it.

        `from_plain("complex", 1.0, 2.0)` returns `1 + 2j`.

        Raises:
            ProtocolError: there is no such tag, or no value with these items.
        """
        try:
            return self._readers[tag](*rest)
        except (TypeError, ValueError, LookupError, RuntimeError, OverflowError, AttributeError):
            raise ProtocolError(f"invalid {str(tag)[:20]}") from None


TAGS = Tags(KINDS)
