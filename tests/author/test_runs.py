"""What ran once is not run again, and a run is known by all that decides it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import FORK

from grader.author import runs as running
from grader.author.cases import Case
from grader.author.runs import Runs
from grader.course.answers import Answer
from grader.model import Course
from grader.runner.lane import Lane

SOURCE = b"def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    return x.mul_(2)\n\n\ntotal = sum\n"
ANSWER = Answer(Path("answer.py"), SOURCE, "", "")


def test_a_run_is_known_by_all_that_decides_it(tiny: Course, fork_lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    """One text in the place of two exercises is two runs, and so is whatever else may change a report."""
    double, total = tiny.exercises
    runs, case = Runs(tiny, FORK), Case(double, "right", ANSWER, 0)
    others = [
        replace(case, exercise=total),
        replace(case, exercise=replace(double, points=double.points + 100)),
        replace(case, kind="wrong"),
        replace(case, answer=replace(ANSWER, source=SOURCE + b"\n")),
        replace(case, seed=1),
        replace(case, busy=True),
    ]
    graded = runs.run(case, fork_lane)
    assert [runs.new([each]) for each in (case, *others)] == [0, 1, 1, 1, 1, 1, 1]
    assert runs.run(replace(case), fork_lane) is graded
    found = [graded, runs.run(others[0], fork_lane)]
    assert [each.exercise.id for each in found] == ["double", "total"]

    # Changed checks judge anew; the other exercise is not touched by that.
    monkeypatch.setattr(running, "judge_of", lambda exercise: f"another judge of {exercise.id}")
    runs.judged_by([double])
    assert [runs.new([case]), runs.new([others[0]])] == [1, 0]
