"""`student.total(x)` looks local and runs in a worker. On `student` live the student's names and nothing else."""

from __future__ import annotations

import difflib
from typing import Any

from grader.model.endings import CannotJudge
from grader.remote.side import Call, Side
from grader.wire.exchange import Remote
from grader.wire.frames import Unsupported
from grader.wire.incoming import copies


class RemoteFunction(Remote):
    """A function or class of the student's, by name."""

    def __init__(self, side: Side, name: str, space: str = "student") -> None:
        self.wire_name = ["named", space, name]
        self._side = side
        self._space = space
        self._name = name
        self.what = f"{side.sitting.owner} `{name}`" if space == "student" else f"the probe `{name}`"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the worker. A probe around a student's function is told, and noted, as that function."""
        called = args[0] if args and isinstance(args[0], RemoteFunction) else self
        self._side.called.add(called._name)
        if self._side.recording and called._space == "student":
            called.note(args[1:] if called is not self else args, kwargs)
        return self._side.call(self, args, kwargs, called.what)

    @property
    def side(self) -> Side:
        """The side whose function it is."""
        return self._side

    def note(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Take a call down, for the lines that reproduce it."""
        # Copies, as the function may change its arguments before the call is told.
        kept = dict(zip(kwargs, _kept(tuple(kwargs.values())), strict=True))
        self._side.calls.append(Call(self._name, _kept(args), kept))

    def __repr__(self) -> str:
        """Its name."""
        return self._name


class Student:
    """The student's module as a check sees it."""

    __slots__ = ("_Student__side",)

    def __init__(self, side: Side) -> None:
        # Under a mangled name in a slot: any plain attribute here would hide a student's function of that name.
        object.__setattr__(self, "_Student__side", side)

    def __getattr__(self, name: str) -> Any:
        """A function or class of the student's, or a copy of a value.

        Raises:
            CannotJudge: there is no such name.
        """
        side: Side = object.__getattribute__(self, "_Student__side")
        kind = side.names().get(name)
        if kind is None:
            raise CannotJudge(_missing(side, name), at_load=True, about="name")
        if kind == "callable":
            return RemoteFunction(side, name)
        return side.get(RemoteFunction(side, ""), name, f"{side.sitting.owner} `{name}`")

    def __repr__(self) -> str:
        """As in plain Python."""
        return "student"


def side_of(student: Student) -> Side:
    """The side behind `student` or `reference`."""
    side: Side = object.__getattribute__(student, "_Student__side")
    return side


def source(student: Student) -> str:
    """The text of the student's module.

    Raises:
        CannotJudge: it is not text.
    """
    sitting = side_of(student).sitting
    try:
        return sitting.files[sitting.module + ".py"].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotJudge(f"your {sitting.module}.py is not UTF-8 text: {error}", at_load=True) from None


def _missing(side: Side, name: str) -> str:
    # A misspelt name is mended by one word, so it is worth a guess.
    near = " and ".join(f"`{other}`" for other in difflib.get_close_matches(name, side.names(), n=2))
    hint = f"; it has {near}" if near else ""
    return f"{side.sitting.owner} {side.sitting.module}.py has no `{name}`{hint}"


def _kept(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of arguments, so that a later change does not show."""
    try:
        return copies(*values)
    except Unsupported:
        return values
