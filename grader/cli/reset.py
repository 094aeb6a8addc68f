"""`grade reset EXERCISE`: the starter, restored."""

from __future__ import annotations

from dataclasses import replace

import click

from grader.cli.options import complete_exercises
from grader.cli.telling import Say, course_and_exercises, terminal_width, told_errors


@click.command()
@click.argument("name", metavar="EXERCISE", shell_complete=complete_exercises)
def command(name: str) -> None:
    """Restore the starter of an exercise. The file that was there is kept."""
    say = Say()
    with told_errors():
        from grader.course.names import one_exercise
        from grader.student.pages import prose, typed
        from grader.student.progress import read_progress, write_progress
        from grader.student.reset import reset

        course, _ = course_and_exercises(())
        exercise = one_exercise(course, name)
        old = reset(course, exercise)
        say(*prose(f"{typed(exercise.starter)} is the starter again", terminal_width()))
        if old is not None:
            say(*prose(f"What was there is beside it, {old.name}, and is not graded", terminal_width()))
        progress = read_progress(course)
        write_progress(course, progress.with_(exercise.id, replace(progress.of(exercise.id), tries=0)))
