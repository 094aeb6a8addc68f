"""Typed data as JSON and back, and files that are written whole or not at all.

Typed data are messages between our processes, rows of the store, reports. A type is a frozen dataclass, or a pydantic
model where a key needs its own rule. Its annotations are the only declaration of the format. Writing needs the standard
library alone. Reading needs pydantic, which is imported at the first reading, because the check process and the command
line must start before it. Nothing that student code wrote is read here: `grader.wire` reads that.

Zips are the same byte for byte, and errors of the system become lines.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import io
import json
import os
import stat
import sys
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeVar, cast

from grader.model.errors import CourseError, FormatError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Value = TypeVar("Value")

_BYTES = "data:;base64"
"""The only key of an object that stands for bytes. No file and no exercise can have this name."""

_MOST_PROBLEMS = 50


def to_json(value: object, indent: int | None = None) -> bytes:
    """Return a value as ASCII JSON.

    `{"a": (1, 2)}` becomes `b'{"a":[1,2]}'`. Lone surrogates, which names of files can contain, stay what they are.
    """
    separators = (",", ":") if indent is None else None
    return json.dumps(value, default=_to_json_type, indent=indent, separators=separators).encode("ascii")


def from_json(kind: type[Value], text: bytes | str, name: str = "the data") -> Value:
    """Read a value that `to_json` wrote.

    Args:
        kind: its type. Keys that the type does not have are ignored.
        text: the JSON.
        name: the name of the file or message, for the errors.

    Raises:
        FormatError: the text is not JSON, or not of this type; it lists every problem with its place.
    """
    from pydantic import ValidationError

    try:
        value: Value = adapter(cast("Any", kind)).validate_python(json.loads(text, object_hook=_decode_bytes))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        shown = ((".".join(map(str, item["loc"])) or "all of it", item["msg"]) for item in problems[:_MOST_PROBLEMS])
        more = len(problems) - _MOST_PROBLEMS
        texts = [f"{name}: {place}: {text}" for place, text in shown]
        raise FormatError(*texts, *([f"{name}: and {more:,} more problems"] if more > 0 else [])) from None
    except RecursionError:
        raise FormatError(f"{name}: it nests too deeply; some {sys.getrecursionlimit():,} levels can be read") from None
    except ValueError:
        raise FormatError(f"{name}: it is not JSON") from None
    return value


def schema_of(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of a type."""
    return adapter(kind).json_schema(mode="validation")


@functools.cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the pydantic adapter that reads and writes a type by its annotations."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _to_json_type(value: object) -> object:
    """Convert a value that `json` cannot write to one that it can write.

    A dataclass becomes a dict, a set a sorted list, a path its text, and `b"x"` becomes `{"data:;base64": "eA=="}`.
    `json.dumps` calls this as its `default`.
    """
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


def _decode_bytes(plain: dict[str, Any]) -> object:
    text = plain.get(_BYTES)
    return base64.b64decode(text) if isinstance(text, str) and len(plain) == 1 else plain


EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a zip of ours: the earliest that a zip can store."""

EPOCH_SECONDS = 315_532_800
"""The same time on a disk."""
DRAFT = ".part"
"""The end of the name of a file that is not written whole yet."""

ANOTHER_PLACE = "name another place"
"""What to do where nothing can be written."""

FILE_MODE = stat.S_IFREG | 0o644
_UNIX = 3


@contextmanager
def failing_as(what: str, remedy: str = "") -> Iterator[None]:
    """Convert an `OSError` of the block into a `CourseError` that says what failed and why.

    An example is "X cannot be written (No space left on device); name another place".

    Args:
        what: a clause that says what failed: "X cannot be written".
        remedy: a clause on what to do, if there is one thing.

    Raises:
        CourseError: there was such an error.
    """
    try:
        yield
    except OSError as error:
        line = f"{what} ({error.strerror})"
        raise CourseError(f"{line}; {remedy}" if remedy else line) from None


def read_limited(path: Path, most: int) -> bytes:
    """Read a file whose size is not known, unless it is larger than a limit.

    Args:
        path: the path of the file.
        most: the most bytes that it may have.

    Raises:
        CourseError: it has more.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        size = f"{most >> 20} MiB" if most >> 20 else f"{most:,} bytes"
        raise CourseError(f"{path} has more than {size}, which is the limit for such a file; is it the right one?")
    return data


def write_whole(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Replace a file in one step, so that a reader finds the old text or the new.

    A device or a pipe, such as /dev/stdout, is written to and never replaced.

    Args:
        path: the path of the file.
        content: the new content.
        durable: True if the file is flushed to the disk, so that it survives a power cut. A file that can be made again
            does not need that.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    # The draft lies in the same folder, because a rename is a single step only within one file system.
    draft = path.with_name(path.name + DRAFT)
    try:
        draft.write_bytes(data)
        if durable:
            sync(draft)
        os.replace(draft, path)
        if durable:
            sync(path.parent)
    except OSError:
        draft.unlink(missing_ok=True)  # on a full disk an incomplete draft helps nobody
        raise


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk by `fsync`.

    A power cut then does not lose them.
    """
    if sys.platform == "win32" and path.is_dir():  # NTFS writes names down itself; a folder cannot be opened there
        return
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """Yield the path of a draft, which replaces the file when the block has ended.

    If the block raises an error, the file stays as it was.

    Raises:
        CourseError: the file cannot be written.
    """
    draft = path.with_name(path.name + DRAFT)
    with failing_as(f"{path} cannot be written"):
        try:
            yield draft
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def write_named(path: Path | str, content: str | bytes, what: str) -> None:
    """Write a file that the user named, or standard output; create its folder.

    Args:
        path: the path of the file; `-` is standard output.
        content: the content of the file.
        what: the beginning of an error message, such as the option.

    Raises:
        CourseError: it cannot be written; the sentence begins with `what`.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    if str(path) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with failing_as(f"{what}: {path} cannot be written", ANOTHER_PLACE):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(Path(path), data)


def zip_bytes(files: Mapping[str, bytes], programs: Collection[str] = ()) -> bytes:
    """Return a zip of files that is the same byte for byte on each machine.

    The names are sorted, and all files have the same time. All files have the same mode, except for programs.

    Args:
        files: their contents by path.
        programs: the paths of files that can be started.
    """
    # Stored, not deflated: what comes out of that depends on the version of zlib. The files are small.
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = _UNIX
            info.external_attr = (FILE_MODE | 0o111 * (name in programs)) << 16
            archive.writestr(info, files[name])
    return target.getvalue()
