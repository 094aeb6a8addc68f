"""The line and the statement of a check file that raised."""

from __future__ import annotations

import ast
import linecache
import traceback
from functools import lru_cache
from pathlib import Path


def line_of(error: BaseException | None, path: Path) -> int:
    """Return the number of the innermost line of the check file in a traceback, or 0."""
    frames = traceback.walk_tb(error.__traceback__ if error else None)
    return next((line for frame, line in reversed([*frames]) if frame.f_code.co_filename == str(path)), 0)


def raising_statement(error: BaseException, path: Path) -> ast.stmt | None:
    """Return the innermost statement of the check file in a traceback, or None.

    Return None if the file has changed since, so that no statement is there.
    """
    line = line_of(error, path)
    try:
        tree = _parsed("".join(linecache.getlines(str(path))))
    except (SyntaxError, ValueError):  # the file is another one by now: its author is at work
        return None
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    around = [node for node in statements if node.lineno <= line <= (node.end_lineno or 0)]
    return around[-1] if around else None


def statement_of(error: BaseException, path: Path) -> str:
    """Return the source of the statement in the check file that raised, in one line.

    Of `assert total == 3` it is the condition alone, "total == 3".
    """
    innermost = raising_statement(error, path)
    if innermost is None:
        return ""
    return ast.unparse(innermost.test if isinstance(innermost, ast.Assert) else innermost).split("\n")[0]


_parsed = lru_cache(maxsize=20)(ast.parse)  # which takes longer than many a check
