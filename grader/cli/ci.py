"""`grade ci`: grade a checkout in a CI job, and report in every format asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.grade import POINTS_LOST, UNDECIDED
from grader.cli.options import (
    confinement_option,
    device_option,
    format_option,
    hidden_option,
    points_option,
    read_setup,
    secret_option,
    seed_option,
    staff_option,
    start_option,
)
from grader.cli.telling import Say, handin_of, told_errors

if TYPE_CHECKING:
    from grader.ci.checkout import Checkout
    from grader.ci.platform import Platform
    from grader.grading.plan import RunPlan
    from grader.model import Report, Submission
    from grader.model.messages import Setup
    from grader.report.export.checked import Options, Visibility
    from grader.report.schema import ReportFile

    Formats = tuple[tuple[str, str], ...]

NEVER = "never"


class _Threshold(click.ParamType[float | None]):
    """A percentage, or `never`."""

    name = "PERCENT|never"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """The percentage; None for never."""
        if value is None or value == NEVER:
            return None
        try:
            percent = float(value)
        except ValueError:
            percent = -1
        if not 0 <= percent <= 100:
            self.fail(f"{value!r} is no percentage from 0 to 100, and not the word {NEVER}", param, ctx)
        return percent


@click.command()
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option(
    "--submission", default=".", type=click.Path(path_type=Path), help="The checkout; by default this folder."
)
@click.option("--course", type=click.Path(path_type=Path), help="The course with its checks, outside of the checkout.")
@click.option("--handin", help="Grade the exercises of this hand-in only.")
@click.option("--changed-since", metavar="COMMIT", help="Grade only what was changed since a commit.")
@click.option("--json", "json_path", metavar="FILE", help="Write the report as JSON.")
@staff_option
@format_option()
@points_option
@hidden_option
@click.option(
    "--fail-below",
    default="100",
    type=_Threshold(),
    metavar="PERCENT|never",
    show_default=True,
    help="Exit with 1 if less was earned of what was decided.",
)
@click.option("--author", help="Whose it is; by default the name of the repository, or of the folder.")
@seed_option
@secret_option
@confinement_option(None, "full with --course, else none")
@device_option
@start_option
def command(
    names: tuple[str, ...],
    submission: Path,
    course: Path | None,
    handin: str | None,
    changed_since: str | None,
    json_path: str | None,
    staff: bool,
    formats: Formats,
    points: bool | None,
    hidden: Visibility,
    fail_below: float | None,
    author: str | None,
    seed: int | None,
    secret_file: Path | None,
    confinement: str | None,
    device: str,
    start: str | None,
) -> None:
    """Grade a checkout in a CI job: groups and annotations in its log, its page and outputs, and files."""
    say = Say(quiet=any(place == "-" for _, place in formats))
    say("Grading ...")
    with told_errors():
        from grader.ci.checkout import open_checkout
        from grader.ci.platform import Platform, is_passed, is_unsettled
        from grader.ci.run import write_files
        from grader.report.export.checked import Options
        from grader.report.schema import ReportFile

        platform = Platform.of(os.environ)
        checkout = open_checkout(submission, course)
        # Where there is nothing to keep from student code, a machine without walls will do.
        least = confinement or ("full" if course is not None else "none")
        setup = read_setup(start, device, least, seed or 0)
        if course is not None:
            setup = _with_secret(setup, seed, secret_file)
        tells = points if points is not None else not platform.is_public
        options = Options(platform.environ, tells, hidden, platform.folder_of(checkout.folder))
        sheet, handed_in = _sheet(checkout, names, handin, changed_since, author or platform.author, setup)
        write = partial(write_files, json_path=json_path, formats=formats, options=options, staff=staff)
        report = _grade(checkout, sheet, handed_in, write, say)
        read = ReportFile.of(report)
        passed = is_passed(read, 100 if fail_below is None else fail_below)
        _tell(platform, read, formats, options, passed=passed, say=say)
    if fail_below is None:
        return
    sys.exit(UNDECIDED if is_unsettled(read) else 0 if passed else POINTS_LOST)


def _with_secret(setup: Setup, seed: int | None, file: Path | None) -> Setup:
    """The set-up for other people's work: whoever knows a check's id must not be able to compute its inputs."""
    from grader.grading.secret import read_secret

    if seed is not None:
        raise click.UsageError("--seed makes inputs that anybody can compute; with --course use --secret-file")
    return replace(setup, secret=read_secret(file))


def _sheet(
    checkout: Checkout, names: tuple[str, ...], handin: str | None, since: str | None, author: str, setup: Setup
) -> tuple[RunPlan, Submission]:
    """What is graded, and what was handed in."""
    from grader.ci.checkout import changed_exercises
    from grader.course.names import find_exercises
    from grader.grading.plan import RunPlan
    from grader.intake.collect import collect_one

    course = checkout.course
    wanted = {exercise.id for name in names for exercise in find_exercises(course, name)}
    exercises = [exercise for exercise in course.exercises if not wanted or exercise.id in wanted]
    if chosen := handin_of(course, handin):
        exercises = [exercise for exercise in exercises if exercise.id in chosen.exercises]
    handed_in = collect_one(checkout.folder, course.exercises, exercises, author or checkout.folder.name)
    if since is not None:
        changed = changed_exercises(checkout, handed_in, since)
        exercises = [exercise for exercise in exercises if exercise in changed]
    return RunPlan(course, exercises, setup, handin=handin), handed_in


def _grade(
    checkout: Checkout, sheet: RunPlan, handed_in: Submission, write: Callable[[Report], None], say: Say
) -> Report:
    """Grade, write the files while checks end, and say what is graded with which checks."""
    from grader.ci.checkout import other_files
    from grader.ci.run import grade_checkout
    from grader.report.export.log import log_line

    if checkout.is_own:
        say("The checks are those of this repository, which its author can change: the score is advice.")
    if others := other_files(checkout):
        say("These files are not the course's, or of an older version of it; they do not count:")
        say(*(f"  {log_line(path)}" for path in others))
    if not sheet.exercises:
        say("No exercise has changed: nothing is graded.")

    report = grade_checkout(sheet, handed_in, write, lambda graded: say(f"graded {graded.exercise.id}"))
    write(report)
    return report


def _tell(platform: Platform, read: ReportFile, formats: Formats, options: Options, *, passed: bool, say: Say) -> None:
    """Print what goes to standard output, or the log; set outputs, and write the page of the job."""
    from grader.report.export.formats import write_format

    for name, place in formats:
        if place == "-":
            write_format(name, place, read, options)
    say(platform.log(read, options).rstrip("\n"))
    with_result = any(name == "classroom" for name, _ in formats)
    platform.tell(read, options, passed=passed, with_result=with_result)
