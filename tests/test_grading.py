"""Inconclusive checks are repeated, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import COURSES, FORK

from grader.course.load import load_course
from grader.course.names import find_exercises
from grader.grading.grade import Sheet, grade_submission, repeats
from grader.model import Check, Course, GradedExercise, Outcome, Report, Submission, Verdict
from grader.model.messages import ALL, Collected, Part
from grader.runner.lane import Lane, Run
from grader.runner.open import open_lane

INCONCLUSIVE, PASSED, FAILED = Verdict.INCONCLUSIVE, Verdict.PASSED, Verdict.FAILED


class PretendLane:
    """Gives the next of some verdicts for each check that it is asked for."""

    reached = type("Reached", (), {"level": None})

    def __init__(self, first: dict[str, Verdict], *later: Verdict) -> None:
        self._first = first
        self._later = list(later)
        self.asked: list[set[str]] = []
        self.collected = Collected(tuple(Check(id, "double", id) for id in first), {}, 1)

    def checks_of(self, exercise: Any) -> list[Check]:
        del exercise
        return list(self.collected.checks)

    def run(self, exercise: Any, files: Any, seed: int, folder: str = "", part: Part = ALL, **rest: Any) -> Run:
        del exercise, files, seed, folder
        if part.only is None:
            return Run([Outcome(id, verdict, seconds=2.0) for id, verdict in self._first.items()], "")
        self.asked.append(set(part.only))
        verdict = self._later.pop(0)
        return Run([Outcome(id, verdict, seconds=1.0) for id in sorted(part.only)], "")


@pytest.fixture
def sheet(tiny: Course) -> Sheet:
    """One exercise of the pretend course."""
    return Sheet(tiny, tiny.exercises[:1], FORK)


def graded(sheet: Sheet, lane: PretendLane) -> tuple[Report, Report]:
    """The report, and the one after what was inconclusive was repeated."""
    files, paths = {"double": {"double.py": b"x = 1"}}, {"double": Path("double.py")}
    submission = Submission("somebody", files, paths, {}, "")
    first = grade_submission(sheet, submission, lane)  # type: ignore[arg-type]
    return first, grade_submission(sheet, submission, lane, earlier=first.exercises)  # type: ignore[arg-type]


def outcomes(report: Report) -> list[Outcome]:
    return [row.outcome for row in report.exercises[0].checks]


def test_nothing_is_repeated_without_need(sheet: Sheet) -> None:
    """Decided outcomes stay as they are."""
    lane = PretendLane({"a": PASSED, "c": FAILED})
    first, again = graded(sheet, lane)
    assert not repeats(first)
    assert again.exercises == first.exercises
    assert lane.asked == []


def test_an_inconclusive_check_gets_its_later_verdict(sheet: Sheet) -> None:
    """Its seconds are those of all its runs; the order stays, and the others keep what they had."""
    lane = PretendLane({"a": PASSED, "b": INCONCLUSIVE, "c": FAILED}, PASSED)
    first, again = graded(sheet, lane)
    assert repeats(first)
    assert outcomes(again) == [outcomes(first)[0], Outcome("b", PASSED, seconds=3.0), outcomes(first)[2]]
    assert lane.asked == [{"b"}]
    assert not repeats(again)


def test_what_is_final_is_explained_once(sheet: Sheet) -> None:
    """Not while something is to be run again; what did not change keeps its sentence."""
    asked: list[int] = []

    def explain(graded: GradedExercise) -> GradedExercise:
        asked.append(len(graded.checks))
        return replace(graded, diagnosis="You tripled it.")

    submission = Submission("somebody", {"double": {"double.py": b"x = 1"}}, {"double": Path("double.py")}, {}, "")
    for verdict, times in ((FAILED, 0), (INCONCLUSIVE, 1)):
        lane: Any = PretendLane({"a": FAILED, "b": verdict}, PASSED)
        asked.clear()
        first = grade_submission(sheet, submission, lane, explain=explain)
        assert len(asked) == 1 - times
        again = grade_submission(sheet, submission, lane, earlier=first.exercises, explain=explain)
        assert len(asked) == 1
        assert again.exercises[0].diagnosis == "You tripled it."


def test_two_repeats_are_enough(sheet: Sheet) -> None:
    """What is inconclusive three times stays so."""
    lane = PretendLane({"a": PASSED, "b": INCONCLUSIVE}, INCONCLUSIVE, INCONCLUSIVE)
    _, again = graded(sheet, lane)
    assert [outcome.verdict for outcome in outcomes(again)] == [PASSED, INCONCLUSIVE]
    assert lane.asked == [{"b"}, {"b"}]


def test_nobody_fails_by_speed_at_once() -> None:
    """A slow function is inconclusive at first; where its check alone is asked for again, it fails."""
    (exercise,) = find_exercises(load_course(COURSES / "wall"), "total")
    exercise = replace(exercise, limits=replace(exercise.limits, exercise_s=240.0))
    slow = b"def total(x):\n    for _ in range(5000):\n        y = x.sum()\n    return y\n"
    with open_lane([exercise], FORK) as lane:
        first = {row.check: row for row in lane.run(exercise, {exercise.file_name: slow}, 0).outcomes}["speed"]
        (again,) = lane.run(
            exercise, {exercise.file_name: slow}, 0, part=Part(frozenset(["speed"]), again=True)
        ).outcomes
    assert (first.verdict, again.verdict) == (INCONCLUSIVE, FAILED)
    assert "to be confirmed" in first.message
    assert first.message.split(" is ")[0] == again.message.split(" is ")[0] == "`total`"


def test_a_lane_runs_only_what_is_asked(tiny: Course, fork_lane: Lane) -> None:
    """A job can name its checks; the others are not run and have no outcome."""
    exercise = tiny.exercises[0]
    files = {exercise.file_name: b"def double(x):\n    return 2 * x\n"}
    run = fork_lane.run(exercise, files, 0, part=Part(frozenset(["small", "dtype"])))
    assert [outcome.check for outcome in run.outcomes] == ["small", "dtype"]
    assert len(fork_lane.run(exercise, files, 0).outcomes) == 4
