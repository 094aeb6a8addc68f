"""Built-in probes that need the standard library alone. What they return is untrusted."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import math
import os
import random
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from grader.sandbox.start_messages import WARNED

_MAX_TEXT = 300
_MAX_PRINTED = 100_000
_MAX_LINES = 10_000
_MOST_WARNINGS = 100
_LIBRARIES = {"np": "numpy", "torch": "torch"}
"""What lines to try may use by these names, where a worker has it."""


def echo_last_argument(*args: Any) -> Any:
    """Return the last argument.

    A call of this measures the time of a request and its reply alone.
    """
    return args[-1]


def run_snippet(module: str, text: str) -> str:
    """Run lines as at a prompt, and return what they print.

    The prompt also prints the values of expressions. The lines may use the names of a module.

    Args:
        module: the name of this module, that of the exercise, which is loaded.
        text: the lines, which the author of the course wrote.
    """
    libraries = {name: sys.modules[each] for name, each in _LIBRARIES.items() if each in sys.modules}
    names = {"math": math, "sys": sys, **libraries, **vars(sys.modules[module])}
    lines = ast.parse(text)
    # As at a prompt, which shows what each line gives.
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Interactive(lines.body), "lines", "single"), names)  # noqa: S102  the course's own
    return printed.getvalue()[:_MAX_LINES]


def run_program(text: str) -> str:
    """Run lines as a program, and return what it prints, with the traceback of what it raises.

    Args:
        text: the lines, with their imports.
    """
    name, folder = "<lines>", f"{os.getcwd()}{os.sep}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
        try:
            exec(compile(text, name, "exec"), {"__name__": "__main__"})  # noqa: S102  the course's own
        except (Exception, SystemExit) as error:  # `exit()` ends the lines, not the worker
            inner = error.__traceback__.tb_next if error.__traceback__ else None  # without the frame of this function
            shown = traceback.TracebackException(type(error), error, inner)
            for frame in shown.stack:
                frame.filename = frame.filename.removeprefix(folder)
            print("".join(shown.format()), end="")  # noqa: T201
    whole = printed.getvalue().replace(WARNED, "")
    left = len(whole) - _MAX_LINES
    return f"{whole[:_MAX_LINES]}\n{left:,} more characters" if left > 0 else whole


def is_instance(obj: Any, kind: Any) -> bool:
    """Return whether an object is an instance of a class.

    The class may be text, such as "module.Name".
    """
    if isinstance(kind, str):
        return any(f"{base.__module__}.{base.__qualname__}" == kind for base in type(obj).__mro__)
    return isinstance(obj, kind)


def call_seeded(function: Callable[..., Any], seed: int, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Seed Python's generator, then call a function and return its result.

    Args:
        function: the student's function.
        seed: the seed of the generator.
        args: the arguments of the function.
        kwargs: its arguments by name.
    """
    random.seed(seed)
    return function(*args, **kwargs)


def capture(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Call a function; return its result, what it printed, and what it warned of.

    Args:
        function: the student's function.
        args: its arguments.
        kwargs: its arguments by name.

    Returns:
        A list of the result, the text on standard output, the text on standard error, the warnings, and whether
        warnings are still shown. A warning is a list of its category and its text. Warnings are not shown any more if
        student code has silenced them for good.
    """
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        result = function(*args, **kwargs)
        before = len(caught)
        warnings.warn("ours", stacklevel=1)
        still_show = len(caught) == before + 1
    for stream, text in ((sys.stdout, out), (sys.stderr, err)):  # it counts as printed
        with contextlib.suppress(BaseException):  # the student may have closed the stream
            stream.write(text.getvalue())
    rows = [[item.category.__name__, str(item.message)[:_MAX_TEXT]] for item in caught[:before][:_MOST_WARNINGS]]
    return [result, out.getvalue()[:_MAX_PRINTED], err.getvalue()[:_MAX_PRINTED], rows, still_show]
