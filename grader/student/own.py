"""A student's own files: graded where they lie, tried with the lines that a check gives, packed to be handed in.

A hand-in is one zip. `grade pack` says what is wrong with its files, and writes a receipt, which the student keeps.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.course.layout import Places, kept_results
from grader.grading.lanes import Engine
from grader.grading.plan import RunPlan
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission
from grader.grading.store import Store, open_store
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, GradedCheck, GradedExercise, HandIn, Report, Submission
from grader.model.check import EXAMPLE_TO_TRY, LINES_TO_TRY
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole, zip_bytes
from grader.model.messages import Part, Setup
from grader.model.progress import Progress
from grader.model.report import ExerciseFiles
from grader.model.score import Causes, points_text
from grader.report.safe import for_terminal

_RECEIPT = ".receipt.txt"
_SHORT = 12


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
    course: Course, exercise: Exercise, setup: Setup, progress: Progress | None = None
) -> Iterator[OwnExercise]:
    """A runtime for one exercise, whose workers do not see the folder; `progress` learns what is waited for."""
    with Runtime([exercise], setup, hidden=(course.root,), progress=progress, warm=True) as runtime:
        yield OwnExercise(course, exercise, setup, runtime)


def try_of(course: Course, exercise: Exercise, setup: Setup, progress: Progress) -> tuple[GradedCheck, list[str], str]:
    """Run the lines to try of the first check that has some, in a worker; the check, the lines, what they printed.

    An unchanged file is not graded again.

    Raises:
        CourseError: the file cannot be read, or no check has lines to try.
        GraderError: a process of ours cannot be started.
    """
    handed_in = own_file(course, exercise)
    with (
        open_store(kept_results(course)) as store,
        Runtime([exercise], setup, hidden=(course.root,), progress=progress, warm=True) as runtime,
    ):
        own = OwnExercise(course, exercise, setup, runtime)
        (graded,) = own.graded(handed_in, store, compiles=True).exercises
        rows = Causes.of(graded.checks)
        for row in filter(None, (rows.cause, *rows.same, *rows.lost)):
            if lines := list(lines_of(row, exercise.id)):
                # A course's lines and a student's code: in a worker, as everything that is graded.
                # There, the simulated GPU is on already.
                text = "\n".join(line for line in lines if line not in row.check.device.lines_to_simulate)
                part = Part(frozenset([row.check.id]), with_tries=False, typed={row.check.id: text})
                run = runtime.run(exercise, handed_in.of(exercise).files, setup.seed, part)
                return row, lines, run.outcomes[0].message
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
    text = lines.strip()
    tree = _python(text) or _python(text := text.replace(", and ", ", "))
    nodes = list(ast.walk(tree)) if heading and tree is not None else []
    if not any(isinstance(node, ast.Call) for node in nodes):  # advice in words
        return
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    yield from (f"import {name}" for name in ("math", "torch") if name in names)
    yield from ("import numpy as np",) if "np" in names else ()
    yield from row.check.device.lines_to_simulate
    yield f"from {module} import *"
    # What a prompt would show of an expression, a program must print.
    for node in tree.body if tree is not None else ():
        source = ast.get_source_segment(text, node) or ast.unparse(node)
        yield f"print({source})" if isinstance(node, ast.Expr) and not _prints(node) else source


def _python(text: str) -> ast.Module | None:
    """The syntax tree of an example; None for advice in words."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _prints(node: ast.Expr) -> bool:
    match node.value:
        case ast.Call(func=ast.Name(id="print")):
            return True
    return False


# -- a hand-in


