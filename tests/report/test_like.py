"""A run like that of a report: what both have in common, and what not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support import InLane

from grader.grading.plan import RunPlan
from grader.grading.schedule import grade_submission
from grader.intake.collect import read_submission
from grader.model import Course
from grader.model.errors import CourseError
from grader.model.messages import Setup, Start
from grader.report.read import report_from
from grader.report.repeat import differences, exercises_like, read_like
from grader.report.schema import report_json
from grader.runner.lane import Lane


def test_a_run_is_repeated(tiny: Course, fork_lane: Lane, tmp_path: Path) -> None:
    """With its seed and author all checks end as they did; what changed since is told, and no limit is its."""
    (tmp_path / "double.py").write_text("def double(x):\n    return 2 * x\n")
    submission = read_submission(tmp_path, tiny.exercises, "ada")
    first = grade_submission(RunPlan(tiny, tiny.exercises, Setup(Start.FORK, seed=7)), submission, InLane(fork_lane))
    plain = json.loads(report_json(first))
    plain["exercises"][0]["limits"] |= {"call_s": 3.5, "memory_mb": 512, "of_a_later_version": 1}
    plain["environment"]["torch"] = "2.0"
    plain["exercises"][0]["checks"][0]["verdict"] = "failed"
    (tmp_path / "r.json").write_text(json.dumps(plain))
    earlier, seed = read_like(tmp_path / "r.json")
    assert seed == 7
    assert exercises_like(earlier, tiny.exercises) == list(tiny.exercises)
    again = grade_submission(RunPlan(tiny, tiny.exercises, Setup(Start.FORK, seed=seed)), submission, InLane(fork_lane))
    assert list(differences(earlier, again)) == [
        f"torch: 2.0 then, {first.environment.torch} now",
        "double: the limit call_s was 3.5, and is 2 now",
        "double: the limit memory_mb was 512, and is 2048 now",
        "double, Doubles three numbers: failed then, passed now",
    ]
    same = list(differences(report_from(report_json(first), "r"), replace(again, digest="")))
    assert same == [
        "The files differ from those of that report, or other exercises were graded.",
        "All 6 checks of both runs have the same verdicts as then.",
    ]


def test_what_cannot_be_repeated_is_reported(tiny: Course, tmp_path: Path) -> None:
    """A batch's inputs come from a secret; and a report of other exercises is not of these."""
    plain = {"version": 1, "course": "c", "author": "a", "digest": "", "graded_at": "", "exercises": []}
    plain |= {"score": {"earned": 0, "possible": 0, "undecided": 0}, "environment": {"seed": None}}
    (tmp_path / "r.json").write_text(json.dumps(plain))
    with pytest.raises(CourseError, match="come from a secret that no report contains"):
        read_like(tmp_path / "r.json")
    with pytest.raises(CourseError, match="lacks these exercises; it has none"):
        exercises_like(report_from(json.dumps(plain), "r"), tiny.exercises)
