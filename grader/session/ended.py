"""How a check ended, from what pytest caught of it."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

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
    own = [entry for entry in caught.traceback if Path(str(entry.path)) == path]
    plain = isinstance(error, (AssertionError, TypeError)) and not isinstance(error, CheckFailed)
    statement = _statement(own[-1]) if own and plain else ""
    line = own[-1].lineno + 1 if own else 0
    # What pytest and its plugins do on the way is nobody's fault; where it all ends in them there is no more to tell.
    entries = [entry for entry in caught.traceback if not _PYTESTS & set(Path(str(entry.path)).parts)]
    trace = "\n".join(f"{entry.path}:{entry.lineno + 1}: {entry.name}: {_first_line(entry)}" for entry in entries)
    return Ended(error, statement, comparison if isinstance(error, AssertionError) else None, trace, line)


def _statement(entry: Any) -> str:
    """What stands in the file there."""
    try:
        return str(entry.statement)
    except (IndexError, SyntaxError, ValueError):  # the file is another one by now: its author is at work
        return ""


def _first_line(entry: Any) -> str:
    """The line alone: to find the whole statement a file is parsed, which takes longer than many a check."""
    return linecache.getline(str(entry.path), entry.lineno + 1).strip()
