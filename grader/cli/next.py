"""`grade next`: the next exercise to solve."""

from __future__ import annotations

import json

import click

from grader.cli.options import complete_exercises
from grader.cli.telling import Say, course_and_exercises, terminal_width, told_errors


@click.command()
@click.argument("start", metavar="[EXERCISE|MODULE]", required=False, shell_complete=complete_exercises)
@click.option("-q", "--quiet", is_flag=True, help="Print the path of its file alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(start: str | None, quiet: bool, as_json: bool) -> None:
    """Say which exercise comes next, after the one in hand or from another on."""
    say = Say(quiet=as_json)
    with told_errors():
        from grader.student.pages import list_data, next_lines, typed
        from grader.student.progress import read_progress
        from grader.student.rows import next_row, rows_of

        course, _ = course_and_exercises(())
        progress = read_progress(course)
        row = next_row(course, rows_of(course, progress), progress, start)
        if as_json:
            click.echo(json.dumps(list_data(course, [row] if row else [], progress), indent=1))
        elif row is None:
            say("" if quiet else "All exercises are solved, or known by the last one of their module: grade list")
        elif quiet:
            say(typed(row.exercise.starter))
        else:
            say(*next_lines(row, typed(row.exercise.starter), terminal_width()))