@dataclass(frozen=True)
class Receipt:
    """Of one zip.

    Attributes:
        name: of the zip.
        archive: the zip.
        files: what is in it, by path.
        report: of grading the files, with its time.
        problems: what is wrong with the files.
    """

    name: str
    archive: bytes
    files: Mapping[str, bytes]
    report: Report
    problems: tuple[str, ...]

    def text(self) -> str:
        """The receipt as a file; `sha256sum --check` reads its lines with digests."""
        lines = [
            f"# {for_terminal(self.report.course, one_line=True)}",
            f"# packed {self.report.graded_at}, {len(self.archive)} bytes",
            *(f"# {graded.exercise.number} {_points(graded)}" for graded in self.report.exercises),
            *(f"# {problem.splitlines()[0]}" for problem in self.problems),
            f"{_digest(self.archive)}  {self.name}",
            *(f"# {_digest(data)}  {for_terminal(path, one_line=True)}" for path, data in sorted(self.files.items())),
        ]
        return "\n".join(lines) + "\n"

    def lines(self) -> Iterator[str]:
        """What is printed: digests of files are cut, as the receipt has them in full."""
        for graded in self.report.exercises:
            exercise, folder = graded.exercise, f"{Places.of(graded.exercise).shown.as_posix()}/"
            yield f"{exercise.number} {for_terminal(exercise.title, one_line=True)}"
            yield f"      {_points(graded)}"
            for path, data in sorted(self.files.items()):
                if path.startswith(folder):
                    name = for_terminal(path.removeprefix(folder), one_line=True)
                    yield f"      {_digest(data)[:_SHORT]}  {name}"
        digest = _digest(self.archive)
        yield from ("", f"{self.name}, {len(self.archive):,} bytes, sha256", f"  {digest[:32]}", f"  {digest[32:]}")

    def write(self, out: Path) -> Path:
        """Write the zip and its receipt into a folder; the path of the receipt.

        Raises:
            CourseError: they cannot be written.
        """
        path = out / self.name
        receipt = path.with_suffix(_RECEIPT)
        with failing_as(f"{path} could not be written", "name another folder with --out"):
            write_whole(path, self.archive)
            write_whole(receipt, self.text())
        return receipt


def the_handin(course: Course) -> HandIn | None:
    """The hand-in of a course that has one; None for a course without any.

    Raises:
        CourseError: the course has several.
    """
    if len(course.handins) > 1:
        raise CourseError(f"say which hand-in: --handin {' or '.join(handin.id for handin in course.handins)}")
    return course.handins[0] if course.handins else None


def pack(
    course: Course,
    handin: HandIn | None,
    setup: Setup,
    out: Path,
    progress: Progress,
    cells: Mapping[str, ExerciseFiles] | None = None,
) -> Receipt:
    """Return the zip of a hand-in, with what is wrong with it. The files are graded, which shows whether they load.

    Args:
        course: in the student's folder.
        handin: whose exercises are packed; None for all.
        setup: of the run.
        out: the folder that the zip will be written to.
        progress: learns what is running, and for how many seconds.
        cells: by exercise, what the cells of a notebook have; it counts in place of the file in the folder.

    Raises:
        CourseError: there is no file to pack, or the folder cannot be written to.
    """
    if not out.is_dir():
        raise CourseError(f"--out: there is no folder {out}; make it first")
    if not os.access(out, os.W_OK):  # said before anything is graded
        raise CourseError(f"{out.resolve()} cannot be written to; name another folder with --out")
    exercises = [exercise for exercise in course.exercises if handin is None or exercise.id in handin.exercises]
    submission = own_files(course, exercises)
    given = {exercise.id: cells[exercise.id] for exercise in exercises if cells and exercise.id in cells}
    submission = replace(submission, exercises={**submission.exercises, **given})
    files = packed_files(submission, exercises)
    if not files:
        raise CourseError(
            f"there is nothing to pack: {'; '.join(own.problem for own in submission.exercises.values())}"
        )
    plan = RunPlan(course, exercises, setup, handin=handin.id if handin else None)
    with Runtime(plan.to_run(submission), setup, progress=progress) as runtime:
        report = grade_submission(plan, submission, runtime)
    name = handin.id if handin else re.sub(r"\W+", "_", course.title).strip("_").lower() or "handin"
    return Receipt(f"{name}.zip", zip_bytes(files), files, report, tuple(_problems(submission, report)))


def packed_files(submission: Submission, exercises: Sequence[Exercise]) -> dict[str, bytes]:
    """The files that grading reads of a submission, each at its place in the course."""
    return {
        (Places.of(exercise).shown / name).as_posix(): data
        for exercise in exercises
        for name, data in submission.of(exercise).files.items()
    }


def _problems(submission: Submission, report: Report) -> Iterator[str]:
    """A sentence for each exercise that needs work before it is handed in."""
    for graded in report.exercises:
        exercise, own = graded.exercise, submission.of(graded.exercise)
        if own.problem:
            texts = [own.problem]
        elif own.untouched:
            texts = ["the file is still the unchanged starter; it earns 0"]
        else:
            texts = [row.outcome.message for row in graded.checks if row.outcome.cause == "load"]
        yield from (for_terminal(f"{exercise.number} {exercise.id}: {text}") for text in texts[:1])


def _points(graded: GradedExercise) -> str:
    shown = [row.score for row in graded.checks if row.check.shown]
    if not shown:
        return "not run"
    earned, possible = sum(score.earned for score in shown), sum(score.possible for score in shown)
    return f"shown checks {points_text(earned)} / {points_text(possible)} points"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
