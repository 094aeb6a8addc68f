"""Values without identity, as JSON: numbers, text, bytes, and others by tags. Standard library only.

None, bool, int, float and str stand for themselves; all other values are a list that begins with a tag. Values that are
neither are rows of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grader.wire.frames import ProtocolError, expect

PLAIN: set[type] = {type(None), bool, int, float, str}

Kind = tuple[str, Callable[[Any], list[Any]], Callable[..., Any]]
"""The tag of a kind of values, what follows it, and how that is read; it may be anything."""


def _complex(real: Any, imag: Any) -> complex:
    expect(type(real) is type(imag) is float, "invalid complex")
    return complex(real, imag)


KINDS: Mapping[type, Kind] = {
    complex: ("complex", lambda value: [value.real, value.imag], _complex),
    bytes: ("bytes", lambda value: [value.decode("latin-1")], lambda text: text.encode("latin-1")),
    type(...): ("Ellipsis", lambda _: [], lambda *_: ...),
}
"""The kinds of values that Python itself has."""


class Tags:
    """Values as lists that begin with a tag.

    Args:
        kinds: of values, by type.

    Attributes:
        types: the types.
    """

    def __init__(self, kinds: Mapping[type, Kind]) -> None:
        self.types = tuple(kinds)
        self._kinds = kinds
        self._readers = {tag: read for tag, _, read in kinds.values()}

    def kind_of(self, value: Any) -> type | None:
        """Return which kind a value is of; None if it has no tag."""
        return type(value) if type(value) in self._kinds else None

    def to_plain(self, value: Any) -> list[Any] | None:
        """Return a value as a tagged list; None if it has no tag."""
        if (kind := self.kind_of(value)) is None:
            return None
        tag, write, _ = self._kinds[kind]
        return [tag, *write(value)]

    def from_plain(self, tag: Any, *rest: Any) -> Any:
        """Return the value of a tagged list.

        Raises:
            ProtocolError: there is no such value.
        """
        try:
            return self._readers[tag](*rest)
        except (TypeError, ValueError, LookupError, RuntimeError, OverflowError, AttributeError):
            raise ProtocolError(f"invalid {str(tag)[:20]}") from None


TAGS = Tags(KINDS)
