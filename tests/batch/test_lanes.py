"""Many lanes at once: the outcome is the same as with one, and what disturbs a lane costs nobody a point."""

from __future__ import annotations

import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batch.pretend import PretendClass

from grader.batch.journal import FILE
from grader.intake.collect import collect
from grader.intake.handed import Handed
from grader.model import Course, Verdict

VERDICTS = ("passed", "failed", "timed_out", "inconclusive", "broken")
Made = Callable[[str], PretendClass]


@pytest.fixture
def made(tiny: Course, tmp_path: Path) -> Made:
    """Makes classes of ten that are all alike."""

    def make(name: str) -> PretendClass:
        pretend = PretendClass(tiny, tmp_path / name)
        for place in range(10):
            pretend.hand_in(f"author{place}", double=VERDICTS[place % 5], total=VERDICTS[place // 2 % 5])
        pretend.out.mkdir()
        (pretend.out / "seed").write_text(f"{bytes(32).hex()}\n")
        return pretend

    return make


def journal(pretend: PretendClass) -> dict[str, list[tuple[object, ...]]]:
    """All that the journal has, without times and numbers of results, which follow the order of arrival."""
    kept = "author, exercise, files, judge, seed, machine, mistakes, confinement, outcomes"
    queries = {
        "runs": "SELECT id, options FROM runs",
        "submissions": "SELECT * FROM submissions ORDER BY author",
        "results": f"SELECT run, {kept} FROM results ORDER BY author, exercise, outcomes",
        "current": "SELECT c.author, c.exercise, c.run, r.outcomes FROM current c JOIN results r ON r.id = c.result"
        " ORDER BY c.author, c.exercise",
    }
    with sqlite3.connect(pretend.out / FILE) as opened:
        found = {name: opened.execute(query).fetchall() for name, query in queries.items()}
    opened.close()
    return found


def test_as_many_lanes_as_you_like(made: Made) -> None:
    """The journal and the gradebook of five lanes, of which some are slow, are those of one."""
    one, five = made("one"), made("five")
    luck = random.Random(3)

    def slow(exercise: str, check: str, source: bytes) -> Verdict:
        time.sleep(luck.uniform(0, 0.02))
        return Verdict(source.split()[0].decode())

    five.judge = slow
    first, second = one.grade(), five.grade(slots=5)
    assert first == second
    assert Counter(five.jobs) == Counter(one.jobs)
    assert journal(five) == journal(one)
    assert (five.out / "gradebook.csv").read_bytes() == (one.out / "gradebook.csv").read_bytes()


def test_a_slow_submission_holds_nobody_up(made: Made) -> None:
    """While one is waited for, the others are graded and told."""
    pretend = made("slow")
    told_meanwhile: list[str] = []

    def waits(exercise: str, check: str, source: bytes) -> Verdict:
        until = time.monotonic() + 30
        while b"author0" in source and len(pretend.told) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        told_meanwhile[:] = told_meanwhile or (list(pretend.told) if b"author0" in source else [])
        return Verdict.PASSED

    pretend.judge = waits
    pretend.grade(slots=3)
    assert len(told_meanwhile) >= 4


def test_few_submissions_are_read_ahead(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large a class is, no more of it is in memory than lanes need."""
    pretend = made("large")
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
