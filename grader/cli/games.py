"""Games with exercises: `grade drill`, `break`, `catch`, `trace`, `draw` and `explain`."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import click

from grader.cli import options
from grader.model import Picture
from grader.model.errors import CourseError
from grader.model.files import write_named
from grader.model.picture import NamedShape, Shapes, View
from grader.report.console import Say, terminal_width
from grader.report.pictures import lines_of

_MOST_DIMS, _MOST_SIZE = 6, 1 << 40


@click.command("drill")
@click.argument("name", metavar="[EXERCISE|MODULE]", required=False, shell_complete=options.complete_exercises)
@click.option("--topic", metavar="TOPIC", help="Only questions of a topic: its id, or words of its name.")
@click.option("-n", "count", type=click.IntRange(min=1), default=10, show_default=True, help="How many questions.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="A number that chooses the questions; the same number chooses the same ones.",
)
@options.workers()
def drill_command(name: str | None, topic: str | None, count: int, seed: int | None, workers: options.Workers) -> None:
    """Answer short questions on what a line does; the lines are run to see who is right. It gives no points.

    What you answered wrong before comes first. Without a name: questions of all modules.
    """
    say = Say()
    import random
    from functools import cache, partial

    from grader.grading.runtime import Runtime
    from grader.report.progress_lines import ProgressLine
    from grader.student.games import drilling
    from grader.student.lines_to_try import run_lines
    from grader.student.rows import ids_of

    course = options.course_here()
    wanted = ids_of(course, [name] if name else [], topic) if name or topic else None
    memory = drilling.AnsweredQuestions(course)
    numbers = {exercise.id: exercise.number for exercise in course.exercises}

    def ask(question: drilling.Question, found: drilling.DrillAnswer) -> bool:
        """Ask a question, and return whether the user's answer is right.

        The right answer and the reason are printed.
        """
        say(*(f">>> {line}" for line in question.lines))
        if question.watch:
            typed = click.prompt(question.asked, type=click.Choice(["y", "n"], case_sensitive=False))
            is_right = typed.lower() == found.right[0]
        else:
            order = random.Random(None if seed is None else f"{seed} {question.id}")  # noqa: S311  a game
            choices = order.sample(found.choices, len(found.choices))
            say("", *(f"  {number}  {choice}" for number, choice in enumerate(choices, 1)))
            typed = click.prompt(question.asked, type=click.Choice([str(one) for one in range(1, len(choices) + 1)]))
            is_right = choices[int(typed) - 1] == found.right
        more = f" ({numbers[question.exercise]})" if question.exercise in numbers else ""
        say.prose(f"{'Right' if is_right else 'Wrong'}: {found.right}. {question.why}{more}")
        if not is_right and question.watch:
            say(f">>> {question.watch}", found.after)
        say("")
        return is_right

    drill = drilling.Drill(drilling.choose_questions(drilling.read_questions(course, wanted), count, seed, memory.rank))
    exercise, setup = drilling.exercise_with_torch(course), workers.setup()
    # A course's lines: in a worker, as everything that a course or a student brings along.
    with Runtime([exercise], setup, hidden=(course.root,), progress=ProgressLine(say), warm=True) as runtime:
        # The lines of a question that comes again are not run again.
        answer_of = cache(partial(drilling.answer_in_worker, partial(run_lines, runtime, exercise, seed=setup.seed)))
        while drill.left:
            question = drill.left[0]
            right = ask(question, answer_of(question))
            if drill.record_answer(right=right):
                memory.save_answer(question, right=right)
    say.prose(
        f"{drill.first} of {drill.answered} right at the first try; most right answers in a row: {drill.longest}.",
        *filter(None, [memory.problem]),
    )


@click.command("break")
@options.exercise
@click.option("--give-up", is_flag=True, help="Name the fault, and restore your own file.")
@click.option(
    "--seed", type=click.IntRange(min=0), help="A number that chooses the fault; the same number chooses the same one."
)
@options.workers()
def break_command(name: str, give_up: bool, seed: int | None, workers: options.Workers) -> None:
    """Plant a fault in your own solution, for you to find. The same command then says whether you have found it."""
    say = Say()
    from grader.report.progress_lines import ProgressLine
    from grader.student.games.breaking import play

    say.meanwhile("Looking for a fault that the checks see ..." if not give_up else "Looking ...")
    for text in play(*options.exercise_here(name), workers.setup(), seed, ProgressLine(say), give_up=give_up):
        say.prose(text)


@click.command("catch")
@options.exercise
@options.workers()
def catch_command(name: str, workers: options.Workers) -> None:
    """Try your own check on known wrong and right answers. It is for exercises that you have solved."""
    say = Say()
    from grader.student.folder import typed_path
    from grader.student.games.catching import own_check_path, run_own_check, write_template
    from grader.student.rows import solved_reference

    course, exercise = options.exercise_here(name)
    solved_reference(course, exercise)
    if written := write_template(course, exercise):
        say.prose(f"{typed_path(written)} is a check for you to write. What must every right answer do?")
        say(f"Then run again:  grade catch {exercise.id}")
        return
    say.meanwhile(f"Trying {typed_path(own_check_path(course, exercise))} ...")
    lines, is_good = run_own_check(course, exercise, workers.setup(), terminal_width())
    say(*lines)
    sys.exit(0 if is_good else 1)


@click.command("trace")
@options.exercise
@click.option("--code", metavar="LINES", help="Run these lines, with the names of your file, and no checks.")
@click.option("--out", type=options.PATH, help="The file for the timeline; by default EXERCISE.trace.json.")
@options.plain
@options.start
def trace_command(name: str, code: str | None, out: Path | None, plain: bool, start: str | None) -> None:
    """Draw what your code does on the simulated GPU. The timeline is also written for Perfetto and Chrome."""
    say = Say()
    from grader.grading.lanes import setup_of
    from grader.student.games.tracing import trace_runs, traced_lines, write_runs

    course, exercise = options.exercise_here(name)
    path = out or Path(f"{exercise.id}.trace.json")
    runs, problems = trace_runs(course, exercise, setup_of(start), code)
    say(*traced_lines(runs, terminal_width(), plain=plain))
    say.prose(*(line for problem in problems for line in problem.split("\n")))
    write_runs(runs, path)
    say(f"{path}: open it at https://ui.perfetto.dev or in chrome://tracing; times are virtual")


@click.command("draw")
@click.argument("shapes", metavar="SHAPE...", nargs=-1, required=True)
@click.option("--strides", metavar="STRIDES", help='Strides of one shape, such as "(1, 2)": draw its storage.')
@click.option("--offset", type=click.IntRange(min=0), default=0, help="The offset of the first element in the storage.")
@click.option(
    "--storage", type=click.IntRange(min=0), help="The size of the storage in elements; by default as needed."
)
@click.option("--svg", type=options.PATH, help="Also write the picture as an SVG.")
@options.plain
def draw_command(
    shapes: tuple[str, ...], strides: str | None, offset: int, storage: int | None, svg: Path | None, plain: bool
) -> None:
    """Draw how shapes broadcast, or how strides read a storage.

    \b
    grade draw "(3, 1)" "(3,)"
    grade draw "(2, 3)" --strides "(1, 2)" --offset 1
    """  # noqa: D301  the backslash is click's mark for lines that stay as they are
    say, picture = Say(), _picture_of(shapes, strides, offset, storage)
    say(*lines_of(picture, terminal_width(), plain=plain))
    if svg is not None:
        from grader.report.html import svg_of

        write_named(svg, svg_of(picture), "--svg")
        say(f"The picture is in {svg}")


@click.command("explain", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def explain_command(script: str, arguments: tuple[str, ...]) -> None:
    """Run a script of your own, and explain an error of PyTorch with a picture.

    Below the traceback stand the operands that do not fit, and what to try. The script runs as Python runs it, with no
    sandbox. In code of your own:  with grader.explain():
    """
    command = [sys.executable, "-m", "grader.drawing.script", script, *arguments]
    sys.exit(subprocess.run(command, check=False).returncode)


def _picture_of(shapes: tuple[str, ...], strides: str | None, offset: int, storage: int | None) -> Picture:
    """Return a picture of how several shapes broadcast, or of one view on its storage.

    The shape "(2, 3)" with the strides "(1, 2)" is a view on a storage of 6 elements.

    Args:
        shapes: the shapes, as text; with `strides` only the shape of the view.
        strides: the strides of the view, as text; None for shapes that broadcast.
        offset: the offset of the view.
        storage: the number of elements of the storage; None for as many as the view needs.
    """
    read = [_parse_sizes(text) for text in shapes]
    if strides is None:
        if len(read) < 2:
            raise CourseError("one shape is not enough: add a second shape, or --strides")
        rows = tuple(NamedShape(f"shape {number}", shape) for number, shape in enumerate(read, 1))
        return Picture(shapes=Shapes(rows, broadcast=True))
    (shape, *others), steps = read, _parse_sizes(strides)
    if others or len(steps) != len(shape):
        raise CourseError("--strides is for one shape, and has a number from 0 for each of its dims")
    last = offset + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    needed = last + 1 if all(shape) else offset
    if storage is not None and storage < needed:
        raise CourseError(f"index {tuple(size - 1 for size in shape)} reads element {last}; --storage has {storage}")
    return Picture(views=(View("the tensor", shape, steps, offset, needed if storage is None else storage),))


def _parse_sizes(text: str) -> tuple[int, ...]:
    """Parse a shape or strides: "(3, 1)" and "3, 1" become `(3, 1)`, and "3" becomes `(3,)`."""
    try:
        value = ast.literal_eval(text.strip() or "()")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    sizes = (value,) if isinstance(value, int) else tuple(value) if isinstance(value, (tuple, list)) else None
    if sizes is None or len(sizes) > _MOST_DIMS or not all(type(it) is int and 0 <= it <= _MOST_SIZE for it in sizes):
        raise CourseError(f'{text!r} is not a shape; write one as Python does, in quotes: "(3, 1)"')
    return sizes
