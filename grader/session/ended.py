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
from grader.session.authors import Comparison
from grader.session.decide import Ended

_STATEMENTS = (ast.stmt, ast.ExceptHandler)
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
    """What stands in the file there; of a compound statement its head."""
    spans = _spans("".join(lines))
    start = max((each for each in spans if each <= line), default=0)
    if not start:  # the file is another one by now: its author is at work
        return ""
    return "".join(lines[start - 1 : spans[start]]).rstrip()


@lru_cache(maxsize=20)
def _spans(text: str) -> dict[int, int]:
    """The first and the last line of each statement, of a compound one of its head.

    To find them the file is parsed, which takes longer than many a check.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    spans = {}
    for node in ast.walk(tree):
        if isinstance(node, _STATEMENTS):
            inner = [child.lineno for child in ast.iter_child_nodes(node) if isinstance(child, _STATEMENTS)]
            spans[node.lineno] = max(node.lineno, min(inner) - 1 if inner else node.end_lineno or 0)
    return spans
