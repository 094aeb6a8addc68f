"""A pytest plugin: `pytest exercises/...` runs shown checks as `grade` does, and editors list them as tests.

It handles files named `check_*.py` in a course's folder, and no others. Our own check processes do not load it, because
plugin autoload is off there.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect a course's check file by a lane, and keep other plugins from it, because they would import it."""
    others = yield
    if file_path.suffix != ".py" or not file_path.name.startswith("check_"):
        return others
    # What reads courses and starts lanes is imported when a check file is met: all else need not wait for it.
    from grader.student.pytest_items import collector_of

    ours = collector_of(file_path, parent)
    return [ours] if ours is not None else others
