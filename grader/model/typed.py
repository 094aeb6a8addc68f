"""Typed data as JSON and back: messages between our processes, rows of the store, reports.

A type is a frozen dataclass, or a pydantic model where a key needs its own rule. Its annotations are the only
declaration of the format. Writing needs the standard library alone. Reading needs pydantic, which is imported at the
first reading, because the check process and the command line must start before it.

Nothing that student code wrote is read here: `grader.wire` reads that.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar, cast

from grader.model.errors import FormatError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Value = TypeVar("Value")

_BYTES = "data:;base64"
"""The only key of an object that stands for bytes. No file and no exercise can have this name."""


def to_json(value: object, indent: int | None = None) -> bytes:
    """A value as ASCII JSON. Lone surrogates, which names of files can contain, stay what they are."""
    separators = (",", ":") if indent is None else None
    return json.dumps(value, default=_plain, indent=indent, separators=separators).encode("ascii")


def from_json(kind: type[Value], text: bytes | str, name: str = "the data") -> Value:
    """Read a value that `to_json` wrote.

    Args:
        kind: its type. Keys that the type does not have are ignored.
        text: the JSON.
        name: of the file or message, for the errors.

    Raises:
        FormatError: the text is not JSON, or not of this type; it lists every problem with its place.
    """
    from pydantic import ValidationError

    try:
        value: Value = adapter(cast("Any", kind)).validate_python(json.loads(text, object_hook=_with_bytes))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        places = (".".join(map(str, item["loc"])) or "all of it" for item in problems)
        told = (f"{name}: {place}: {item['msg']}" for place, item in zip(places, problems, strict=True))
        raise FormatError(*told) from None
    except (ValueError, RecursionError):
        raise FormatError(f"{name}: it is not JSON") from None
    return value


def schema_of(kind: type) -> dict[str, Any]:
    """The JSON Schema of a type."""
    return adapter(kind).json_schema(mode="validation")


@functools.cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """What reads and writes a type by its annotations."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _plain(value: object) -> object:
    """What `json` cannot write, as what it can."""
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode("ascii")}
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _with_bytes(plain: dict[str, Any]) -> object:
    text = plain.get(_BYTES)
    return base64.b64decode(text) if isinstance(text, str) and len(plain) == 1 else plain
