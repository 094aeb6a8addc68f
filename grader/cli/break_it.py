"""`grade break EXERCISE`: your own solution with one fault planted; find it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli.options import complete_exercises, device_option, read_setup, start_option
from grader.cli.telling import Say, course_and_exercises, terminal_width, told_errors

if TYPE_CHECKING:
    from grader.model import Course, Exercise, Report
    from grader.model.messages import Setup


@click.command("break")
@click.argument("name", metavar="EXERCISE", shell_complete=complete_exercises)
@click.option("--give-up", is_flag=True, help="Say what the fault is, and bring your own file back.")
@click.option("--seed", type=click.IntRange(min=0), help="Which fault: the same number, the same fault.")
@device_option
@start_option
def command(name: str, give_up: bool, seed: int | None, device: str, start: str | None) -> None:
    """Plant one tensor fault in your own solution, for you to find; once more, when you have found it."""
    say = Say()
    with told_errors():
        from grader.course.names import one_exercise
        from grader.model.errors import CourseError
        from grader.student.breaking import planted_in

        course, _ = course_and_exercises(())
        exercise = one_exercise(course, name)
        setup = read_setup(start, device)
        if planted_in(course, exercise) is None and give_up:
            raise CourseError(f"nothing is planted in {exercise.id};  grade break {exercise.id}  does")
        if planted_in(course, exercise) is None:
            _plant(course, exercise, setup, seed, say)
        else:
            _look(course, exercise, setup, say, give_up=give_up)


def _plant(course: Course, exercise: Exercise, setup: Setup, seed: int | None, say: Say) -> None:
    import random

    from grader.grading.lanes import open_lanes
    from grader.model.errors import CourseError
    from grader.student.breaking import choose, graded, plant
    from grader.student.pages import prose, typed

    say("Looking for a fault that the checks see ...")
    with open_lanes([exercise], setup, hidden=(course.root,), watch=say.running) as lanes:
        try:
            if not _is_whole(graded(course, exercise, setup, lanes)):
                raise CourseError(f"{exercise.id} has no full marks yet; there is something to find in it already")
            fault = choose(course, exercise, setup, lanes, random.Random(seed))  # noqa: S311  a game
        finally:
            say()  # takes back the line that told what was running
    planted = plant(course, exercise, fault)
    say(
        *prose(f"One fault is in {typed(exercise.starter)} now, and nothing else was changed.", terminal_width()),
        *prose(f"Your own file is beside it, {planted.old}; looking into it would be cheating.", terminal_width()),
        f"Find it. What fails:  grade {exercise.id}",
        f"Found?                grade break {exercise.id}",
        f"Too hard?             grade break {exercise.id} --give-up",
    )


def _look(course: Course, exercise: Exercise, setup: Setup, say: Say, *, give_up: bool) -> None:
    from grader.grading.lanes import open_lanes
    from grader.model import Verdict
    from grader.student.breaking import graded, planted_in, restore
    from grader.student.pages import prose, typed
    from grader.student.progress import read_progress, write_progress

    planted = planted_in(course, exercise)
    assert planted is not None
    with open_lanes([exercise], setup, hidden=(course.root,), watch=say.running) as lanes:
        report = graded(course, exercise, setup, lanes)
        found = _is_whole(report)
        if not found and not give_up:
            lost = report.exercises[0].checks
            failing = sum(row.outcome.verdict.decided and row.outcome.verdict is not Verdict.PASSED for row in lost)
            say(f"Not yet: {failing} of {len(lost)} checks fail. What they say:  grade {exercise.id}")
            return
        kept = restore(course, exercise, planted)
        report = report if found else graded(course, exercise, setup, lanes)
    write_progress(course, read_progress(course).after(report))
    say("Found!" if found else "This was it:", *prose(f"In line {planted.line} {planted.told}.", terminal_width()))
    say(f"    yours   {planted.was}", f"    broken  {planted.now}")
    say(*prose(f"{typed(exercise.starter)} is your own file again", terminal_width()))
    if kept is not None:
        say(*prose(f"What was there is beside it, {kept.name}, and is not graded", terminal_width()))


def _is_whole(report: Report) -> bool:
    return report.exercises[0].state == "done"
