"""The games for students: `grade drill`, `grade break`, `grade catch`, `grade trace`, `grade draw`."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import click

from grader.cli import options
from grader.model import Picture
from grader.model.errors import CourseError
from grader.model.picture import NamedShape, Shapes, Window
from grader.report.console import Say, drawing, terminal_width
from grader.report.pictures import lines_of
from grader.report.safe import prose

_SHAPE = re.compile(r"\(([0-9]{1,12}(, ?[0-9]{1,12}){0,5},?)?\)|[0-9]{1,12}(, ?[0-9]{1,12}){0,5}")


@click.command("drill")
@click.argument("module", required=False)
@click.option("-n", "count", type=click.IntRange(min=1), default=10, show_default=True, help="How many questions.")
def drill_command(module: str | None, count: int) -> None:
    """Answer short questions with yes or no; the lines are run to see who is right. It gives no points."""
    say = Say()
    from grader.student.games.drilling import question, read_drill

    file, right = read_drill(options.course_here(), module), 0
    say.prose(f"{file.title}: each question starts with these lines.")
    say("", *(f">>> {line}" for line in file.start.splitlines()), "")
    numbers = random.sample(range(len(file.rounds)), min(count, len(file.rounds)))
    for asked in (question(file, number) for number in numbers):
        say(*(f">>> {line}" for line in asked.lines))
        answer = click.prompt(file.question, type=click.Choice(["y", "n"], case_sensitive=False))
        is_right = (answer.lower() == "y") == asked.changes
        right += is_right
        say.prose(f"{'Right' if is_right else 'No'}: {asked.why}")
        if not is_right:
            say(f">>> {file.watch}", asked.after)
        say("")
    say.prose(f"{right} of {len(numbers)} right.")


@click.command("break")
@options.exercise
@click.option("--give-up", is_flag=True, help="Name the fault, and restore your own file.")
@click.option("--seed", type=click.IntRange(min=0), help="Which fault: the same number plants the same fault.")
@options.workers()
def break_command(name: str, give_up: bool, seed: int | None, workers: options.Workers) -> None:
    """Plant a fault in your own solution, for you to find. The same command then says whether you have found it."""
    say = Say()
    from grader.student.games.breaking import play

    say.meanwhile("Looking for a fault that the checks see ..." if not give_up else "Looking ...")
    for text in play(*options.exercise_here(name), workers.setup(), seed, say.running, give_up=give_up):
        say.prose(text)


@click.command("catch")
@options.exercise
@options.workers()
def catch_command(name: str, workers: options.Workers) -> None:
    """Try your own check on known wrong and right answers. It is for exercises that you have solved."""
    say = Say()
    from grader.student.folder import typed
    from grader.student.games.catching import caught_by, own_check, write_template
    from grader.student.pages import solved_reference

    course, exercise = options.exercise_here(name)
    solved_reference(course, exercise)
    if written := write_template(course, exercise):
        say.prose(f"{typed(written)} is a check for you to write. What must every right answer do?")
        say(f"Then run again:  grade catch {exercise.id}")
        return
    say.meanwhile(f"Trying {typed(own_check(course, exercise))} ...")
    lines, is_good = caught_by(course, exercise, workers.setup(), terminal_width())
    say(*lines)
    sys.exit(0 if is_good else 1)


@click.command("trace")
@options.exercise
@click.option("--out", type=options.PATH, help="The timeline's file; by default EXERCISE.trace.json.")
@options.plain
@options.start
def trace_command(name: str, out: Path | None, plain: bool, start: str | None) -> None:
    """Draw what your code does on the simulated GPU. The timeline is also written for Perfetto and Chrome."""
    say = Say()
    from grader.grading.lanes import setup_of
    from grader.student.games.tracing import traced_lines, traces, write_runs

    course, exercise = options.exercise_here(name)
    path = out or Path(f"{exercise.id}.trace.json")
    runs, problems = traces(course, exercise, setup_of(start))
    say(*traced_lines(runs, terminal_width(), drawing(plain=plain)))
    say.prose(*(line for problem in problems for line in problem.split("\n")))
    write_runs(runs, path)
    say(f"{path}: open it at https://ui.perfetto.dev or in chrome://tracing; times are virtual")


@click.command("draw")
@click.argument("shapes", metavar="SHAPE...", nargs=-1, required=True)
@click.option("--strides", metavar="STRIDES", help='Strides of one shape, such as "(1, 2)": draw its storage.')
@click.option("--offset", type=click.IntRange(min=0), default=0, help="The offset of the first element in the storage.")
@options.plain
def draw_command(shapes: tuple[str, ...], strides: str | None, offset: int, plain: bool) -> None:
    """Draw how shapes broadcast, or how strides read a storage.

    \b
    grade draw "(3, 1)" "(3,)"
    grade draw "(2, 3)" --strides "(1, 2)" --offset 1
    """  # noqa: D301  the backslash is click's mark for lines that stay as they are
    say = Say()
    width = terminal_width()
    for line in lines_of(_picture(shapes, strides, offset), width, drawing(plain=plain)):
        say(*(prose(line, width) if len(line) > width else [line]))


def _picture(shapes: tuple[str, ...], strides: str | None, offset: int) -> Picture:
    read = [_sizes(text) for text in shapes]
    if strides is None:
        if len(read) < 2:
            raise CourseError("one shape alone is neither broadcast nor read; add a second shape, or --strides")
        rows = tuple(NamedShape(f"shape {number}", shape) for number, shape in enumerate(read, 1))
        return Picture(shapes=Shapes(rows, broadcast=True))
    (shape, *others), steps = read, _sizes(strides)
    if others or len(steps) != len(shape):
        raise CourseError("--strides is for one shape, and has a number from 0 for each of its dims")
    last = offset + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    return Picture(windows=(Window("the tensor", shape, steps, offset, last + 1 if all(shape) else offset),))


def _sizes(text: str) -> tuple[int, ...]:
    """A shape as Python writes it; "3, 1" and "3" will do."""
    if not _SHAPE.fullmatch(text.strip()):
        raise CourseError(f'{text!r} is not a shape; write one as Python does, in quotes: "(3, 1)"')
    return tuple(map(int, re.findall("[0-9]+", text)))
