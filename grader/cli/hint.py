"""`grade hint EXERCISE`: one hint after another."""

from __future__ import annotations

import click

from grader.cli.options import complete_exercises
from grader.cli.telling import Say, course_and_exercises, exercise_in_hand, terminal_width, told_errors


@click.command()
@click.argument("name", metavar="[EXERCISE]", required=False, shell_complete=complete_exercises)
@click.option("--again", is_flag=True, help="Those that you have seen.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
def command(name: str | None, again: bool, everything: bool) -> None:
    """Show the next hint of an exercise. Hints cost nothing."""
    say = Say()
    with told_errors():
        from grader.student.hints import taken

        course, _ = course_and_exercises(())
        exercise, _ = exercise_in_hand(course, name)
        say(*taken(course, exercise, terminal_width(), again=again, everything=everything))
