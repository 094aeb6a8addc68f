"""`grade show EXERCISE`: the task; or, once it is solved, the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli.options import complete_exercises, device_option, plain_option, read_setup, start_option
from grader.cli.telling import (
    Say,
    course_and_exercises,
    drawing,
    exercise_in_hand,
    solved_reference,
    terminal_width,
    told_errors,
)

if TYPE_CHECKING:
    from grader.model import Course, Exercise
    from grader.model.messages import Setup
    from grader.report.pictures.canvas import Drawing


@click.command()
@click.argument("name", metavar="[EXERCISE]", required=False, shell_complete=complete_exercises)
@click.option("--reference", is_flag=True, help="The reference solution, and what it costs beside yours.")
@plain_option
@device_option
@start_option
def command(name: str | None, reference: bool, plain: bool, device: str, start: str | None) -> None:
    """Show the task of an exercise, by default of the next one."""
    say = Say()
    with told_errors():
        from grader.student.pages import show_lines, typed

        course, _ = course_and_exercises(())
        exercise, _ = exercise_in_hand(course, name)
        if reference:
            solved_reference(course, exercise)
            _show_reference(course, exercise, read_setup(start, device), say, drawing(plain=plain))
        else:
            say(*show_lines(course, exercise, typed(exercise.starter), terminal_width()))


def _show_reference(course: Course, exercise: Exercise, setup: Setup, say: Say, drawing: Drawing) -> None:
    from grader.student.compare import counted_lines, reference_lines

    assert exercise.reference is not None
    say(*reference_lines(exercise.reference), "", "Counting ...")
    say(*counted_lines(course, exercise, setup, terminal_width(), drawing))
