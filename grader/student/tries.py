"""`grade try`: the lines to try that a report prints, run as the student would type them, in the exercise's folder."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from grader.course.layout import kept_results
from grader.grading.lanes import open_lanes
from grader.grading.plan import RunPlan
from grader.grading.schedule import grade_submission
from grader.grading.store import open_store
from grader.intake.collect import read_submission
from grader.model import Course, Device, Exercise, GradedCheck
from grader.model.check import EXAMPLE_TO_TRY, LINES_TO_TRY
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.model.score import Causes

_SIM = ("from grader import accelerator", 'accelerator.enable("sim")')


@dataclass(frozen=True)
class Try:
    """Lines of Python that show what a check complains about.

    Attributes:
        row: the check.
        lines: what to type in the exercise's folder.
    """

    row: GradedCheck
    lines: tuple[str, ...]


def try_of(course: Course, exercise: Exercise, setup: Setup, running: Callable[[str, float], None]) -> Try:
    """The lines to try of the first check that has some. An unchanged file is not graded again.

    Raises:
        CourseError: the file cannot be read, or no check has lines to try.
        GraderError: a process of ours cannot be started.
    """
    handed_in = read_submission(course.root, [exercise], author=course.root.resolve().name)
    if problem := handed_in.problems.get(exercise.id):
        raise CourseError(problem)
    plan = RunPlan(course, [exercise], setup, runs_untouched=True, has_folder=True, compiles=True)
    with (
        open_store(kept_results(course)) as store,
        open_lanes(plan.to_run(handed_in), setup, hidden=(course.root,), watch=running) as lanes,
    ):
        (graded,) = grade_submission(plan, handed_in, lanes, store).exercises
    rows = Causes.of(graded.checks)
    for row in filter(None, (rows.cause, *rows.same, *rows.lost)):
        if lines := tuple(lines_of(row, exercise.id)):
            return Try(row, lines)
    if rows.cause is None:
        raise CourseError(f"all checks of {exercise.id} pass, so there is nothing to try")
    raise CourseError(f"no check of {exercise.id} has lines to try;  grade {exercise.id}  shows what the checks say")


def lines_of(row: GradedCheck, module: str) -> Iterator[str]:
    """The lines that a message ends with; of an example, with what it needs and a `print`."""
    message = row.outcome.message
    _, heading, lines = message.rpartition(f"\n{LINES_TO_TRY}")
    if heading:
        yield from (line.removeprefix("    ") for line in lines.split("\n")[1:] if line.startswith("    "))
        return
    _, heading, lines = message.rpartition(f"\n{EXAMPLE_TO_TRY}")
    text = lines.strip().replace(", and ", ", ")
    try:
        tree = ast.parse(text) if heading and "(" in text else None
    except SyntaxError:  # advice in words
        tree = None
    if tree is not None:
        yield from (f"import {name}" for name in ("math", "torch") if f"{name}." in text)
        yield from ("import numpy as np",) if "np." in text else ()
        yield from _SIM if row.check.device is Device.SIM else ()
        yield f"from {module} import *"
        # What a prompt would show of an expression, a program must print.
        for node in tree.body:
            source = ast.unparse(node) if len(tree.body) > 1 else text
            yield f"print({source})" if isinstance(node, ast.Expr) else source


def run(exercise: Exercise, lines: tuple[str, ...]) -> None:
    """Run lines in the exercise's folder, in an interpreter of their own."""
    subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=exercise.starter.parent, check=False)
