"""What the text of a submission says, where a sentence for its author depends on that. It is read and never run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

Function = ast.FunctionDef | ast.AsyncFunctionDef

# A file may have a million lines, and every check that fails asks for some of them: it is read once.
_read_once = lru_cache(maxsize=8)


@_read_once
def text_of(content: bytes) -> str:
    """A file as text."""
    return content.decode("utf-8-sig", "replace")


@_read_once
def lines_of(content: bytes) -> Sequence[str]:
    """The lines of a file."""
    return text_of(content).splitlines()


def is_stub(content: bytes, line: int) -> bool:
    """Whether a line is a `raise NotImplementedError` that a function always comes to, as a starter has it."""
    return any(
        statement.lineno <= line <= (statement.end_lineno or 0)
        for function in _functions(content)
        for statement in function.body
        if isinstance(statement, ast.Raise) and _raised_name(statement) == "NotImplementedError"
    )


def may_lack_return(files: Mapping[str, bytes], names: Iterable[str]) -> bool:
    """Whether one of these functions has no `return` that gives something."""
    functions = [function for content in files.values() for function in _functions(content)]
    called = [function for function in functions if function.name in set(names)]
    return any(not any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(each)) for each in called)


@_read_once
def _functions(content: bytes) -> Sequence[Function]:
    try:
        tree = ast.parse(text_of(content))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def _raised_name(statement: ast.Raise) -> str:
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return raised.id if isinstance(raised, ast.Name) else ""
