"""What goes to another machine, and what comes of it there."""

from __future__ import annotations

import stat
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import FORK

from grader.batch.order import is_broken
from grader.cluster.machine import Machine, asked_of, this_machine, vectors_of
from grader.cluster.parcel import Parcel, digest_of
from grader.cluster.pending import Pending
from grader.cluster.station import Station
from grader.grading.grade import Sheet, grade_at_once
from grader.grading.graded import from_told
from grader.grading.keys import Keys
from grader.grading.work import Answer, Work
from grader.intake.collect import read_submission
from grader.model import Course, Submission
from grader.model.errors import StartError
from grader.runner.lane import Lane

MACHINE = Machine("0.1.0 (abc)", "3.11.7", "2.13.0", "2.4.6", "x86_64", "AVX2")


@pytest.fixture
def submission(tiny: Course, tmp_path: Path) -> Submission:
    """One that is half right."""
    (tmp_path / "double.py").write_text("def double(x):\n    return x + x\n")
    (tmp_path / "total.py").write_text("def total(x):\n    return x.sum() + 1\n")
    return read_submission(tmp_path, tiny.exercises, "ada")


def test_a_parcel_holds_all_that_is_judged_by(tiny: Course, tmp_path: Path, submission: Submission) -> None:
    """Unpacked, its exercises have the digests of the course's: checks, limits, references, known wrong answers."""
    sheet = Sheet(tiny, tiny.exercises, replace(FORK, secret=b"s"), handin="week1")
    sent = Parcel.of(sheet).to_bytes()
    there = Parcel.from_bytes(sent).unpack(tmp_path / "there")
    assert (there.setup, there.handin, there.course.title) == (sheet.setup, "week1", tiny.title)
    mine, theirs = Keys(sheet.setup, sheet.exercises), Keys(there.setup, there.exercises)
    for own, other in zip(sheet.exercises, there.exercises, strict=True):
        assert theirs.of(submission, other) == mine.of(submission, own)
        assert other.hidden_checks is None or other.hidden_checks.is_relative_to(tmp_path / "there")
        assert other.closed[0] == tmp_path / "there"
    assert digest_of(sent) == digest_of(Parcel.of(sheet).to_bytes())
    assert digest_of(sent) != digest_of(Parcel.of(replace(sheet, handin=None)).to_bytes())


def test_a_station_grades_like_a_lane_here(
    tiny: Course, tmp_path: Path, submission: Submission, fork_lane: Lane
) -> None:
    """It unpacks the course for nobody else to read, finds what is found here, and leaves nothing."""
    exercises = [exercise for exercise in tiny.exercises if exercise.id in ("double", "total")]
    sheet = Sheet(tiny, exercises, FORK)
    expected = grade_at_once(sheet, submission, fork_lane).exercises
    place = tmp_path / "place"
    place.mkdir()
    station = Station(Parcel.of(sheet).to_bytes(), this_machine(FORK), 1, place)
    station.open()
    try:
        (folder,) = place.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        answers = [
            Answer.from_json(station.grade(Work.of(exercise.id, submission).to_bytes())) for exercise in exercises
        ]
    finally:
        station.close()
    found = [from_told(exercise, answer.told) for exercise, answer in zip(exercises, answers, strict=True)]
    assert [(graded.score, graded.diagnosis) for graded in found] == [
        (graded.score, graded.diagnosis or found[place].diagnosis) for place, graded in enumerate(expected)
    ]
    assert list(place.iterdir()) == []
    with pytest.raises(StartError, match="its lanes are closed"):
        station.grade(b"")


def test_a_machine_that_differs(tiny: Course, tmp_path: Path) -> None:
    """It is refused before anything is unpacked, with what it has and what is asked for."""
    asked = replace(this_machine(FORK), torch="1.0", vectors="none")
    station = Station(Parcel.of(Sheet(tiny, tiny.exercises, FORK)).to_bytes(), asked, 1, tmp_path)
    with pytest.raises(StartError, match=r"it has PyTorch \S+, where 1\.0 is asked for; vector instructions of") as no:
        station.open()
    assert "Python" not in str(no.value)
    assert list(tmp_path.iterdir()) == []


def test_what_is_asked_of_machines() -> None:
    """All is that of the machine where the batch is started, but the vector instructions that most machines have."""
    wide = replace(MACHINE, vectors="AVX-512")
    assert asked_of(MACHINE, [wide, MACHINE, wide]) == wide
    assert asked_of(MACHINE, []) == MACHINE
    assert MACHINE.why_not(MACHINE) == []
    assert replace(MACHINE, grader="0.1.0 (def)").why_not(MACHINE) == [
        "tensorgrade 0.1.0 (def), where 0.1.0 (abc) is asked for"
    ]
    flags = "fma avx2 avx512f avx512bw avx512dq avx512vl"
    found = [vectors_of(set(text.split())) for text in (flags, "avx2 fma", "fma sse4_2", "asimd sve", "asimd")]
    assert found == ["AVX-512", "AVX2", "plain", "SVE", "plain"]


class Away:
    """Futures of a cluster's, which a test ends."""

    def __init__(self, course: Course) -> None:
        self.sent: list[Future[bytes]] = []
        exercises = {exercise.id: exercise for exercise in course.exercises}
        self.pending = Pending(self._send, lambda error: isinstance(error, ConnectionError), exercises)

    def _send(self, work: bytes) -> Future[bytes]:
        self.sent.append(Future())
        return self.sent[-1]


def test_what_becomes_of_work_that_is_away(tiny: Course, submission: Submission) -> None:
    """An answer is an answer, an error an error; lost too often it is broken, and a lost cluster ends the run."""
    away = Away(tiny)
    work = Work.of("double", submission).to_bytes()
    futures = [away.pending.submit(work) for _ in range(4)]
    ends: list[Any] = [b"answer", ValueError("a defect"), ConnectionError("lost")]
    for future, end in zip(away.sent, ends, strict=False):
        if isinstance(end, bytes):
            future.set_result(end)
        else:
            future.set_exception(end)
    away.sent[3].cancel()
    away.sent[3].set_running_or_notify_cancel()
    assert futures[0].result(0) == b"answer"
    assert isinstance(futures[1].exception(0), ValueError)
    answer = Answer.from_json(futures[2].result(0))
    graded = from_told(next(item for item in tiny.exercises if item.id == "double"), answer.told)
    assert is_broken(graded)
    assert (graded.score.earned, graded.score.undecided) == (0, graded.score.possible)
    assert "the same command goes on from there" in str(futures[3].exception(0))
    assert len(away.pending) == 0


def test_work_that_is_sent_again(tiny: Course, submission: Submission) -> None:
    """What comes of the first sending counts no more; of what is given up at the end nobody is told."""
    away = Away(tiny)
    future = away.pending.submit(b"work")
    away.pending.send_again()
    assert away.sent[0].cancelled()
    away.sent[0].set_running_or_notify_cancel()
    assert not future.done()
    away.sent[1].set_result(b"second")
    assert future.result(0) == b"second"
    left = away.pending.submit(b"work")
    away.pending.fail()
    assert not left.done()
    assert away.sent[2].cancelled()
