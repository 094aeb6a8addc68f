"""`grade pack`: one zip to hand in, once all of its files are there and load."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import confinement_option, device_option, read_setup, start_option
from grader.cli.telling import Say, course_and_exercises, handin_of, told_errors

if TYPE_CHECKING:
    from grader.grading.grade import Sheet
    from grader.model import Course, HandIn, Report, Submission
    from grader.report.receipt import Receipt

NOT_PACKED = 1
RECEIPT = ".receipt.txt"


@click.command()
@click.option("--handin", metavar="HANDIN", help="Which hand-in; may be left out where the course has one.")
@click.option("--out", default=".", type=click.Path(path_type=Path), help="Where the zip goes; by default this folder.")
@click.option("--force", is_flag=True, help="Pack what there is, also if something is missing or does not load.")
@click.option("-q", "--quiet", is_flag=True, help="Print only where the zip is, and what is wrong.")
@confinement_option("none")
@device_option
@start_option
def command(
    handin: str | None, out: Path, force: bool, quiet: bool, confinement: str, device: str, start: str | None
) -> None:
    """Pack the files of a hand-in into one zip, and print a receipt."""
    say, details = Say(), Say(quiet=quiet)
    details("Packing ...")
    with told_errors():
        from grader.grading.grade import Sheet
        from grader.intake.collect import read_submission
        from grader.intake.pack import packed_files
        from grader.intake.zipped import zip_bytes
        from grader.model.errors import CourseError
        from grader.report.receipt import Receipt

        course, exercises = course_and_exercises(())
        chosen = _chosen(course, handin)
        if chosen is not None:
            exercises = [exercise for exercise in exercises if exercise.id in chosen.exercises]
        _can_write(out)
        submission = read_submission(course.root, exercises, author=course.root.resolve().name)
        files = packed_files(submission, exercises)
        if not files:
            raise CourseError(f"there is nothing to pack: {'; '.join(submission.problems.values())}")
        sheet = Sheet(course, exercises, read_setup(start, device, confinement), handin=chosen.id if chosen else None)
        report = _graded(sheet, submission, details)
        problems = tuple(_problems(sheet, submission, report))
        say(*problems)
        if problems and not force:
            say("", "Nothing was packed. Mend this, or pack what there is:", "  grade pack --force")
            sys.exit(NOT_PACKED)
        name = _name(course, chosen)
        receipt = Receipt(f"{name}.zip", zip_bytes(files), files, report, problems)
        _write(out, receipt)
        details(*receipt.lines(), f"The receipt is in {out / (name + RECEIPT)}")
        say(str(out / receipt.name) if quiet else f"Hand in  {out / receipt.name}")


def _chosen(course: Course, name: str | None) -> HandIn | None:
    from grader.model.errors import CourseError

    if name is None and len(course.handins) > 1:
        raise CourseError(f"say which hand-in: --handin {' or '.join(handin.id for handin in course.handins)}")
    return handin_of(course, name) if name is not None or not course.handins else course.handins[0]


def _name(course: Course, handin: HandIn | None) -> str:
    return handin.id if handin else re.sub(r"\W+", "_", course.title).strip("_").lower() or "handin"


def _can_write(out: Path) -> None:
    """Say so before anything is run."""
    from grader.model.errors import CourseError

    if not out.is_dir():
        raise CourseError(f"--out: there is no folder {out}; make it first")
    if not os.access(out, os.W_OK):
        raise CourseError(f"nothing can be written into {out.resolve()}; name another folder with --out")


def _graded(sheet: Sheet, submission: Submission, say: Say) -> Report:
    """Graded as ever: that a file loads is found out where students' code runs."""
    from grader.grading.grade import grade_at_once
    from grader.runner.open import open_lane

    to_run = sheet.to_run(submission)
    if not to_run:
        return grade_at_once(sheet, submission, None)
    with open_lane(to_run, sheet.setup) as lane:
        lane.watch = say.running
        return grade_at_once(sheet, submission, lane)


def _problems(sheet: Sheet, submission: Submission, report: Report) -> Iterator[str]:
    """A sentence for each exercise that had better not be handed in as it is."""
    from grader.grading.grade import is_untouched
    from grader.report.safe import for_terminal

    for graded in report.exercises:
        exercise = graded.exercise
        at_load = [row.outcome.message for row in graded.checks if row.outcome.cause == "load"]
        if missing := submission.problems.get(exercise.id):
            text = missing
        elif is_untouched(exercise, submission):
            text = "nobody has changed it yet; it earns 0"
        elif at_load:
            text = at_load[0]
        else:
            continue
        yield for_terminal(f"{exercise.number} {exercise.id}: {text}")


def _write(out: Path, receipt: Receipt) -> None:
    from grader.model.errors import CourseError
    from grader.model.files import write_whole

    path = out / receipt.name
    try:
        write_whole(path, receipt.archive)
        write_whole(path.with_suffix(RECEIPT), receipt.text())
    except OSError as error:
        raise CourseError(f"{path} could not be written ({error.strerror}); name another folder with --out") from None
