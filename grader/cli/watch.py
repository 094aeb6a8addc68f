"""`grade watch [EXERCISE]`: grade again on save."""

from __future__ import annotations

import click

from grader.cli.options import (
    complete_exercises,
    confinement_option,
    device_option,
    plain_option,
    read_setup,
    start_option,
)
from grader.cli.telling import Say, course_and_exercises, drawing, exercise_in_hand, terminal_width, told_errors


@click.command()
@click.argument("name", metavar="[EXERCISE]", required=False, shell_complete=complete_exercises)
@click.option("--poll", is_flag=True, help="Look for saved files again and again: for network drives.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all random inputs.")
@plain_option
@confinement_option("none")
@device_option
@start_option
def command(
    name: str | None, poll: bool, seed: int, plain: bool, confinement: str, device: str, start: str | None
) -> None:
    """Grade an exercise again each time its file is saved: the one that is named, or the next."""
    say = Say()
    say("Watching; Ctrl-C ends.")
    with told_errors():
        from grader.student.watch import Screen, Watch

        course, _ = course_and_exercises(())
        exercise, _ = exercise_in_hand(course, name)
        setup = read_setup(start, device, confinement, seed)
        screen = Screen(say, say.running, terminal_width, drawing(plain=plain))
        Watch(course, exercise, setup, screen).run(poll=poll)
