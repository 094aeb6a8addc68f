"""Lines about tensors, run in a worker for the page that draws memory; what they make is printed as JSON."""

from __future__ import annotations

import ast
import linecache
import traceback
from dataclasses import dataclass, replace
from typing import Any

from grader.drawing.tensor import DrawnTensor
from grader.model.files import from_json, to_json

_MOST_TENSORS = 8
_MOST_VALUES = (96, 48, 12, 0)
_LONGEST = 8000
_FILE = "<lines>"


@dataclass(frozen=True)
class EvaluatedLines:
    """The tensors that lines made, and the error that one of them raised.

    Attributes:
        tensors: the tensors, each with its name, in the order in which the names came.
        error: the error of the line that raised, with the explanation of `grader.explain`, or "".
        line: the number of that line, from 1 on; 0 for none.
    """

    tensors: tuple[DrawnTensor, ...] = ()
    error: str = ""
    line: int = 0


def parse_lines(text: str) -> tuple[list[ast.stmt], SyntaxError | None]:
    """Return the statements of a text up to the first line that Python cannot read.

    The second value is the error of the whole text; None if all of it is valid. Of the lines `x = 1` and `y = (` the
    first is returned, with the error "'(' was never closed".
    """
    lines, first = text.split("\n"), None
    for count in range(len(lines), -1, -1):
        try:
            return ast.parse("\n".join(lines[:count])).body, first
        except SyntaxError as error:
            first = first or error
        except ValueError as error:  # a null character
            first = first or SyntaxError(str(error))
    return [], first


def run_and_print(text: str, names: dict[str, Any] | None = None) -> None:
    """Run lines of Python, and print the tensors that they made as JSON of `EvaluatedLines`.

    The lines `x = torch.zeros(2)` and `x + 1` make two tensors, with the names "x" and "x + 1". If a line raises, no
    later line is run, and the error is printed, too.

    Args:
        text: the lines.
        names: the names that the lines may use besides `torch` and `np`.
    """
    import numpy as np
    import torch

    from grader.drawing.facts import drawn_tensors
    from grader.drawing.for_you import explain

    known: dict[str, Any] = {"torch": torch, "np": np, **(names or {})}
    found: dict[str, Any] = {}
    statements, unread = parse_lines(text)
    error, failed = (f"SyntaxError: {unread.msg}", unread.lineno or 1) if unread is not None else ("", 0)
    linecache.cache[_FILE] = len(text), None, text.splitlines(keepends=True), _FILE  # where `explain` finds operands
    for node in statements:
        before = dict(known)
        try:
            with explain():
                if isinstance(node, ast.Expr):
                    value = eval(compile(ast.Expression(node.value), _FILE, "eval"), known)  # noqa: S307  in a worker
                    found[ast.get_source_segment(text, node) or ast.unparse(node)] = value
                else:
                    exec(compile(ast.Module([node], []), _FILE, "exec"), known)  # noqa: S102  in a worker
        except (Exception, SystemExit) as raised:  # it is what the student sees
            notes = [note.partition("\n")[2] for note in getattr(raised, "__notes__", [])]
            error = "\n".join([f"{type(raised).__name__}: {raised}", *notes])
            rows = [row.lineno for row in traceback.extract_tb(raised.__traceback__) if row.filename == _FILE]
            failed = (rows[0] if rows else None) or node.lineno
            break
        found |= {
            name: value for name, value in known.items() if before.get(name) is not value and name != "__builtins__"
        }
    values = {name: value for name, value in found.items() if isinstance(value, (torch.Tensor, np.ndarray))}
    shown = dict(list(values.items())[-_MOST_TENSORS:])
    facts = list(drawn_tensors(shown))
    for most in _MOST_VALUES:  # as many as fit into an answer
        tensors = tuple(replace(each, values=each.values[:most]) for each in facts)
        text = to_json(EvaluatedLines(tensors, error, failed)).decode()
        if len(text) <= _LONGEST:
            break
    print(text)  # noqa: T201  the answer


def program(text: str, module: str = "") -> str:
    """Return the source of a program that runs lines in a worker and prints an `EvaluatedLines`.

    Args:
        text: the lines.
        module: a module of the student's whose names the lines may use, or "".
    """
    own = f"import {module} as _own\n" if module else ""
    names = ", {name: value for name, value in vars(_own).items() if not name.startswith('_')}" if module else ""
    return f"{own}from grader.drawing.evaluated import run_and_print as _show\n_show({text!r}{names})"


def read_evaluated_lines(printed: str) -> EvaluatedLines:
    """Read the `EvaluatedLines` in the text that a worker printed, which is untrusted.

    Raises:
        FormatError: the last line of the text is not an `EvaluatedLines`.
    """
    return from_json(EvaluatedLines, printed.strip().split("\n")[-1].encode())
