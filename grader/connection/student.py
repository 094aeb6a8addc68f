"""`student` stands for the student's module in a check, and `probe` for a probe file: calls run in the worker.

`student.total(x)` calls a function of the student's. Probes run beside student code: an exercise's own, from its probe
file, and those of ours. What comes back is untrusted.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from grader.connection.connection import Connection, Proxy, connection_of, is_proxy, proxy_of_name
from grader.model.endings import NoSuchName, NotUsable
from grader.model.public_text import say
from grader.wire.frames import Unsupported
from grader.wire.table import nested_values

_OF_PLAIN_WORKERS = ("capture", "call_seeded")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Student:
    """The student's module as a check sees it. It has the student's names as attributes, and nothing else."""

    __slots__ = ("_Student__connection",)

    def __init__(self, connection: Connection) -> None:
        # Under a mangled name in a slot: a plain attribute here would hide a student's function of that name.
        object.__setattr__(self, "_Student__connection", connection)

    def __getattr__(self, name: str) -> Any:
        """Return a proxy of the module's function or class, or a copy of another value in it.

        `student.total` is a proxy of the function `total`. With `SIZE = 3` in the student's file, `student.SIZE` is 3.

        Raises:
            NoSuchName: the module does not have the name.
        """
        connection = connection_behind(self)
        kind = connection.known_names().get(name)
        if kind is None:
            if (what := f"{connection.owner} `{name}`") in connection.answered:
                text = say("{} existed when your file was first loaded, but not when it was loaded again", what)
                raise NoSuchName(text, about="name", at_load=False)
            raise NoSuchName(_missing_name_text(connection, name), about="name")
        if kind == "callable":
            return proxy_of_name(connection, name)
        return connection.ask("get", [proxy_of_name(connection, ""), name], f"{connection.owner} `{name}`", name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Assign a value to a name of the module, in the worker."""
        connection = connection_behind(self)
        connection.names()[name] = "callable" if is_proxy(value) else "value"
        connection.ask("set", [proxy_of_name(connection, ""), name, value], f"{connection.owner} `{name}`")

    def __dir__(self) -> list[str]:
        """Return the public names of the module."""
        return sorted(connection_behind(self).names())

    def __repr__(self) -> str:
        """Return "student", the name of the module in check files."""
        return "student"


def connection_behind(student: Student) -> Connection:
    """Return the connection behind `student` or `reference`."""
    connection: Connection = object.__getattribute__(student, "_Student__connection")
    return connection


def source(student: Student) -> str:
    """Return the text of the student's module.

    Args:
        student: the fixture `student`.

    Raises:
        NotUsable: it is not text.
    """
    connection = connection_behind(student)
    try:
        return connection.files[connection.module + ".py"].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotUsable(f"your {connection.module}.py is not UTF-8 text: {error}") from None


_NEAR = 0.75
"""How alike two names must be for a guess: "count_negative_entries" is not "count_nonnegative" misspelt."""


def _missing_name_text(connection: Connection, name: str) -> str:
    # A misspelt name is a common mistake with a simple fix, so a guess helps.
    # What another check calls is another function, and not this one under a wrong name.
    wanted = connection.names_in_checks or ()
    names = {other.lower(): other for other in connection.names() if other not in wanted}
    alike = difflib.get_close_matches(name.lower(), names, n=2, cutoff=_NEAR)
    near = " or ".join(f"`{names[other]}`" for other in alike)
    hint = f"; did you mean {near}?" if near else ""
    if connection.left_out:
        _, line, package = connection.left_out[0]
        hint = f": line {line} needs {package}, which is not available in this exercise"
    elif elsewhere := _where_else_defined(connection, name):
        hint = f" at its top level: {elsewhere}"
    return f"{connection.owner} {connection.module}.py has no `{name}`{hint}"


def _tree_of(connection: Connection) -> tuple[ast.Module, str]:
    """Return the syntax tree of the module, and the name of its file.

    The tree is empty if the file is not Python.
    """
    file = f"{connection.module}.py"
    try:
        return ast.parse(connection.files.get(file, b"")), file
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it was loaded, so a message needs no more
        return ast.Module([], []), file


