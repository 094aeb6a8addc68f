"""A pytest plugin: `pytest exercises/...` runs shown checks as `grade` does, and editors list them as tests.

It handles files named `check_*.py` in a course's folder, and no others. Our own check processes do not load it, because
plugin autoload is off there.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Return our collector alone for a check file of a course.

    The collectors of other plugins, which would import the file, are left out.
    """
    others = yield
    if file_path.suffix != ".py" or not file_path.name.startswith("check_"):
        return others
    # What reads courses and starts lanes is imported when a check file is met: all else need not wait for it.
    from grader.student.pytest_items import collector_of

    ours = collector_of(file_path, parent)
    return [ours] if ours is not None else others


# -- pytest-timeout ----------------------------------------------------------------------------------------------------
# A lane runs all checks of an exercise while its first item is set up. A timer of pytest-timeout would end the wait for
# it, and count the start of the lane and each call of a student's function. So the time that somebody chose is the
# lane's to guard: it is what a check's own code may take.


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    """Limit a check's own time in its lane, in place of a timer of pytest-timeout.

    The result is True for a check of a course. It is None for any other item, which then gets its timer.
    """
    limit = getattr(item, "limit_own_time", None)
    return limit(settings.timeout) if limit is not None else None


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> bool | None:
    """Return True for a check of a course, for which pytest-timeout set no timer.

    The result is None for any other item.
    """
    return True if hasattr(item, "limit_own_time") else None
