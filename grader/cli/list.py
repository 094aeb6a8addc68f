"""`grade list`: the exercises, and where the student stands with each."""

from __future__ import annotations

import json

import click

from grader.cli.options import complete_exercises, complete_states
from grader.cli.telling import Say, course_and_exercises, terminal_width, told_errors


@click.command()
@click.argument("names", metavar="[EXERCISE|MODULE]...", nargs=-1, shell_complete=complete_exercises)
@click.option("--topic", metavar="TOPIC", help="Those that teach a topic: its id, or words of its name.")
@click.option(
    "--state",
    "states",
    metavar="STATE",
    multiple=True,
    shell_complete=complete_states,
    help="Those not-started, started, done or known (the last one of their module is done).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(names: tuple[str, ...], topic: str | None, states: tuple[str, ...], as_json: bool) -> None:
    """List the exercises with states and points."""
    say = Say(quiet=as_json)
    with told_errors():
        from grader.model.errors import CourseError
        from grader.student.pages import list_data, list_lines
        from grader.student.progress import read_progress
        from grader.student.rows import FILTERS, chosen, rows_of

        typed = [state.strip().replace("_", "-").replace(" ", "-") for state in states]
        if unknown := [state for state in typed if state not in FILTERS]:
            raise CourseError(f"--state: there is no state {unknown[0]!r}; known are {', '.join(FILTERS)}")
        course, _ = course_and_exercises(())
        progress = read_progress(course)
        rows = chosen(course, rows_of(course, progress), names, topic, typed)
        if as_json:
            click.echo(json.dumps(list_data(course, rows, progress), indent=1))
        elif rows:
            say(*list_lines(course, rows, terminal_width()))
        else:
            say("No exercise is like that.")
        say(*filter(None, [progress.problem]))
