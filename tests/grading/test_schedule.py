"""One scheduler: what it repeats, and when; results in order; lanes that end, and lanes that do not start."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batch.pretend import Judge, PretendLane, by_words
from support import COURSES, FORK, InLane, Noted, not_needed, open_lane

from grader.course.load import find_exercises, load_course
from grader.grading.diagnosis import KnownMistakes
from grader.grading.lanes import lanes_for
from grader.grading.outcomes import WorkResult
from grader.grading.plan import RunPlan, Work
from grader.grading.runtime import Processes, Runtime
from grader.grading.schedule import grade_submission, schedule
from grader.intake.collect import read_submission
from grader.model import Check, Course, Outcome, Report, Submission, Verdict
from grader.model.errors import StartError
from grader.model.messages import ALL, CheckSelection, Collected
from grader.model.progress import Cancel, Cancelled, Progress
from grader.model.report import ExerciseFiles
from grader.runner.lane import JobResult
from grader.runner.pool import usable_cores
from grader.runner.worker_source import WorkerSource

pytestmark = pytest.mark.lane

INCONCLUSIVE, PASSED, FAILED, BROKEN = Verdict.INCONCLUSIVE, Verdict.PASSED, Verdict.FAILED, Verdict.BROKEN
WORDS = ("passed", "inconclusive", "failed", "passed", "timed_out", "inconclusive")


class ScriptedLane:
    """Gives the first verdicts for a whole run, then one of the later ones for each repeat."""

    reached = type("ReachedLevel", (), {"level": type("Level", (), {"word": "full"})})

    def __init__(self, first: dict[str, Verdict], *later: Verdict, starved: bool = False) -> None:
        self.progress, self.cancel = Progress(), Cancel()
        self.repeats: list[set[str] | None] = []
        self.collected = Collected(tuple(Check(id, "double", id) for id in first), {}, 1)
        self._first = first
        self._later = list(later)
        self._starved = starved

    def checks_of(self, exercise: Any) -> list[Check]:
        return list(self.collected.checks)

    def run(
        self, exercise: Any, files: Any, seed: int, folder: str = "", selection: CheckSelection = ALL, **rest: Any
    ) -> JobResult:
        self.repeats.append(None if selection.only is None else set(selection.only))
        if selection.only is None:
            starved, self._starved = self._starved, False
            outcomes = [Outcome(id, verdict, seconds=2.0) for id, verdict in self._first.items()]
            return JobResult(outcomes, "", starved=starved)
        verdict = self._later.pop(0)
        return JobResult([Outcome(id, verdict, seconds=1.0) for id in sorted(selection.only)], "")


def finished_in(tiny: Course, lane: ScriptedLane, slots: int = 2) -> list[WorkResult]:
    """All that the scheduler reports of one exercise."""
    submission = Submission("a", {"double": ExerciseFiles({"double.py": b"x = 1"}, Path("double.py"))})
    plan = RunPlan(tiny, tiny.exercises[:1], FORK)
    executor = InLane(lane)  # type: ignore[arg-type]
    executor.slots = slots
    return list(schedule([Work(plan, tiny.exercises[0], submission)], executor))


def outcomes(finished: WorkResult) -> list[Outcome]:
    return [row.outcome for row in finished.graded.checks]


def test_nothing_is_repeated_without_need(tiny: Course) -> None:
    """A decided result is final at once; a broken one is graded a second time, whole."""
    lane = ScriptedLane({"a": PASSED, "c": FAILED})
    (only,) = finished_in(tiny, lane)
    assert (only.final, lane.repeats) == (True, [None])
    lane = ScriptedLane({"a": BROKEN})
    assert [one.final for one in finished_in(tiny, lane)] == [False, True]
    assert lane.repeats == [None, None]


def test_an_inconclusive_check_gets_its_later_verdict(tiny: Course) -> None:
    """Its seconds are those of all its runs, others keep what they had; inconclusive three times, it stays so."""
    lane = ScriptedLane({"a": PASSED, "b": INCONCLUSIVE, "c": FAILED}, PASSED)
    first, last = finished_in(tiny, lane)
    assert (first.final, last.final) == (False, True)
    assert outcomes(last) == [outcomes(first)[0], Outcome("b", PASSED, seconds=3.0), outcomes(first)[2]]
    assert lane.repeats == [None, {"b"}]
    lane = ScriptedLane({"a": PASSED, "b": INCONCLUSIVE}, INCONCLUSIVE, INCONCLUSIVE)
    assert [outcome.verdict for outcome in outcomes(finished_in(tiny, lane)[-1])] == [PASSED, INCONCLUSIVE]
    assert lane.repeats == [None, {"b"}, {"b"}]


@pytest.mark.parametrize(("slots", "runs"), [(2, [None, None]), (1, [None])])
def test_what_was_late_is_graded_again(tiny: Course, slots: int, runs: list[None]) -> None:
    """From the beginning, where other lanes may have been the reason."""
    lane = ScriptedLane({"a": Verdict.TIMED_OUT}, starved=True)
    assert [one.final for one in finished_in(tiny, lane, slots)] == [False, True][-slots:]
    assert lane.repeats == runs


def test_nobody_fails_by_speed_at_once() -> None:
    """A slow function is inconclusive at first; when its check is repeated alone, it fails."""
    (exercise,) = find_exercises(load_course(COURSES / "wall"), "total")
    exercise = replace(exercise, limits=replace(exercise.limits, exercise_s=240.0))
    slow = {exercise.file_name: b"def total(x):\n    for _ in range(200):\n        y = x.sum()\n    return y\n"}
    speed = CheckSelection(frozenset(["speed"]))
    with open_lane([exercise], FORK) as lane:
        (first,) = lane.run(exercise, slow, 0, selection=speed).outcomes
        (last,) = lane.run(exercise, slow, 0, selection=replace(speed, again=True)).outcomes
    assert (first.verdict, last.verdict) == (INCONCLUSIVE, FAILED)
    assert "to be confirmed" in first.message
    assert first.message.split(" is ")[0] == last.message.split(" is ")[0] == "`total`"


@pytest.fixture
def class_of_one(tiny: Course, tmp_path: Path) -> tuple[RunPlan, Submission]:
    """A submission of six exercises, of which two are inconclusive at first."""
    blank = tiny.exercises[1]
    exercises = [replace(blank, id=f"ex{number}", starter_digest="0") for number in range(len(WORDS))]
    for exercise, word in zip(exercises, WORDS, strict=True):
        (tmp_path / exercise.file_name).write_text(word)
    return RunPlan(tiny, exercises, FORK), read_submission(tmp_path, exercises, "somebody")


def opened(plan: RunPlan, judge: Judge = by_words) -> Runtime:
    """Three pretend lanes."""
    lane: Any = lambda exercises, *_: PretendLane(exercises, judge)  # noqa: E731
    processes = Processes(not_needed, lambda *_: WorkerSource(), lane)
    return Runtime(plan.exercises, plan.setup, 3, known=KnownMistakes(plan.setup), processes=processes)


def test_the_report_is_that_of_one_lane(class_of_one: tuple[RunPlan, Submission]) -> None:
    """Exercises are reported in order, repeated ones last; the report is the same, and what is final is explained."""
    plan, submission = class_of_one

    def slow(exercise: str, check: str, source: bytes) -> Verdict:
        time.sleep(0.03 if exercise == "ex0" else 0)
        return by_words(exercise, check, source)

    def report(executor: Any) -> tuple[Report, list[str]]:
        executor.progress = told = Noted()
        found = grade_submission(plan, submission, executor)
        return replace(found, graded_at=""), [graded.exercise.id for graded in told.exercises]

    lane: Any = PretendLane(list(plan.exercises))
    expected = report(InLane(lane, KnownMistakes(plan.setup)))
    assert [bool(graded.behaviours) for graded in expected[0].exercises] == [word == "failed" for word in WORDS]
    with opened(plan, slow) as runtime:
        assert report(runtime) == expected
    assert expected[1] == ["ex0", "ex2", "ex3", "ex4", "ex1", "ex5"]


def test_what_is_repeated_runs_alone(class_of_one: tuple[RunPlan, Submission]) -> None:
    """While it is measured again no other lane works."""
    plan, submission = class_of_one
    busy, most = [0], [0]
    lock = threading.Lock()
    seen: list[str] = []

    def counted(exercise: str, check: str, source: bytes) -> Verdict:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
            seen.append(exercise)
            if seen.count(exercise) > 2:  # both checks ran before
                assert busy[0] == 1
        time.sleep(0.01)
        with lock:
            busy[0] -= 1
        return by_words(exercise, check, source)

    with opened(plan, counted) as runtime:
        grade_submission(plan, submission, runtime)
    assert most[0] > 1
    assert seen.count("ex1") == 6


def test_a_lane_is_opened_for_several_exercises(class_of_one: tuple[RunPlan, Submission]) -> None:
    """Few exercises get one lane, as another would take longer to start; so does a run that stops at the first."""
    plan, submission = class_of_one
    assert lanes_for(plan, submission) == 1
    assert lanes_for(replace(plan, stops=True), submission) == 1
    assert lanes_for(replace(plan, exercises=[*plan.exercises] * 40), submission) == len(usable_cores())


def test_a_closed_runtime_ends_what_runs(class_of_one: tuple[RunPlan, Submission]) -> None:
    """What waits is cancelled, what runs is ended at its next look, and lanes that failed are not used again."""
    lanes: list[object] = []
    runtime: Any = opened(class_of_one[0])

    def runs(lane: object) -> None:
        lanes.append(lane)
        while True:
            lane.cancel.raise_if_cancelled()  # type: ignore[attr-defined]
            time.sleep(0.01)

    def fails(lane: object) -> None:
        lanes.append(lane)
        raise ValueError("no")

    failed = runtime.call_in_lane(fails)
    with pytest.raises(ValueError, match="no"):
        failed.result()
    running = [runtime.call_in_lane(runs) for _ in range(3)]
    waiting = runtime.call_in_lane(runs)
    while len(lanes) < 4:
        time.sleep(0.01)
    runtime.close()
    assert [type(future.exception()) for future in running] == [Cancelled] * 3
    assert waiting.cancelled()
    assert len(set(map(id, lanes))) == 4


def test_a_lane_that_does_not_start_is_tried_again(class_of_one: tuple[RunPlan, Submission]) -> None:
    """A process that was ended from outside costs nobody anything; a third one that does not start is an error."""
    with opened(class_of_one[0]) as runtime:
        for most, expected in ((2, "done"), (3, "no process")):
            failures: list[str] = []

            def work(lane: object, most: int = most, failures: list[str] = failures) -> str:
                if len(failures) < most:
                    failures.append("failed")
                    raise StartError("no process")
                return "done"

            future = runtime.call_in_lane(work)
            assert str(future.exception() or future.result()) == expected
