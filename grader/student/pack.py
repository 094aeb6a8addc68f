"""A hand-in as one zip: which files it has, what is wrong with them, and the receipt."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from grader.course.layout import Places
from grader.grading.lanes import open_lanes
from grader.grading.plan import RunPlan
from grader.grading.submission import grade_submission
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, HandIn, Report, Submission
from grader.model.errors import CourseError
from grader.model.files import write_whole, zip_bytes
from grader.model.messages import Setup
from grader.report.safe import for_terminal
from grader.student.receipt import Receipt

_RECEIPT = ".receipt.txt"


def the_handin(course: Course) -> HandIn | None:
    """The hand-in of a course that has one; None for a course without any.

    Raises:
        CourseError: the course has several.
    """
    if len(course.handins) > 1:
        raise CourseError(f"say which hand-in: --handin {' or '.join(handin.id for handin in course.handins)}")
    return course.handins[0] if course.handins else None


def pack(
    course: Course, handin: HandIn | None, setup: Setup, out: Path, running: Callable[[str, float], None]
) -> Receipt:
    """The zip of a hand-in, with what is wrong with it: it is graded, as only that shows whether a file loads.

    Args:
        course: in the student's folder.
        handin: whose exercises are packed; None for all.
        setup: of the run.
        out: the folder that the zip will be written to.
        running: receives what is running, and for how many seconds.

    Raises:
        CourseError: there is nothing to pack, or nothing can be written to the folder.
    """
    if not out.is_dir():
        raise CourseError(f"--out: there is no folder {out}; make it first")
    if not os.access(out, os.W_OK):
        raise CourseError(f"nothing can be written into {out.resolve()}; name another folder with --out")
    exercises = [exercise for exercise in course.exercises if handin is None or exercise.id in handin.exercises]
    submission = read_submission(course.root, exercises, author=course.root.resolve().name)
    files = packed_files(submission, exercises)
    if not files:
        raise CourseError(f"there is nothing to pack: {'; '.join(submission.problems.values())}")
    plan = RunPlan(course, exercises, setup, handin=handin.id if handin else None)
    with open_lanes(plan.to_run(submission), setup, watch=running) as lanes:
        report = grade_submission(plan, submission, lanes)
    name = handin.id if handin else re.sub(r"\W+", "_", course.title).strip("_").lower() or "handin"
    return Receipt(f"{name}.zip", zip_bytes(files), files, report, tuple(_problems(submission, report)))


def packed_files(submission: Submission, exercises: Sequence[Exercise]) -> dict[str, bytes]:
    """The files that grading reads of a submission, each at its place in the course."""
    return {
        (Places.of(exercise).shown / name).as_posix(): data
        for exercise in exercises
        for name, data in submission.files.get(exercise.id, {}).items()
    }


def _problems(submission: Submission, report: Report) -> Iterator[str]:
    """A sentence for each exercise that had better not be handed in as it is."""
    for graded in report.exercises:
        exercise = graded.exercise
        at_load = [row.outcome.message for row in graded.checks if row.outcome.cause == "load"]
        if missing := submission.problems.get(exercise.id):
            text = missing
        elif exercise.id in submission.untouched:
            text = "nobody has changed it yet; it earns 0"
        elif at_load:
            text = at_load[0]
        else:
            continue
        yield for_terminal(f"{exercise.number} {exercise.id}: {text}")


def write_zip(receipt: Receipt, out: Path) -> Path:
    """Write the zip and its receipt into a folder; the path of the receipt.

    Raises:
        CourseError: they cannot be written.
    """
    path = out / receipt.name
    try:
        write_whole(path, receipt.archive)
        write_whole(path.with_suffix(_RECEIPT), receipt.text())
    except OSError as error:
        raise CourseError(f"{path} could not be written ({error.strerror}); name another folder with --out") from None
    return path.with_suffix(_RECEIPT)
