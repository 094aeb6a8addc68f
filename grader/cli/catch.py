"""`grade catch EXERCISE`: your own check, held against known wrong and right answers."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from grader.cli.courses import course_and_exercises
from grader.cli.options import complete_exercises, device_option, read_setup, start_option
from grader.cli.printing import Say, errors_as_lines, terminal_width

if TYPE_CHECKING:
    from grader.student.catching import Caught

_NOT_ALL = 1


@click.command()
@click.argument("name", metavar="EXERCISE", shell_complete=complete_exercises)
@device_option
@start_option
def command(name: str, device: str, start: str | None) -> None:
    """Hold a check of your own against known wrong and right answers of an exercise that you have solved."""
    say = Say()
    with errors_as_lines():
        from grader.course.layout import own_check
        from grader.course.names import one_exercise
        from grader.student.catching import catch, write_template
        from grader.student.pages import prose, typed
        from grader.student.progress import solved_reference

        course, _ = course_and_exercises(())
        exercise = one_exercise(course, name)
        solved_reference(course, exercise)
        if written := write_template(course, exercise):
            say(*prose(f"{typed(written)} is yours to write: what must a right answer do?", terminal_width()))
            say(f"Then, again:  grade catch {exercise.id}")
            return
        say(f"Trying {typed(own_check(course, exercise))} ...")
        found = catch(course, exercise, read_setup(start, device))
        say(*_lines(found, terminal_width()))
    sys.exit(_NOT_ALL if found.missed or found.refused else 0)


def _lines(found: Caught, width: int) -> Iterator[str]:
    from grader.report.lines import filled
    from grader.report.safe import for_terminal

    caught = found.wrong - len(found.missed)
    if found.refused:
        yield f"It refuses {len(found.refused)} of {found.right} right answers, so it asks for too much:"
        for line in for_terminal(found.refused[0]).split("\n"):
            yield from filled(line.split(" "), "    ", width)
    else:
        yield f"It refuses none of {found.right} right answers."
    yield f"It catches {caught} of {found.wrong} known wrong answers{'' if found.missed else ': all of them'}."
    # By their rules alone: what a wrong answer does is what there is to find.
    for rules, number in Counter(found.missed).items():
        told = " and ".join(rules) if rules else "a rule"
        yield f"    missed: {number} that {'breaks' if number == 1 else 'break'} {told}"
