"""Lines about tensors, run in a worker for the page that draws memory; what they make is printed as JSON."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.drawing.tensor import Tensor
from grader.model.files import from_json, to_json

_MOST_TENSORS = 8
_MOST_VALUES = (96, 48, 12, 0)
_LONGEST = 8000


@dataclass(frozen=True)
class EvaluatedLines:
    """The tensors that lines made, and the error that one of them raised.

    Attributes:
        tensors: each with its name, in the order in which the names came.
        error: the error of the line that raised, with the explanation of `grader.explain`, or "".
        line: the number of that line, from 1 on; 0 for none.
    """

    tensors: tuple[Tensor, ...] = ()
    error: str = ""
    line: int = 0


def show(lines: Sequence[str], names: dict[str, Any] | None = None) -> None:
    """Run lines of Python one after another, and print an `EvaluatedLines` with the tensors that they made, as JSON.

    The value of a line that is an expression has the text of the line as its name.

    Args:
        lines: of Python.
        names: what the lines may use besides `torch` and `np`.
    """
    import numpy as np
    import torch

    from grader.drawing.facts import drawn_tensors
    from grader.drawing.for_you import explain

    known: dict[str, Any] = {"torch": torch, "np": np, **(names or {})}
    found: dict[str, Any] = {}
    error, failed = "", 0
    for number, line in enumerate(lines, 1):
        before = dict(known)
        try:
            with explain():
                tree = ast.parse(line.strip())
                if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
                    found[line.strip()] = eval(compile(line.strip(), "<line>", "eval"), known)  # noqa: S307  in a worker
                else:
                    exec(compile(tree, "<line>", "exec"), known)  # noqa: S102  in a worker
        except (Exception, SystemExit) as raised:  # it is what the student sees
            notes = [note.partition("\n")[2] for note in getattr(raised, "__notes__", [])]
            error, failed = "\n".join([f"{type(raised).__name__}: {raised}", *notes]), number
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


def program(lines: Sequence[str], module: str = "") -> str:
    """Return the source of a program for a worker, which runs lines by `show` and so prints an `EvaluatedLines`.

    Args:
        lines: of Python.
        module: a module of the student's whose names the lines may use, or "".
    """
    own = f"import {module} as _own\n" if module else ""
    names = ", {name: value for name, value in vars(_own).items() if not name.startswith('_')}" if module else ""
    return f"{own}from grader.drawing.evaluated import show as _show\n_show({list(lines)!r}{names})"


def answer_of(printed: str) -> EvaluatedLines:
    """Return the `EvaluatedLines` in the text that a worker printed, which is untrusted.

    Raises:
        FormatError: the last line of the text is not an `EvaluatedLines`.
    """
    return from_json(EvaluatedLines, printed.strip().split("\n")[-1].encode())
