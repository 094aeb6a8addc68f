"""Frozen records as plain data, and back: how one process of ours tells another something. Standard library only.

A record is a dataclass whose fields are plain values, paths, enums, bytes, other records, or tuples, frozen sets and
mappings of them. Bytes travel beside the plain data: in it stands where they are.

What student code may have had a hand in is never read here: it comes through `grader.wire`, which trusts nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TypeVar

Record = TypeVar("Record")
_LENGTH = 8


def to_plain(value: object, data: list[bytes] | None = None) -> typing.Any:
    """A record, or a value of one of its fields, as JSON data.

    Args:
        value: the record.
        data: gets the bytes that are in it, in order; without it there may be none.
    """
    if isinstance(value, bytes):
        if data is None:
            raise TypeError("a record with bytes needs a place for them")
        start = sum(map(len, data))
        data.append(value)
        return [start, len(value)]
    if dataclasses.is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name), data) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: to_plain(item, data) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_plain(item, data) for item in value]
    return sorted(value) if isinstance(value, frozenset) else value


def from_plain(kind: type[Record], plain: Mapping[str, typing.Any], data: bytes | memoryview = b"") -> Record:
    """The record of that kind that the data tell of.

    Args:
        kind: the record's class.
        plain: as `to_plain` made it.
        data: the bytes that came with it, in one piece.
    """
    hints: dict[str, typing.Any] = _hints(typing.cast("typing.Any", kind))
    return kind(**{name: _read(hint, plain[name], data) for name, hint in hints.items()})


def to_message(record: object, data: list[bytes] | None = None) -> dict[str, typing.Any]:
    """A record as JSON data that names its kind; see `to_plain`."""
    return {type(record).__name__: to_plain(record, data)}


def from_message(
    kinds: Mapping[str, type[Record]], plain: Mapping[str, typing.Any], data: bytes | memoryview = b""
) -> Record:
    """The record that such data tell of.

    Args:
        kinds: the classes that may come, by name.
        plain: as `to_message` made it.
        data: the bytes that came with it, in one piece.
    """
    ((name, fields),) = plain.items()
    return from_plain(kinds[name], fields, data)


def to_bytes(record: object) -> bytes:
    """A record with all that is in it as bytes: how long its data are, the data, then the bytes that are in it."""
    data: list[bytes] = []
    head = json.dumps(to_plain(record, data)).encode("ascii")
    return b"".join([len(head).to_bytes(_LENGTH, "big"), head, *data])


def from_bytes(kind: type[Record], sent: bytes) -> Record:
    """The record of that kind that `to_bytes` made the bytes of."""
    end = _LENGTH + int.from_bytes(sent[:_LENGTH], "big")
    return from_plain(kind, json.loads(sent[_LENGTH:end]), memoryview(sent)[end:])


@functools.cache
def _hints(kind: typing.Any) -> dict[str, typing.Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _read(hint: typing.Any, plain: typing.Any, data: bytes | memoryview) -> typing.Any:
    """One value, by the annotation of its field."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):  # `X | None` is the one union that records have
        return None if plain is None else _read(arguments[0], plain, data)
    if origin is not None and issubclass(origin, Mapping):
        return {key: _read(arguments[1], item, data) for key, item in plain.items()}
    if origin is not None:
        made: type = frozenset if origin is frozenset else tuple
        return made(_read(arguments[0], item, data) for item in plain)
    if dataclasses.is_dataclass(hint):
        return from_plain(typing.cast("type[object]", hint), plain, data)
    if hint is bytes:
        start, size = plain
        return bytes(data[start : start + size])
    if isinstance(hint, type) and issubclass(hint, (Enum, Path)):
        return hint(plain)
    return plain
