"""`student` stands for the student's module in a check: `student.total(x)` calls a function in its worker."""

from __future__ import annotations

import difflib
from typing import Any

from grader.connection.connection import Connection
from grader.connection.proxy import is_proxy, named
from grader.model.endings import CannotJudge, NoSuchName


class Student:
    """The student's module as a check sees it. It has the student's names as attributes, and nothing else."""

    __slots__ = ("_Student__connection",)

    def __init__(self, connection: Connection) -> None:
        # Under a mangled name in a slot: a plain attribute here would hide a student's function of that name.
        object.__setattr__(self, "_Student__connection", connection)

    def __getattr__(self, name: str) -> Any:
        """A function or class of the student's, or a copy of a value.

        Raises:
            NoSuchName: there is no such name.
        """
        connection = connection_behind(self)
        kind = connection.names().get(name)
        if kind is None:
            raise NoSuchName(_missing(connection, name), at_load=True, about="name")
        if kind == "callable":
            return named(connection, name)
        return connection.ask("get", [named(connection, ""), name], f"{connection.owner} `{name}`")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name of the module, in the worker."""
        connection = connection_behind(self)
        connection.names()[name] = "callable" if is_proxy(value) else "value"
        connection.ask("set", [named(connection, ""), name, value], f"{connection.owner} `{name}`")

    def __dir__(self) -> list[str]:
        """The public names of the module."""
        return sorted(connection_behind(self).names())

    def __repr__(self) -> str:
        """As in plain Python."""
        return "student"


def connection_behind(student: Student) -> Connection:
    """The connection behind `student` or `reference`."""
    connection: Connection = object.__getattribute__(student, "_Student__connection")
    return connection


def source(student: Student) -> str:
    """The text of the student's module.

    Raises:
        CannotJudge: it is not text.
    """
    connection = connection_behind(student)
    try:
        return connection.files[connection.module + ".py"].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotJudge(f"your {connection.module}.py is not UTF-8 text: {error}", at_load=True) from None


def _missing(connection: Connection, name: str) -> str:
    # A misspelt name is a common mistake with a simple fix, so a guess helps.
    names = {other.lower(): other for other in connection.names()}
    near = " and ".join(f"`{names[other]}`" for other in difflib.get_close_matches(name.lower(), names, n=2))
    hint = f"; it has {near}" if near else ""
    return f"{connection.owner} {connection.module}.py has no `{name}`{hint}"
