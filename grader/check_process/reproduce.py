"""The calls of a failing shown check as lines of plain Python, with the same arguments.

Arguments keep their memory: a slice of a thousand zeros is written as that, and arguments that share memory still share
it. Arguments that cannot be written like this, such as large ones, have no lines.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from grader.check_process.value_source import source_of_values
from grader.connection.record import Call
from grader.model import DeviceKind
from grader.model.check import LINES_TO_TRY

MOST_CALLS = 3
"""How many of the last calls of a check are written."""

_IMPORTS = {"np": "import numpy as np", "torch": "import torch"}
_LONG = 30
_NAMES = ("x", "y", "z")
_MADE = ("torch.", "np.")


class LinesToTry(NamedTuple):
    """The lines that a student can type: `text` has all, with a heading, `calls` only those that make the calls."""

    text: str
    calls: str


def calls_as_lines(
    module: str, calls: Sequence[Call], folder: str, device: DeviceKind = DeviceKind.NONE, *, changes: bool = False
) -> LinesToTry | None:
    """Return the last calls of a check as lines of Python, or None.

    An example is `from double import double` with `print(double(3))` below it. Return None if one of the calls cannot
    be written.

    Args:
        module: name of the exercise module.
        calls: the calls that the check made.
        folder: the folder in which the lines run, as the student types it.
        device: the kind of device that the worker saw.
        changes: True if the calls mutate their arguments. If so, calls with equal arguments do not share them.
    """
    # The last calls: a check ends at the first thing that does not hold, so the culprit is likely among them.
    last, rows = calls[-MOST_CALLS:], list[tuple[str, list[str], list[str]]]()
    for call in last:
        try:
            setup, texts = source_of_values([*call.args, *call.kwargs.values()])
        except ValueError:
            return None
        words = [*([""] * len(call.args)), *(f"{key}=" for key in call.kwargs)]
        if (row := (call.name, setup, [*map("".join, zip(words, texts, strict=True))])) not in rows:
            rows.append(row)
    if not rows:
        return None
    body = [] if changes else _name_shared_arguments(rows)
    for name, setup, arguments in rows:
        body += [*setup, f"print({name}({', '.join(arguments)}))"]
    used = {node.id for node in ast.walk(ast.parse("\n".join(body))) if isinstance(node, ast.Name)}
    imports = [line for name, line in _IMPORTS.items() if name in used]
    imports += device.lines_to_simulate
    imports.append(f"from {module} import {', '.join(sorted({call.name for call in last}))}")
    place = f", in the folder {folder}" if folder not in ("", ".") else ""
    return LinesToTry("\n    ".join([f"{LINES_TO_TRY}{place}:", *imports, *body]), "\n".join(body))


def _name_shared_arguments(rows: Sequence[tuple[str, list[str], list[str]]]) -> list[str]:
    """Replace long arguments by names where several calls share them.

    If `f` and `g` both get `torch.ones(2, 3, dtype=torch.float32)`, both get `x` instead, and the returned list has the
    line `x = torch.ones(2, 3, dtype=torch.float32)`.

    Args:
        rows: a row for each call: its function, the lines to run before it, and the source of its arguments. The names
            replace items of this list of sources.
    """
    times = Counter(text for _, _, arguments in rows for text in set(arguments))
    long = [text for text, count in times.items() if count > 1 and len(text) > _LONG and text.startswith(_MADE)]
    taken = {
        node.id
        for name, *rest in rows
        for node in ast.walk(ast.parse("\n".join([name, *rest[0]])))
        if isinstance(node, ast.Name)
    }
    free = (name for name in _NAMES if name not in taken)
    names = dict(zip(long, free, strict=False))
    for _, _, arguments in rows:
        arguments[:] = [names.get(text, text) for text in arguments]
    return [f"{name} = {text}" for text, name in names.items()]
