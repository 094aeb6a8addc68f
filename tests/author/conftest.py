"""Fixtures: a copy of the pretend course, and lanes that stay warm."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import COURSES, WarmPool

from grader.author.cases import unusual_cases
from grader.grading.lanes import Lanes
from grader.model import Course
from grader.runner.lane import Lane


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy of the pretend course."""
    return Path(shutil.copytree(COURSES / "tiny", tmp_path / "course", ignore=shutil.ignore_patterns(".grade")))


@pytest.fixture
def lanes(tiny: Course, fork_lane: Lane, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lanes]:
    """A warm lane, which has the checks of the pretend course again afterwards; one unusual answer is enough."""
    monkeypatch.setattr("grader.author.cases.unusual_cases", lambda *given: [*unusual_cases(*given)][:1])
    monkeypatch.setattr("grader.author.cases.constant_cases", lambda exercise: [])
    yield Lanes(WarmPool(lambda: fork_lane), None)  # type: ignore[arg-type]
    fork_lane.collect_anew(tiny.exercises)
