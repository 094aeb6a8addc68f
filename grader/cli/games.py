"""The games for whoever studies: `grade break`, `grade catch`, `grade trace`, `grade draw`."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import (
    complete_exercises,
    course_and_exercises,
    device_option,
    plain_option,
    read_setup,
    start_option,
)
from grader.cli.printing import Say, drawing, terminal_width, write_file

if TYPE_CHECKING:
    from grader.model import Course, Exercise, Picture, Report
    from grader.model.messages import Setup
    from grader.student.games.catching import Caught

_MOST_DIMS, _MOST_SIZE = 6, 1 << 40


@click.command("break")
@click.argument("name", metavar="EXERCISE", shell_complete=complete_exercises)
@click.option("--give-up", is_flag=True, help="Say what the fault is, and bring your own file back.")
@click.option("--seed", type=click.IntRange(min=0), help="Which fault: the same number, the same fault.")
@device_option
@start_option
def break_command(name: str, give_up: bool, seed: int | None, device: str, start: str | None) -> None:
    """Plant one tensor fault in your own solution, for you to find; once more, when you have found it."""
    say = Say()
    from grader.course.names import one_exercise
    from grader.model.errors import CourseError
    from grader.student.games.breaking import planted_in

    course, _ = course_and_exercises(())
    exercise = one_exercise(course, name)
    setup = read_setup(start, device)
    if planted_in(course, exercise) is None and give_up:
        raise CourseError(f"nothing is planted in {exercise.id};  grade break {exercise.id}  does")
    if planted_in(course, exercise) is None:
        _plant_fault(course, exercise, setup, seed, say)
    else:
        _look_for_fault(course, exercise, setup, say, give_up=give_up)


def _plant_fault(course: Course, exercise: Exercise, setup: Setup, seed: int | None, say: Say) -> None:
    import random

    from grader.grading.lanes import open_lanes
    from grader.model.errors import CourseError
    from grader.student.games.breaking import choose, graded, plant
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


def _look_for_fault(course: Course, exercise: Exercise, setup: Setup, say: Say, *, give_up: bool) -> None:
    from grader.grading.lanes import open_lanes
    from grader.model import Verdict
    from grader.student.games.breaking import graded, planted_in, restore
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


@click.command("catch")
@click.argument("name", metavar="EXERCISE", shell_complete=complete_exercises)
@device_option
@start_option
def catch_command(name: str, device: str, start: str | None) -> None:
    """Hold a check of your own against known wrong and right answers of an exercise that you have solved."""
    say = Say()
    from grader.course.names import one_exercise
    from grader.student.games.catching import caught_by, own_check, write_template
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
    found = caught_by(course, exercise, read_setup(start, device))
    say(*caught_lines(found, terminal_width()))
    sys.exit(1 if found.missed or found.refused else 0)


def caught_lines(found: Caught, width: int) -> Iterator[str]:
    """What `grade catch` prints of what a check caught, and of the right answers that it refused."""
    from grader.report.safe import filled, for_terminal

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


@click.command("trace")
@click.argument("name", metavar="EXERCISE", shell_complete=complete_exercises)
@click.option("--code", metavar="LINES", help="Lines to run in place of the checks, with the names of your file.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; by default EXERCISE.trace.json.")
@plain_option
@start_option
def trace_command(name: str, code: str | None, out: Path | None, plain: bool, start: str | None) -> None:
    """Draw what your code does on the simulated accelerator, and write it as a trace for Perfetto and Chrome."""
    say = Say()
    from grader.course.names import one_exercise
    from grader.model import Picture
    from grader.model.errors import CourseError
    from grader.report.pictures import lines_of, write_timelines
    from grader.report.safe import filled, for_terminal
    from grader.student.games.tracing import MOST_DRAWN, traces

    course, _ = course_and_exercises(())
    exercise = one_exercise(course, name)
    path = out or Path(f"{exercise.id}.trace.json")
    found, problems = traces(course, exercise, read_setup(start), code)
    width, shown = terminal_width(), drawing(plain=plain)
    for run in (run for run in found if run.moments):
        say(for_terminal(run.title, one_line=True)[:width])
        first, rest = run.moments[:MOST_DRAWN], len(run.moments) - MOST_DRAWN
        for line in lines_of(Picture(moments=first, left_out=max(0, rest)), width - 2, shown):
            safe = for_terminal(line, one_line=True)
            say(*(filled(safe.split(" "), "  ", width) if shown.plain else [f"  {safe}"]))
        say()
    for problem in problems:
        say(*(line for text in for_terminal(problem).split("\n") for line in filled(text.split(" "), "", width)))
    if not any(run.moments for run in found):
        raise CourseError("nothing was done on the device; try lines of your own with --code")
    try:
        write_timelines(found, path)
    except OSError as error:
        raise CourseError(f"{path} cannot be written: {error.strerror}; name another place with --out") from None
    say(f"{path}: open it at https://ui.perfetto.dev or in chrome://tracing; times are virtual")


@click.command("draw")
@click.argument("shapes", metavar="SHAPE...", nargs=-1, required=True)
@click.option("--strides", metavar="STRIDES", help='Of one shape, such as "(1, 2)": draw its storage.')
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Where in the storage it begins.")
@click.option("--storage", type=click.IntRange(min=0), help="How many elements the storage has; as many as it needs.")
@click.option("--svg", type=click.Path(path_type=Path), help="Write the picture as an SVG.")
@plain_option
def draw_command(
    shapes: tuple[str, ...], strides: str | None, offset: int, storage: int | None, svg: Path | None, plain: bool
) -> None:
    r"""Draw how shapes broadcast, or which element of a storage each index reads.

    \b
    grade draw "(3, 1)" "(3,)"
    grade draw "(2, 3)" --strides "(1, 2)" --offset 1
    """
    say = Say()
    from grader.report.pictures import lines_of, svg_of
    from grader.report.safe import filled

    picture = _picture(shapes, strides, offset, storage)
    width, shown = terminal_width(), drawing(plain=plain)
    for line in lines_of(picture, width, shown):
        say(*(filled(line.split(" "), "", width, "") if len(line) > width else [line]))
    if svg is not None:
        write_file(svg, svg_of(picture), "--svg")
        say(f"The picture is in {svg}")


def _picture(shapes: tuple[str, ...], strides: str | None, offset: int, storage: int | None) -> Picture:
    from grader.model import Picture
    from grader.model.errors import CourseError
    from grader.model.picture import NamedShape, Shapes, Window

    read = [_sizes(text, least=0) for text in shapes]
    if strides is None:
        if len(read) < 2:
            raise CourseError("one shape alone has nothing to be drawn beside; give a second one, or --strides")
        rows = tuple(NamedShape(f"shape {number}", shape) for number, shape in enumerate(read, 1))
        return Picture(shapes=Shapes(rows, broadcast=True))
    (shape, *others), steps = read, _sizes(strides, least=-_MOST_SIZE)
    if others or len(steps) != len(shape) or min(steps, default=0) < 0:
        raise CourseError("--strides is for one shape, and has a number from 0 for each of its dims")
    last = offset + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    needed = last + 1 if all(shape) else offset
    if storage is not None and storage < needed:
        raise CourseError(f"index {tuple(size - 1 for size in shape)} reads element {last}; --storage has {storage}")
    return Picture(windows=(Window("the tensor", shape, steps, offset, needed if storage is None else storage),))


def _sizes(text: str, *, least: int) -> tuple[int, ...]:
    """A shape as Python writes it; "3, 1" and "3" will do."""
    from grader.model.errors import CourseError

    try:
        value = ast.literal_eval(text.strip() or "()")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    sizes = (value,) if isinstance(value, int) else tuple(value) if isinstance(value, (tuple, list)) else None
    whole = sizes is not None and all(type(size) is int and least <= size <= _MOST_SIZE for size in sizes)
    if sizes is None or not whole or len(sizes) > _MOST_DIMS:
        raise CourseError(f'{text!r} is not a shape; write one as Python does, in quotes: "(3, 1)"')
    return sizes
