"""`student.total(x)` looks local and runs in a worker. On `student` live the student's names and nothing else."""

from __future__ import annotations

import difflib
from typing import Any

from grader.model.endings import CannotJudge, NoSuchName
from grader.remote.handle import Handle, methods, side_of, what_of, word_of
from grader.remote.journal import Call
from grader.remote.side import Side
from grader.wire.frames import Unsupported
from grader.wire.handles import Origin, Remote, origin_of
from grader.wire.incoming import copies
from grader.wire.special import SPECIAL

_OF_OBJECTS = {
    *("__await__", "__dataclass_fields__", "__next__"),
    *("__index__", "__int__", "__float__", "__complex__", "__enter__", "__exit__"),
}
_NAMED = SPECIAL - _OF_OBJECTS
"""What may be asked of a function or class by its name. Of a class, what its metaclass has: an Enum has items."""


class RemoteFunction(Handle):
    """A function or class of the student's, by name."""

    __slots__ = ()

    _text_of_object = "a function or class"

    def __init__(self, side: Side, name: str, space: str = "student") -> None:
        super().__init__(Origin(side, ["named", space, name], name))

    def __repr__(self) -> str:
        """Its name."""
        return word_of(self)

    def __format__(self, form: str) -> str:
        """Its name."""
        return format(word_of(self), form)

    __str__ = __repr__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the worker."""
        note(self, noted(self, args, kwargs))
        return side_of(self).call(self, args, kwargs, what_of(self))


for _name, _method in methods(_NAMED).items():
    if _name not in vars(RemoteFunction):
        setattr(RemoteFunction, _name, _method)


def noted(function: Remote, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
    """A call, for the lines that reproduce it: of a function or class of the student's by its name, else None."""
    side, name = side_of(function), origin_of(function).name
    if not side.recording or name is None or name[1] != "student":
        return None
    # Copies, as the function may change its arguments before the call is told.
    values = _kept((*args, *kwargs.values()))
    return Call(word_of(function), values[: len(args)], dict(zip(kwargs, values[len(args) :], strict=True)))


def note(function: Remote, call: Call | None) -> None:
    """Note that a check has made a call of a function."""
    side = side_of(function)
    side.called.add(word_of(function))
    if call is not None:
        side.calls.append(call)


class Student:
    """The student's module as a check sees it."""

    __slots__ = ("_Student__side",)

    def __init__(self, side: Side) -> None:
        # Under a mangled name in a slot: any plain attribute here would hide a student's function of that name.
        object.__setattr__(self, "_Student__side", side)

    def __getattr__(self, name: str) -> Any:
        """A function or class of the student's, or a copy of a value.

        Raises:
            NoSuchName: there is no such name.
        """
        side: Side = object.__getattribute__(self, "_Student__side")
        kind = side.names().get(name)
        if kind is None:
            raise NoSuchName(_missing(side, name), at_load=True, about="name")
        if kind == "callable":
            return RemoteFunction(side, name)
        if kind == "error":
            return side.errors.named(RemoteFunction(side, name))
        return side.get(RemoteFunction(side, ""), name, f"{side.sitting.owner} `{name}`")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name of the module, in the worker."""
        side: Side = object.__getattribute__(self, "_Student__side")
        side.own_probe("set_attribute", (RemoteFunction(side, ""), name, value), f"{side.sitting.owner} `{name}`")
        side.names()[name] = "callable" if callable(value) else "value"

    def __dir__(self) -> list[str]:
        """The public names of the module."""
        side: Side = object.__getattribute__(self, "_Student__side")
        return sorted(side.names())

    def __repr__(self) -> str:
        """As in plain Python."""
        return "student"


def side_behind(student: Student) -> Side:
    """The side behind `student` or `reference`."""
    side: Side = object.__getattribute__(student, "_Student__side")
    return side


def source(student: Student) -> str:
    """The text of the student's module.

    Raises:
        CannotJudge: it is not text.
    """
    sitting = side_behind(student).sitting
    try:
        return sitting.files[sitting.module + ".py"].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotJudge(f"your {sitting.module}.py is not UTF-8 text: {error}", at_load=True) from None


def _missing(side: Side, name: str) -> str:
    # A misspelt name is mended by one word, so it is worth a guess.
    names = {other.lower(): other for other in side.names()}
    near = " and ".join(f"`{names[other]}`" for other in difflib.get_close_matches(name.lower(), names, n=2))
    hint = f"; it has {near}" if near else ""
    return f"{side.sitting.owner} {side.sitting.module}.py has no `{name}`{hint}"


def _kept(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of arguments, so that a later change does not show."""
    try:
        return copies(*values)
    except Unsupported:
        return values
