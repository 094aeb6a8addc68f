"""Many lanes at once: the outcome is the same as with one, and what disturbs a lane costs nobody a point."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from batch.pretend import PretendClass
from batch.test_journal import results

from grader.intake.collect import collect
from grader.intake.contents import Handed
from grader.model import Course, Verdict

pytestmark = pytest.mark.lane

VERDICTS = ("passed", "failed", "timed_out", "inconclusive", "broken")


@pytest.fixture
def pretend(tiny: Course, tmp_path: Path) -> PretendClass:
    """A class of ten."""
    return PretendClass.of(tiny, tmp_path, 10, VERDICTS)


def test_as_many_lanes_as_you_like(tiny: Course, tmp_path: Path) -> None:
    """The results of five lanes, of which some are slow, are those of one, now and in the next run."""
    one, five = (PretendClass.of(tiny, tmp_path / name, 10, VERDICTS) for name in ("one", "five"))
    luck = random.Random(3)

    def slow(exercise: str, check: str, source: bytes) -> Verdict:
        time.sleep(luck.uniform(0, 0.02))
        return Verdict(source.split()[0].decode())

    five.judge = slow
    first, second = one.grade(), five.grade(slots=5)
    assert first == second
    assert Counter(five.jobs) == Counter(one.jobs)
    assert results(five.out) == results(one.out)
    assert (one.grade(), one.jobs) == (five.grade(), five.jobs)


def test_a_slow_submission_holds_nobody_up(pretend: PretendClass) -> None:
    """While one is waited for, the others are graded and told."""
    told_meanwhile: list[str] = []

    def waits(exercise: str, check: str, source: bytes) -> Verdict:
        until = time.monotonic() + 30
        while b"author00" in source and len(pretend.told) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        told_meanwhile[:] = told_meanwhile or (list(pretend.told) if b"author00" in source else [])
        return Verdict.PASSED

    pretend.judge = waits
    pretend.grade(slots=3)
    assert len(told_meanwhile) >= 4


def test_few_submissions_are_read_ahead(pretend: PretendClass, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large a class is, no more of it is in memory than lanes need."""
    read: list[str] = []

    def reads(handed: Handed, *args: Any, **kwargs: Any) -> object:
        read.append(handed.key)
        return collect(handed, *args, **kwargs)

    monkeypatch.setattr("grader.batch.run.collect", reads)
    ahead: list[int] = []

    def looks(exercise: str, check: str, source: bytes) -> Verdict:
        time.sleep(0.005)
        ahead.append(len(set(read)) - len(pretend.told))
        return Verdict.PASSED

    pretend.judge = looks
    pretend.grade(slots=2)
    assert len(ahead) == 40
    assert max(ahead) <= 2 + 3
