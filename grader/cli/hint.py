"""`grade hint EXERCISE`: one hint after another."""

from __future__ import annotations

from dataclasses import replace

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
        from grader.model.errors import CourseError
        from grader.study.pages import hint_lines, prose
        from grader.study.progress import write_progress

        course, _ = course_and_exercises(())
        exercise, progress = exercise_in_hand(course, name)
        total, standing = len(exercise.hints), progress.of(exercise.id)
        seen = min(standing.hints, total)
        if again and not seen:
            raise CourseError(f"you have seen no hint of {exercise.id} yet: grade hint {exercise.id}")
        if everything:
            numbers = range(1, total + 1)
        elif again:
            numbers = range(1, seen + 1)
        else:
            numbers = range(seen + 1, min(seen + 1, total) + 1)
        if not numbers:
            say(f"You have seen all {total} hints: grade hint {exercise.id} --again")
            return
        say(*hint_lines(exercise, numbers, terminal_width()))
        if numbers[-1] > seen:
            now = progress.with_(exercise.id, replace(standing, hints=numbers[-1]))
            if problem := write_progress(course, now):
                say(*prose(f"{problem}; grade hint --all shows all of them", terminal_width()))
