"""One submission in several lanes: what is told is what one lane tells, in the same order."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from batch.pretend import Judge, PretendLane, by_words
from support import FORK

from grader.grading.diagnose import explainer
from grader.grading.grade import Sheet, grade_at_once
from grader.grading.known import Known
from grader.grading.together import grade_together, lanes_for
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, GradedExercise, Report, Submission, Verdict
from grader.model.errors import StartError
from grader.runner.pool import Pool, Stopped, cores

WORDS = ("passed", "inconclusive", "failed", "passed", "timed_out", "inconclusive")


@pytest.fixture
def class_of_one(tiny: Course, tmp_path: Path) -> tuple[Sheet, Submission]:
    """A submission of six exercises, of which two are inconclusive at first."""
    blank = tiny.exercises[1]
    exercises = [replace(blank, id=f"ex{number}", starter_digest="0") for number in range(len(WORDS))]
    for exercise, word in zip(exercises, WORDS, strict=True):
        (tmp_path / exercise.file_name).write_text(word)
    return Sheet(tiny, exercises, FORK), read_submission(tmp_path, exercises, "somebody")


def opened(exercises: list[Exercise], judge: Judge = by_words) -> Pool:
    """Three pretend lanes."""
    return Pool(lambda: PretendLane(exercises, judge), 3)  # type: ignore[arg-type,return-value]


def test_the_report_is_that_of_one_lane(class_of_one: tuple[Sheet, Submission]) -> None:
    """Exercises are told in order, those that were inconclusive last, and a report has the same in it."""
    sheet, submission = class_of_one
    told: dict[str, list[str]] = {"one": [], "three": []}

    def slow(exercise: str, check: str, source: bytes) -> Verdict:
        time.sleep(0.03 if exercise == "ex0" else 0)
        return by_words(exercise, check, source)

    def one(graded: GradedExercise) -> None:
        told["one"].append(graded.exercise.id)

    def three(graded: GradedExercise) -> None:
        told["three"].append(graded.exercise.id)

    lane = PretendLane(list(sheet.exercises))
    explain = explainer(submission, sheet.setup, lane, Known(sheet.setup))  # type: ignore[arg-type]
    expected = grade_at_once(sheet, submission, lane, explain=explain, on_exercise=one)  # type: ignore[arg-type]
    assert [bool(graded.behaviour) for graded in expected.exercises] == [word == "failed" for word in WORDS]
    with closing(opened(list(sheet.exercises), slow)) as pool:
        report = grade_together(sheet, submission, pool, Known(sheet.setup), three, lambda done, total: None)
    assert plain(report) == plain(expected)
    assert told["three"] == told["one"] == ["ex0", "ex2", "ex3", "ex4", "ex1", "ex5"]


def plain(report: Report) -> Report:
    """The report without its time."""
    return replace(report, graded_at="")


def test_what_is_open_is_graded_alone(class_of_one: tuple[Sheet, Submission]) -> None:
    """While it is measured again no other lane is at work."""
    sheet, submission = class_of_one
    busy, most = [0], [0]
    lock = threading.Lock()
    seen: list[str] = []

    def counted(exercise: str, check: str, source: bytes) -> Verdict:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
            seen.append(exercise)
            if seen.count(exercise) > 2:  # both checks were asked before
                assert busy[0] == 1
        time.sleep(0.01)
        with lock:
            busy[0] -= 1
        return by_words(exercise, check, source)

    with closing(opened(list(sheet.exercises), counted)) as pool:
        grade_together(sheet, submission, pool, Known(sheet.setup), lambda graded: None, lambda done, total: None)
    assert most[0] > 1
    assert seen.count("ex1") == 6


def test_a_lane_is_opened_for_several_exercises(class_of_one: tuple[Sheet, Submission]) -> None:
    """Few exercises get one lane, as another would take longer to start; so does whoever stops at the first."""
    sheet, submission = class_of_one
    assert lanes_for(sheet, submission) == 1
    assert lanes_for(replace(sheet, stops=True), submission) == 1
    many = replace(sheet, exercises=[*sheet.exercises] * 40)
    assert lanes_for(many, submission) == len(cores())


def test_a_closed_pool_ends_what_runs(class_of_one: tuple[Sheet, Submission]) -> None:
    """What waits is cancelled, what runs is ended at its next look, and lanes that failed are not used again."""
    sheet, _ = class_of_one
    lanes: list[object] = []
    pool = opened(list(sheet.exercises))

    def runs(lane: object) -> None:
        lanes.append(lane)
        while True:
            lane.watch("something", 1.0)  # type: ignore[attr-defined]
            time.sleep(0.01)

    def fails(lane: object) -> None:
        lanes.append(lane)
        raise ValueError("no")

    failed = pool.submit(fails)
    with pytest.raises(ValueError, match="no"):
        failed.result()
    running = [pool.submit(runs) for _ in range(3)]
    waiting = pool.submit(runs)
    while len(lanes) < 4:
        time.sleep(0.01)
    pool.close()
    assert [type(future.exception()) for future in running] == [Stopped] * 3
    assert waiting.cancelled()
    assert len(set(map(id, lanes))) == 4


def test_a_lane_that_does_not_start_is_tried_again(class_of_one: tuple[Sheet, Submission]) -> None:
    """A process that was ended from outside costs nobody anything; a third one that does not start is told."""
    sheet, _ = class_of_one
    with closing(opened(list(sheet.exercises))) as pool:
        for most, told in ((2, "done"), (3, "no process")):
            failures: list[str] = []

            def work(lane: object, most: int = most, failures: list[str] = failures) -> str:
                if len(failures) < most:
                    failures.append("failed")
                    raise StartError("no process")
                return "done"

            future = pool.submit(work)
            assert str(future.exception() or future.result()) == told