def _where_else_defined(connection: Connection, name: str) -> str:
    """Return where a name is defined inside a class, a function or an `if`, and what to do.

    An example is "double.py, line 5 defines it in the class `Counter`; move it out of that, to the beginning of a
    line". The text is "" if the name is defined nowhere in the module.
    """
    tree, file = _tree_of(connection)
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        node, where = todo.pop()
        if isinstance(node, _DEFINITIONS):
            if node.name == name and where:
                return f"{file}, line {node.lineno} defines it {where}"
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            where = f"in the {kind} `{node.name}`; move it out of that, to the beginning of a line"
        elif isinstance(node, ast.If) and not where:
            where = _block_text(node, file)
        todo += [(child, where) for child in ast.iter_child_nodes(node)]
    return ""


def unrun_assignment_text(connection: Connection, name: str) -> str:
    """Return a sentence about the `if` block that assigns a name, which did not run.

    It says why reading the name raised a `NameError`.

    Args:
        connection: the connection to the worker that loaded the module.
        name: the name that had no value when it was read.

    Returns:
        The sentence, such as "double.py, line 9 gives `n` a value under the `if` of double.py, line 8, which did not
        run; move it out of that, to the beginning of a line"; "" if no `if` block at the top of the module assigns the
        name.
    """
    tree, file = _tree_of(connection)
    for block in [each for each in tree.body if isinstance(each, ast.If)]:
        for node in ast.walk(block):
            match node:
                case ast.Name(id=bound, ctx=ast.Store()) | ast.FunctionDef(name=bound) | ast.ClassDef(name=bound):
                    names = {bound}
                case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                    names = {alias.asname or alias.name.partition(".")[0] for alias in aliases}
                case _:
                    continue
            if name in names:
                return f"{file}, line {node.lineno} gives `{name}` a value {_block_text(block, file)}"
    return ""


def _block_text(node: ast.If, file: str) -> str:
    match node.test:
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            condition = 'under `if __name__ == "__main__"`, which runs only if the file is started as a program'
        case _:
            condition = f"under the `if` of {file}, line {node.lineno}, which did not run"
    return f"{condition}; move it out of that, to the beginning of a line"


class Probe:
    """The functions of an exercise's probe file, which run in the worker, beside student code.

    `probe.count(student.total, x)` runs the file's function `count` there. It gets the student's function itself, and
    not a proxy.

    Args:
        connection: the connection to the student's module.
        path: the path of the file.
    """

    __slots__ = ("_connection", "_path")

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function that runs the probe file's function of this name in a worker."""
        return partial(self._run, name)

    def _run(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run a function of the probe file in a worker, and return its result.

        It is the worker of the first proxy among the arguments; without a proxy, the student's worker.
        """
        proxies = (each for each in nested_values([args, kwargs]) if is_proxy(each))
        connection = next(map(connection_of, proxies), self._connection)
        space = connection.load_probe(self._path.stem, self._path.read_text(encoding="utf-8"))
        # A probe around a student's function is noted, and named in messages, as that function.
        probe = proxy_of_name(connection, name, space)
        called = args[0] if args and is_proxy(args[0]) else probe
        noted = connection.note_call(called, args if called is probe else args[1:], kwargs)
        noted = replace(noted, by_probe=True) if noted is not None else None
        return connection.call(probe, args, kwargs, called, noted)


def call_builtin_probe(
    function: Proxy, name: str, values: Sequence[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], ranks: int = 1
) -> Any:
    """Have a built-in probe call a function, and return the result of the probe.

    The built-in probes are functions of ours in each worker. The probe "capture", with the values `[[x], {}]`, calls
    `function(x)` and returns its result and what it printed. The call is recorded as a call of the function.

    Args:
        function: the proxy of the function.
        name: the name of the probe.
        values: the arguments of the probe, without the function, which comes first.
        args: the positional arguments of the function, for the record.
        kwargs: its keyword arguments, for the record.
        ranks: the number of ranks that call the function at the same time.
    """
    connection = connection_of(function)
    if connection.without and name not in _OF_PLAIN_WORKERS:
        raise Unsupported(
            f"`{name}` needs PyTorch, which workers of this exercise do not have (`without` in exercise.yaml): compare "
            "values, or remove `without`"
        )
    noted = connection.note_call(function, args, kwargs, ranks)
    return connection.call(proxy_of_name(connection, name, ""), (function, *values), {}, function, noted)
