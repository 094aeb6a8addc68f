"""`grade [EXERCISE…]`: grade the course in this folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import confinement_option, device_option, read_setup, start_option
from grader.cli.telling import Say, course_and_exercises, told_errors

if TYPE_CHECKING:
    from grader.jobs import Setup
    from grader.model import GradedExercise, Report

POINTS_LOST = 1
UNDECIDED = 3


@click.command("run", hidden=True)
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option("--submission", type=click.Path(path_type=Path), help="A folder with the files to grade.")
@click.option("--json", "json_path", metavar="FILE", help="Write the report as JSON; - for standard output.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all random inputs.")
@confinement_option("none")
@device_option
@start_option
def command(
    names: tuple[str, ...],
    submission: Path | None,
    json_path: str | None,
    seed: int,
    confinement: str,
    device: str,
    start: str | None,
) -> None:
    """Grade exercises, print what to mend, and say what to do next."""
    say = Say(quiet=json_path == "-")
    say("Grading ...")
    with told_errors():
        setup = read_setup(start, device, confinement, seed)
        report = _grade(names, submission, setup, say)
        _write(report, json_path, say)
    sys.exit(_exit_status(report))


def _grade(names: tuple[str, ...], submission: Path | None, setup: Setup, say: Say) -> Report:
    from grader.course.layout import kept_inputs
    from grader.grading import Sheet, grade_submission, is_open, repeats
    from grader.intake.folder import read_submission
    from grader.lanes.open import open_lane
    from grader.report.terminal import exercise_lines, summary_lines

    course, exercises = course_and_exercises(names)
    folder = submission or course.root
    handed_in = read_submission(folder, exercises, author=folder.resolve().name)
    sheet = Sheet(course, exercises, setup, runs_untouched=bool(names), inputs=kept_inputs(course))
    to_run = sheet.to_run(handed_in)

    def on_exercise(graded: GradedExercise) -> None:
        say(*exercise_lines(graded), "")

    def on_first(graded: GradedExercise) -> None:
        if not is_open(graded):  # else it is told once, with what it ends with
            on_exercise(graded)

    if not to_run:
        report = grade_submission(sheet, handed_in, None)
    else:
        with open_lane(to_run, setup, hidden=(folder,)) as lane:
            report = grade_submission(sheet, handed_in, lane, on_exercise=on_first)
            if repeats(report):  # checks of speed that did not pass at once; nothing else runs now
                report = grade_submission(sheet, handed_in, lane, earlier=report, on_exercise=on_exercise)
    say(*summary_lines(report))
    return report


def _write(report: Report, json_path: str | None, say: Say) -> None:
    from grader.report.as_json import to_plain, write_json

    if json_path == "-":
        import json

        click.echo(json.dumps(to_plain(report), indent=1))
    elif json_path:
        write_json(Path(json_path), report)
        say(f"The report is in {json_path}")


def _exit_status(report: Report) -> int:
    verdicts = {row.outcome.verdict.value for graded in report.exercises for row in graded.checks}
    if verdicts & {"broken", "inconclusive"}:
        return UNDECIDED
    total = report.score
    return POINTS_LOST if total.earned + total.undecided < total.possible else 0
