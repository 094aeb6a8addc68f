"""`grade batch DIR --out OUT`: grade every submission in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import confinement_option, device_option, read_setup, start_option
from grader.cli.telling import Say, course_and_exercises, handin_of, told_errors

if TYPE_CHECKING:
    from grader.model import Report


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where reports and the gradebook go.")
@click.option("--handin", help="Grade the exercises of this hand-in only.")
@click.option("-q", "--quiet", is_flag=True, help="No line for each author, no table: only where things are.")
@click.option("--course", "course_folder", type=click.Path(path_type=Path), help="The course; by default this folder.")
@confinement_option("full")
@device_option
@start_option
def command(
    folder: Path,
    out: Path,
    handin: str | None,
    quiet: bool,
    course_folder: Path | None,
    confinement: str,
    device: str,
    start: str | None,
) -> None:
    """Grade every submission in DIR, which has a folder or a zip for each author."""
    say, details = Say(), Say(quiet=quiet)
    details("Grading ...")
    with told_errors():
        from grader.batch.run import grade_batch
        from grader.grading import Sheet
        from grader.report.gradebook import author_line, gradebook_lines

        course, exercises = course_and_exercises((), course_folder)
        if chosen := handin_of(course, handin):
            exercises = [exercise for exercise in exercises if exercise.id in chosen.exercises]

        def on_report(report: Report, number: int, total: int) -> None:
            details(author_line(report, number, total))

        sheet = Sheet(course, exercises, read_setup(start, device, confinement), handin=handin)
        reports = grade_batch(sheet, folder, out, on_report)
        details("", *gradebook_lines(exercises, reports))
        say(f"Reports and gradebook.csv are in {out}")
