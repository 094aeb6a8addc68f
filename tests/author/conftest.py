"""Fixtures: a copy of the pretend course, and lanes that stay warm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import runtime_of

from grader.author.cases import unusual_cases
from grader.grading.runtime import Runtime
from grader.model import Course
from grader.runner.lane import Lane


@pytest.fixture
def few_unusual(monkeypatch: pytest.MonkeyPatch) -> None:
    """One unusual answer is enough, and no answer that is a constant."""
    monkeypatch.setattr("grader.author.cases.unusual_cases", lambda *given: [*unusual_cases(*given)][:1])
    monkeypatch.setattr("grader.author.cases.constant_cases", lambda exercise: [])


@pytest.fixture
def lanes(tiny: Course, fork_lane: Lane, few_unusual: None) -> Iterator[Runtime]:
    """A warm lane, which has the checks of the pretend course again afterwards."""
    with runtime_of(fork_lane) as runtime:
        yield runtime
    fork_lane.recollect(tiny.exercises)
