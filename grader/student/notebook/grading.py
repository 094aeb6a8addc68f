"""A request from a kernel → a report as HTML and as text. All that it says is a student's word."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import click

from grader.course.answers import submission_of
from grader.course.kept import kept_mistakes
from grader.course.layout import course_for, find_course
from grader.course.load import load_course
from grader.course.names import one_exercise
from grader.grading.diagnose import explainer
from grader.grading.grade import Sheet, grade_at_once
from grader.grading.known import Known
from grader.grading.origin import in_cells as lines_in_cells
from grader.intake.cells import Cell, Module, module_of
from grader.model import Course, Exercise, GradedExercise
from grader.model.errors import GraderError
from grader.model.messages import Setup
from grader.report.html import fragment
from grader.report.terminal import exercise_lines
from grader.runner.lane import Lane
from grader.runner.open import default_start, open_lane

_QUICK_S = 1.0
_TO_TRY = re.compile(r"^To see it in plain Python[^\n]*:$", re.MULTILINE)


class Desk:
    """Answers the requests of one kernel. What was opened for a module stays open until another one is asked for.

    Args:
        waiting: told again and again what goes on, if it takes long.
    """

    def __init__(self, waiting: Callable[[str], None]) -> None:
        self._waiting = waiting
        self._setup = Setup(default_start())
        self._opened = ExitStack()
        self._table: _Table | None = None

    def __enter__(self) -> Desk:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close what is open."""
        self._opened.close()

    def answer(self, request: Mapping[str, Any]) -> dict[str, str]:
        """The report, as `html` and as `text`; or an `error`, in a sentence."""
        try:
            return self._answer(request)
        except GraderError as error:
            self._table = None
            self._opened.close()
            return {"error": str(error)}

    def _answer(self, request: Mapping[str, Any]) -> dict[str, str]:
        folder = Path(request["folder"])
        root, own = (Path(request["course"]), True) if request["course"] else course_for(folder)
        course = load_course(find_course(root), whole=False)
        exercise = one_exercise(course, request["name"])
        cells = [Cell(**row) for row in request["cells"]]
        needed = _asked(exercise)
        module = module_of(cells, (exercise.id, exercise.number), needed, request["names"])
        if not module.lines:
            told = f"no cell that ran has code for {exercise.id}, such as `{min(needed, default=exercise.id)}`"
            return {"error": "\n".join([f"{told}: run your cells first", *module.notes])}
        graded = self._graded(course, exercise, module, folder, own=own)
        lines = [*module.notes, *exercise_lines(graded)]
        return {"html": fragment([graded], module.notes), "text": "\n".join(map(click.unstyle, lines))}

    def _graded(self, course: Course, exercise: Exercise, module: Module, folder: Path, *, own: bool) -> GradedExercise:
        # As if it were a file in that folder, whether there is one or not.
        name = exercise.file_name
        handed_in = submission_of(folder.name, exercise, folder / name, {name: module.source})
        table = self._table_for(course, exercise, own=own)
        sheet = Sheet(course, [exercise], self._setup, runs_untouched=True, has_folder=True)
        explain = explainer(handed_in, self._setup, table.lane, table.known)
        (graded,) = grade_at_once(sheet, handed_in, table.lane, explain=explain).exercises
        if own:
            with suppress(OSError):  # it can be found out again, in a second or two
                table.known.write()
        return in_cells(graded, module)

    def _table_for(self, course: Course, exercise: Exercise, *, own: bool) -> _Table:
        if self._table is None or exercise not in self._table.exercises:
            self._opened.close()
            # A notebook has a module's exercises: the checks of all are read once, so that to go on costs nothing.
            (exercises,) = (module.exercises for module in course.modules if exercise in module.exercises)
            lane = self._opened.enter_context(open_lane(exercises, self._setup))
            lane.watch = self._running
            # Nothing is written into the folder of a course that belongs to no student.
            self._table = _Table(exercises, lane, Known(self._setup, kept_mistakes(course) if own else None))
        return self._table

    def _running(self, what: str, seconds: float) -> None:
        if seconds >= _QUICK_S:
            self._waiting(f"{what}, {seconds:.0f} s")


@dataclass(frozen=True)
class _Table:
    """What is open for a module: its lane, and how known wrong answers behave."""

    exercises: Sequence[Exercise]
    lane: Lane
    known: Known


def _asked(exercise: Exercise) -> list[str]:
    """The functions and classes that an exercise asks for: those of its starter."""
    with suppress(OSError, SyntaxError, ValueError):
        tree = ast.parse(exercise.starter.read_bytes())
        return [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return []


def in_cells(graded: GradedExercise, module: Module) -> GradedExercise:
    """The same with what is said of lines of a file said of lines of cells, where they are."""
    rows = []
    for row in graded.checks:
        told = _in_cells(row.outcome.message, graded.exercise, module)
        rows.append(replace(row, outcome=replace(row.outcome, message=told)))
    return replace(graded, checks=tuple(rows))


def _in_cells(message: str, exercise: Exercise, module: Module) -> str:
    told = lines_in_cells(message, exercise.file_name, module.origins, module.label)
    told = re.sub(rf"\byour {re.escape(exercise.file_name)}", "your notebook", told)
    # Its functions are at hand in the kernel.
    told = re.sub(rf"(?m)^    from {exercise.id} import .*\n", "", told)
    return _TO_TRY.sub("To see it, in a cell of its own:", told)
