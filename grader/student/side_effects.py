"""What the sandbox does with files that student code writes, and with programs that it starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from grader.model import Exercise

_WRITES = ("torch.save", "numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt")
_WRITING_METHODS = ("write_text", "write_bytes", "to_csv")
_STARTS = ("os.system", "os.popen", "os.spawn", "os.exec", "os.posix_spawn", "subprocess.")


def side_effects(exercise: Exercise) -> Iterator[str]:
    """Yield a warning for student code that writes files or starts programs.

    The sandbox discards the files, and does not start programs. For example, "Line 3 of double.py writes a file. The
    sandbox of grade discards it." Only the first such line of each kind has a warning.
    """
    try:
        tree = ast.parse(exercise.starter.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # `grade` says what is wrong with it
        return
    calls = sorted((node for node in ast.walk(tree) if isinstance(node, ast.Call)), key=lambda node: node.lineno)
    imported = _imported_names(tree)
    names = [(node, _dotted_name(node.func, imported)) for node in calls]
    writes = (node.lineno for node, name in names if name in _WRITES or _writes(node, name))
    starts = (node.lineno for node, name in names if name.startswith(_STARTS))
    if line := next(writes, None):
        yield f"Line {line} of {exercise.file_name} writes a file. The sandbox of grade discards it."
    if line := next(starts, None):
        yield f"Line {line} of {exercise.file_name} starts a program. The sandbox of grade does not allow that."


def _imported_names(tree: ast.Module) -> dict[str, str]:
    """Return the dotted path of each name that an import binds, if it is another one.

    `import numpy as np` and `from torch import save` return `{"np": "numpy", "save": "torch.save"}`. `import numpy`
    returns {}.
    """
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names |= {one.asname: f"{prefix}{one.name}" for one in node.names if one.asname}
            names |= {one.name: f"{prefix}{one.name}" for one in node.names if prefix and not one.asname}
    return names


def _dotted_name(node: ast.expr, imported: Mapping[str, str]) -> str:
    """Return the dotted name of a called function, such as "torch.save".

    For a method of a value without a name it begins with a dot: ".save" for `f(x).save()`.

    Args:
        node: the function of the call.
        imported: the result of `_imported_names`: with `{"save": "torch.save"}`, `save(x)` has the name "torch.save".
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(imported.get(node.id, node.id) if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))


def _writes(call: ast.Call, name: str) -> bool:
    """Return whether a call writes a file, by `open` or a method such as `write_text`.

    `open("a", "w")` does, and `open("a")` does not.

    Args:
        call: the call.
        name: the dotted name of the called function, such as "open" or "path.write_text".
    """
    _, dot, method = name.rpartition(".")
    if method != "open":
        return bool(dot) and method in _WRITING_METHODS
    modes = [part.value for part in call.keywords if part.arg == "mode"]
    modes += call.args[(0 if dot and name != "io.open" else 1) :][:1]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(set(text) & set("wax+") and set(text) <= set("rwaxbt+") for text in texts)
