"""A folder that a check and the workers it talks to both see, each with files of its own.

No file is shared: bytes are handed over before a call, of the paths that are among its arguments, and taken back after
it. So a link, a pipe or a lock that student code leaves there leads nowhere, and nothing is there for the next check.
What student code wrote stays its own: it is never handed to the reference, whose process it could so be run in.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.remote.raised import raised_by_student
from grader.wire.handles import Origin, Remote

if TYPE_CHECKING:
    from grader.remote.side import Side

_MOST_FILES = 500
_MOST_BYTES = 16 << 20
_MOST_NAME = 200
_DEEPEST = 10

Call = Callable[[Any, tuple[Any, ...], dict[str, Any], str], Any]
"""Calls something that lives in a worker."""


class Folder:
    """A folder of a check's.

    Args:
        path: where it lies here; nobody else writes there.
        student: the side that stands for the student's in this check.
    """

    def __init__(self, path: Path, student: Side) -> None:
        self.path = path
        self._student = student
        self._begun: list[Side] = []
        self._written: dict[PurePosixPath, bytes] = {}

    @property
    def has_students(self) -> bool:
        """Whether student code has written a file that is here now."""
        return bool(self._written)

    def handed(self, owner: object, values: Any, names: set[PurePosixPath]) -> Any:
        """Arguments with each path into this folder, a Path or a str, as the same path in a worker; it is noted."""
        if isinstance(values, (list, tuple)) and type(values) in (list, tuple):
            return type(values)(self.handed(owner, item, names) for item in values)
        if type(values) is dict:
            return {key: self.handed(owner, item, names) for key, item in values.items()}
        if not isinstance(values, (str, Path)) or not self._is_inside(str(values)):
            return values
        name = PurePosixPath(os.path.relpath(values, self.path))
        names.add(name)
        space = "text in folder" if isinstance(values, str) else "folder"
        return Remote(Origin(owner, ["named", space, str(name)], name.name))

    def _is_inside(self, text: str) -> bool:
        top = str(self.path)
        return text == top or (text.startswith(top + os.sep) and ".." not in text.split(os.sep))

    def around(
        self, side: Side, call: Call, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], what: str
    ) -> Any:
        """Make a call: before it hand over what lies at the paths among its arguments, and take that back afterwards.

        Args:
            side: whose worker is asked.
            call: makes the call.
            function: what is called.
            args: its arguments.
            kwargs: its named arguments.
            what: what messages call it.
        """
        names: set[PurePosixPath] = set()
        args, kwargs = self.handed(side, args, names), self.handed(side, kwargs, names)
        if not names:
            return call(function, args, kwargs, what)
        self.send(names, side, what)
        try:
            result = call(function, args, kwargs, what)
        except Exception as error:
            if raised_by_student(error) is not None:
                self.take(names, side, what)
            raise
        self.take(names, side, what)
        return result

    def send(self, names: set[PurePosixPath], side: Side, what: str) -> None:
        """Hand over what lies at these paths.

        Args:
            names: the paths.
            side: whose worker gets it.
            what: what is called.

        Raises:
            ValueError: there is what the student wrote, or too much.
        """
        files, folders = {}, []
        for name in sorted(names):
            for path in (self.path / name, *sorted((self.path / name).rglob("*"))):
                inner = PurePosixPath(path.relative_to(self.path))
                if path.is_dir():
                    folders.append(str(inner))
                elif path.is_file():
                    files[inner] = path.read_bytes()
        own = [name for name, data in files.items() if self._written.get(name) == _digest(data)]
        if own and side is not self._student:
            raise ValueError(
                f"{own[0]} was written by the student's code, and is not handed to the reference: what is in it could "
                "run there. Read it in the check, and give the reference the values"
            )
        if sum(map(len, files.values())) > _MOST_BYTES or len(files) > _MOST_FILES:
            raise ValueError(f"more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB are too much to hand over")
        told = {str(name): data for name, data in files.items()}, folders, [str(name) for name in names]
        # What an earlier check left in that worker is nothing of this one's.
        side.own_probe("put_files", (*told, not any(side is one for one in self._begun)), what)
        self._begun.append(side)

    def take(self, names: set[PurePosixPath], side: Side, what: str) -> None:
        """Take back what lies at these paths; what is not there any more is removed here as well.

        Args:
            names: the paths.
            side: whose worker has it.
            what: what was called.

        Raises:
            CheckFailed: it is nothing that can be taken.
        """
        asked = [str(name) for name in sorted(names)], _MOST_FILES, _MOST_BYTES
        found = _read(side.own_probe("take_files", asked, what), names)
        if found is None:
            public = say("{} leaves files that cannot be handed over", what)
            raise CheckFailed(public, f"{public}: at most {_MOST_FILES} plain files, {_MOST_BYTES >> 20} MiB in all")
        files, folders = found
        try:
            self._remove(names, {*files, *folders})
            for name in folders:
                (self.path / name).mkdir(parents=True, exist_ok=True)
            for name, data in files.items():
                path = self.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if not path.is_file() or path.read_bytes() != data:
                    path.write_bytes(data)
                    self._note(name, data, side)
        except OSError as error:
            public = say("{} leaves files that cannot be handed over", what)
            raise CheckFailed(public, f"{public}: {error.strerror}") from None

    def _remove(self, names: set[PurePosixPath], kept: set[PurePosixPath]) -> None:
        for name in names:
            for path in (*sorted((self.path / name).rglob("*"), reverse=True), self.path / name):
                inner = PurePosixPath(path.relative_to(self.path))
                if inner in kept or not os.path.lexists(path) or path == self.path:
                    continue
                if path.is_dir():
                    if not any(path.iterdir()):
                        path.rmdir()
                else:
                    path.unlink()
                    self._written.pop(inner, None)

    def _note(self, name: PurePosixPath, data: bytes, side: Side) -> None:
        if side is self._student:
            self._written[name] = _digest(data)
        else:
            self._written.pop(name, None)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _read(answer: Any, names: set[PurePosixPath]) -> tuple[dict[PurePosixPath, bytes], list[PurePosixPath]] | None:
    """What a worker says that there is, if it is that: plain files at or below these paths. It may say anything."""
    match answer:
        case [dict() as files, list() as folders] if len(files) + len(folders) <= 2 * _MOST_FILES:
            pass
        case _:
            return None
    if not all(isinstance(data, bytes) for data in files.values()) or sum(map(len, files.values())) > _MOST_BYTES:
        return None
    if not all(_is_name(name, names) for name in (*files, *folders)):
        return None
    return {PurePosixPath(name): data for name, data in files.items()}, [PurePosixPath(name) for name in folders]


def _is_name(name: Any, names: set[PurePosixPath]) -> bool:
    if not isinstance(name, str) or len(name) > _MOST_NAME or "\0" in name or name.startswith("/"):
        return False
    path = PurePosixPath(name)
    fits = ".." not in path.parts and len(path.parts) <= _DEEPEST
    return fits and any(own == path or own in path.parents or own == PurePosixPath(".") for own in names)
