"""How a check ended, from what pytest caught of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.model.endings import CheckFailed
from grader.session.decide import Comparison, Ended


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
    statement = str(own[-1].statement) if own and plain else ""
    trace = "\n".join(f"{entry.path}:{entry.lineno + 1}: {entry.name}" for entry in caught.traceback)
    return Ended(error, statement, comparison if isinstance(error, AssertionError) else None, trace)
