"""A student's own files, read and graded where they lie; and `grade try`, which runs the lines that a check gives."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from grader.course.layout import kept_results
from grader.grading.lanes import Engine, open_lanes
from grader.grading.plan import RunPlan
from grader.grading.schedule import grade_submission
from grader.grading.store import Store, open_store
from grader.intake.collect import read_submission
from grader.model import Course, Device, Exercise, GradedCheck, Report, Submission
from grader.model.check import EXAMPLE_TO_TRY, LINES_TO_TRY
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.model.score import Causes

Running = Callable[[str, float], None]
"""Receives what is running, and for how many seconds."""

_SIM = ("from grader import accelerator", 'accelerator.enable("sim")')


def own_files(course: Course, exercises: Sequence[Exercise]) -> Submission:
    """What a student's folder has of these exercises."""
    return read_submission(course.root, exercises, author=course.root.resolve().name)


def own_file(course: Course, exercise: Exercise) -> Submission:
    """What it has of one exercise.

    Raises:
        CourseError: there is no file, or it cannot be read.
    """
    handed_in = own_files(course, [exercise])
    if problem := handed_in.of(exercise).problem:
        raise CourseError(problem)
    return handed_in


@dataclass(frozen=True)
class OwnExercise:
    """An exercise in a student's folder, with what grades it: `own_exercise` opens one.

    Attributes:
        course: the student's folder.
        exercise: the exercise.
        setup: how the run is set up.
        lanes: what grades it.
    """

    course: Course
    exercise: Exercise
    setup: Setup
    lanes: Engine

    def graded(self, handed_in: Submission | None = None, store: Store | None = None, **choices: Any) -> Report:
        """Grade it, even if its file is the starter.

        Args:
            handed_in: what is graded; by default the student's file as it is now.
            store: has the results of earlier runs.
            choices: of a `RunPlan`.

        Raises:
            CourseError: the file cannot be read.
            GraderError: a process of ours cannot be started.
        """
        plan = RunPlan(self.course, [self.exercise], self.setup, runs_untouched=True, has_folder=True, **choices)
        return grade_submission(plan, handed_in or own_file(self.course, self.exercise), self.lanes, store)


@contextmanager
def own_exercise(
    course: Course, exercise: Exercise, setup: Setup, running: Running | None = None
) -> Iterator[OwnExercise]:
    """Lanes for one exercise, whose workers do not see the folder; `running` receives what they wait for."""
    with open_lanes([exercise], setup, hidden=(course.root,), watch=running) as lanes:
        yield OwnExercise(course, exercise, setup, lanes)


def try_of(course: Course, exercise: Exercise, setup: Setup, running: Running) -> tuple[GradedCheck, list[str]]:
    """The first check that has lines to try, and these lines. An unchanged file is not graded again.

    Raises:
        CourseError: the file cannot be read, or no check has lines to try.
        GraderError: a process of ours cannot be started.
    """
    handed_in = own_file(course, exercise)
    with open_store(kept_results(course)) as store, own_exercise(course, exercise, setup, running) as own:
        (graded,) = own.graded(handed_in, store, compiles=True).exercises
    rows = Causes.of(graded.checks)
    for row in filter(None, (rows.cause, *rows.same, *rows.lost)):
        if lines := list(lines_of(row, exercise.id)):
            return row, lines
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
        tree = ast.parse(text) if heading and "(" in text else ast.Module([], [])
    except SyntaxError:  # advice in words
        return
    if tree.body:
        yield from (f"import {name}" for name in ("math", "torch") if f"{name}." in text)
        yield from ("import numpy as np",) if "np." in text else ()
        yield from _SIM if row.check.device is Device.SIM else ()
        yield f"from {module} import *"
    # What a prompt would show of an expression, a program must print.
    for node in tree.body:
        source = ast.unparse(node) if len(tree.body) > 1 else text
        yield f"print({source})" if isinstance(node, ast.Expr) else source


def run(exercise: Exercise, lines: Sequence[str]) -> None:
    """Run lines in the exercise's folder, in an interpreter of their own."""
    subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=exercise.starter.parent, check=False)
