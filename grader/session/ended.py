"""How a check ended, from what pytest caught of it."""

from __future__ import annotations

import ast
import linecache
import traceback
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from grader.model.endings import CheckFailed
from grader.session.decide import Comparison, Ended

_PYTESTS = {"_pytest", "pluggy"}


def ended_of(caught: pytest.ExceptionInfo[BaseException] | None, path: Path, comparison: Comparison | None) -> Ended:
    """What a check raised, if anything, and where.

    Args:
        caught: what pytest did.
        path: of the check file.
        comparison: both sides of the plain assert that was looked at last.
    """
    if caught is None:
        return Ended(None)
    error = caught.value
    # The innermost line of the check file itself: what a helper of ours looks like is no help to a student. It is
    # looked for in the whole file, and explains only what Python itself raised.
    entries = [(frame.f_code, line) for frame, line in traceback.walk_tb(caught.tb)]
    line = next((line for code, line in reversed(entries) if _is_same_path(code.co_filename, path)), 0)
    plain = isinstance(error, (AssertionError, TypeError)) and not isinstance(error, CheckFailed)
    statement = _statement(linecache.getlines(str(path)), line) if line and plain else ""
    # What pytest and its plugins do on the way is nobody's fault; where it all ends in them there is no more to tell.
    trace = "\n".join(
        f"{code.co_filename}:{line}: {code.co_name}: {linecache.getline(code.co_filename, line).strip()}"
        for code, line in entries
        if not _is_pytests(code.co_filename)
    )
    return Ended(error, statement, comparison if isinstance(error, AssertionError) else None, trace, line)


@lru_cache(maxsize=1000)
def _is_same_path(name: str, path: Path) -> bool:
    return Path(name) == path


@lru_cache(maxsize=1000)
def _is_pytests(name: str) -> bool:
    return not _PYTESTS.isdisjoint(Path(name).parts)


def _statement(lines: Sequence[str], line: int) -> str:
    """The innermost statement that a line belongs to; of a compound one only that line."""
    try:
        nodes = [node for node in ast.walk(_parsed("".join(lines))) if isinstance(node, ast.stmt)]
    except (SyntaxError, ValueError):  # the file is another one by now: its author is at work
        return ""
    around = [node for node in nodes if node.lineno <= line <= (node.end_lineno or 0) and not hasattr(node, "body")]
    first, last = (around[-1].lineno, around[-1].end_lineno or line) if around else (line, line)
    return "".join(lines[first - 1 : last]).rstrip()


_parsed = lru_cache(maxsize=20)(ast.parse)  # which takes longer than many a check
