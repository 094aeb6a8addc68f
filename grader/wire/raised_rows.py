"""What student code raised, as a worker claims it: records, to plain data and back."""

from __future__ import annotations

import builtins
from typing import NamedTuple

from grader.wire.bounds import ProtocolFault
from grader.wire.checked import listed, name
from grader.wire.tree import Plain

_MOST_FRAMES = 50
_MOST_TEXT = 2100
_MOST_NAME = 300
_MOST_KINDS = 20


class FrameRow(NamedTuple):
    """One line of student code on the way to where something was raised."""

    file: str
    line: int
    function: str
    text: str


class KindRow(NamedTuple):
    """A class of exceptions that is no builtin one: both names begin with that of its module."""

    name: str
    bases: tuple[str, ...]

    @classmethod
    def family(cls, told: object) -> tuple[KindRow, ...]:
        """Such classes as they arrived, those that others derive from first.

        Raises:
            ProtocolFault: they are described wrongly.
        """
        rows = []
        for row in listed(told)[:_MOST_KINDS]:
            match row:
                case [str(kind), list(bases)] if len(bases) <= _MOST_KINDS:
                    rows.append(cls(name(kind), tuple(map(name, bases))))
                case _:
                    raise ProtocolFault("an exception is described wrongly")
        return tuple(rows)


class RaisedRow(NamedTuple):
    """What student code raised, as the worker claims it.

    Attributes:
        type: class name.
        builtin: name of the nearest builtin type.
        text: its message.
        frames: in the submission's own files, outermost first.
        signature: of a function that refused its arguments, or None.
        family: its class and those that it derives from, as far as they are no builtin ones.
        value: the exception itself, which stays with the worker, if its class is no builtin one.
    """

    type: str
    builtin: str
    text: str
    frames: tuple[FrameRow, ...]
    signature: str | None = None
    family: tuple[KindRow, ...] = ()
    value: object = None

    def plain(self) -> dict[str, Plain]:
        """As JSON data."""
        family: list[Plain] = [[kind.name, list(kind.bases)] for kind in self.family]
        return {**self._asdict(), "frames": [list(frame) for frame in self.frames], "family": family}

    @classmethod
    def read(cls, told: object) -> RaisedRow:
        """The claim, with every text cut to what a message has room for.

        Raises:
            ProtocolFault: it is described wrongly.
        """
        if not isinstance(told, dict) or not isinstance(told.get("frames"), list) or len(told["frames"]) > _MOST_FRAMES:
            raise ProtocolFault("an exception is described wrongly")
        frames = []
        for row in told["frames"]:
            match row:
                case [str(file), int(line), str(function), str(text)]:
                    frames.append(FrameRow(file[:_MOST_NAME], line, function[:_MOST_NAME], text[:_MOST_TEXT]))
                case _:
                    raise ProtocolFault("an exception is described wrongly")
        # It is raised again as this type, so it must be one, and no class of anybody's own making.
        builtin = getattr(builtins, str(told.get("builtin")), None)
        if not isinstance(builtin, type) or not issubclass(builtin, BaseException):
            raise ProtocolFault("an exception is described wrongly")
        kind, message, signature = (told.get(key) for key in ("type", "text", "signature"))
        return cls(
            str(kind or "")[:_MOST_TEXT],
            builtin.__name__,
            str(message or "")[:_MOST_TEXT],
            tuple(frames),
            signature[:_MOST_NAME] if isinstance(signature, str) else None,
            KindRow.family(told.get("family", [])),
            told.get("value"),
        )
