"""An exercise graded from the cells of a notebook: `python -m grader.student.notebook`, which a kernel talks with.

The kernel is the student's process, so nothing of a course is read in it: it sends the source of its cells, a line of
JSON, and gets a report as HTML and as text. A request is untrusted.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from grader.course.answers import submission_of
from grader.course.layout import course_for, find_course, results_path
from grader.course.load import load_course, one_exercise
from grader.grading.diagnosis import KnownMistakes
from grader.grading.handed_in import with_cell_lines
from grader.grading.lanes import setup_of
from grader.grading.plan import RunPlan
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission
from grader.grading.store import open_store
from grader.intake.cells import tree_or_none
from grader.intake.match import names_in_starter, starter_names
from grader.intake.notebook import Cell, ModuleText, imports_answer, module_of_run_cells
from grader.model import Course, Exercise, GradedCheck, GradedExercise, Submission, Verdict
from grader.model.check import LINES_TO_TRY
from grader.model.errors import CourseError, GraderError
from grader.model.progress import Progress
from grader.model.report import ExerciseFiles
from grader.report.html import fragment
from grader.report.safe import for_html
from grader.report.terminal import exercise_lines
from grader.student.pack import only_handin, pack

_MOST_FILES = 50
_MOST_BYTES = 1 << 20
_QUICK_S = 1.0
"""What takes less needs no word while it runs."""

_OF_FILE = "the file beside the notebook is graded, since the notebook imports the functions from it"
_TO_TRY = re.compile(rf"^{LINES_TO_TRY}[^\n]*:$", re.MULTILINE)


class NotebookGrader:
    """Answers the requests of one kernel. Its runtime is of one module, and stays open until a request names another.

    Args:
        progress: the progress that runs report to.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._setup = setup_of()
        self._opened = ExitStack()
        self._lanes: Runtime | None = None
        self._exercises: Sequence[Exercise] = ()

    def close(self) -> None:
        """Close the runtime and the store that are open."""
        self._lanes = None
        self._opened.close()

    def answer(self, request: Mapping[str, Any]) -> dict[str, str]:
        """Grade an exercise or pack a hand-in, as a kernel's request asks; return the answer.

        A request with `{"what": "pack"}` packs. Any other grades the exercise in `name`; if that is "", it grades all
        that the notebook has.

        Returns:
            A dict with a report as `html` and `text`, with `text` alone, or with an `error`, a sentence.
        """
        try:
            if request.get("what") == "pack":
                return self._pack(request)
            return self._grade_request(request) if request["name"] else self._grade_all_exercises(request)
        except GraderError as error:
            self.close()
            return {"error": str(error)}

    def _grade_all_exercises(self, request: Mapping[str, Any]) -> dict[str, str]:
        """Grade each exercise of which the notebook defines a function, and join the reports.

        Returns:
            A dict with the reports as `html` and `text`, or with an `error`, a sentence.
        """
        root = Path(request["course"]) if request["course"] else course_for(Path(request["folder"]))[0]
        course = load_course(find_course(root), whole=False)
        there = {*request["names"]}
        names = [exercise.id for exercise in course.exercises if there & starter_names(exercise)]
        if not names:
            return {
                "error": "no cell that was run defines a function of an exercise; run your cells, or name an exercise: "
                'check("1-1")'
            }
        answers = [self._grade_request({**request, "name": name}) for name in names]
        texts = [
            answer.get("text") or f"{name}: {answer['error']}" for name, answer in zip(names, answers, strict=True)
        ]
        pages = [
            answer.get("html") or f"<pre>{for_html(text)}</pre>" for answer, text in zip(answers, texts, strict=True)
        ]
        return {"text": "\n\n".join(texts), "html": "\n".join(pages)}

    def _pack(self, request: Mapping[str, Any]) -> dict[str, str]:
        """Write a zip of a hand-in beside the notebook, unless something is wrong with it.

        If the request has `force`, the zip is written all the same.

        Returns:
            A dict with `text`: the receipt, or why nothing was written.
        """
        folder = Path(request["folder"])
        root = Path(request["course"]) if request["course"] else course_for(folder)[0]
        course = load_course(find_course(root))
        if name := request["name"]:
            chosen = next((handin for handin in course.handins if handin.id == name), None)
            if chosen is None:
                known = ", ".join(handin.id for handin in course.handins) or "none"
                raise CourseError(f"there is no hand-in {name!r}; the course has: {known}")
        elif len(course.handins) > 1:
            calls = " or ".join(f'pack("{handin.id}")' for handin in course.handins)
            raise CourseError(f"say which hand-in: {calls}")
        else:
            chosen = only_handin(course)
        cells: dict[str, ExerciseFiles] = {}
        for exercise in course.exercises:
            source, _ = self._read_cells(course, exercise, request)
            if source:
                cells[exercise.id] = _submission_of(exercise, folder, source).files_of(exercise)
        receipt = pack(course, chosen, self._setup, folder, self._progress, cells)
        if receipt.problems and not request["force"]:
            again = f'pack("{name}", force=True)' if name else "pack(force=True)"
            return {"text": "\n".join([*receipt.problems, "", f"Nothing was packed. Fix this, or run  {again}"])}
        written = receipt.write(folder)
        places = f"The receipt is in {written}", f"Hand in  {folder / receipt.name}"
        return {"text": "\n".join([*receipt.problems, *receipt.lines(), *places])}

    def _read_cells(self, course: Course, exercise: Exercise, request: Mapping[str, Any]) -> tuple[bytes, ModuleText]:
        """Return the source of an exercise in the notebook, and the module made of its cells.

        The source is b"" if no cell has it. If the cells import the functions from a file beside the notebook, the
        source is that file, and the module is empty.
        """
        cells, needed = [Cell(**row) for row in request["cells"]], starter_names(exercise)
        answer = Path(request["folder"]) / exercise.file_name
        if answer.is_file() and imports_answer(cells, exercise.id, needed):
            return answer.read_bytes(), ModuleText("", notes=[_OF_FILE])
        others = {name for other in course.exercises for name in starter_names(other)}.difference(needed)
        goes_by = (exercise.id, exercise.number)
        module = module_of_run_cells(cells, goes_by, needed, request["names"], others, names_in_starter(exercise))
        return module.source if module.lines else b"", module

    def _grade_request(self, request: Mapping[str, Any]) -> dict[str, str]:
        folder = Path(request["folder"])
        root, own = (Path(request["course"]), True) if request["course"] else course_for(folder)
        course = load_course(find_course(root), whole=False)
        exercise = one_exercise(course, request["name"])
        source, module = self._read_cells(course, exercise, request)
        if not source:
            name = min(starter_names(exercise), default=exercise.id)
            return {
                "error": "\n".join([f"run the cell that defines `{name}` first: {exercise.id} needs it", *module.notes])
            }
        return self._grade(course, exercise, folder, source, module, own=own)

    def _grade(
        self, course: Course, exercise: Exercise, folder: Path, source: bytes, module: ModuleText, *, own: bool
    ) -> dict[str, str]:
        """Grade a source as if it were the exercise's file, and return the report.

        Args:
            course: the course of the exercise.
            exercise: the exercise.
            folder: the folder of the notebook, which has the files that the source imports.
            source: the source.
            module: the module that was made of the cells; empty if the source is a file.
            own: True if the course is in the student's own folder, where results may be saved.

        Returns:
            A dict with the report as `html` and `text`.
        """
        handed_in = _submission_of(exercise, folder, source)
        lanes = self._open_runtime(course, exercise, own=own)
        plan = RunPlan(course, [exercise], self._setup, runs_untouched=True, has_folder=True)
        graded = grade_submission(plan, handed_in, lanes).exercises[0]
        if module.lines:
            graded = with_messages_about_cells(graded, module)
        lines = [*module.notes, *exercise_lines(graded)]
        return {"html": fragment([graded], module.notes), "text": "\n".join(map(click.unstyle, lines))}

    def _open_runtime(self, course: Course, exercise: Exercise, *, own: bool) -> Runtime:
        """Return the open runtime of the exercise's module, after opening it if necessary.

        A runtime of another module is closed first.

        Args:
            course: the course of the exercise.
            exercise: the exercise.
            own: True if the course is in the student's own folder, where results may be saved.
        """
        if self._lanes is None or exercise not in self._exercises:
            self.close()
            (self._exercises,) = (module.exercises for module in course.modules if exercise in module.exercises)
            # Nothing is written into the folder of a course that belongs to no student.
            store = self._opened.enter_context(open_store(results_path(course) if own else None))
            known = KnownMistakes(self._setup, store)
            lanes = Runtime(self._exercises, self._setup, known=known, progress=self._progress, warm=True)
            self._lanes = self._opened.enter_context(lanes)
        return self._lanes


class KernelProgress(Progress):
    """Sends what is running to the kernel, if it takes long."""

    def __init__(self, send: Callable[[dict[str, str]], None]) -> None:
        self._send = send

    def running(self, what: str, seconds: float) -> None:
        """Send the kernel a line on what runs, once it has taken a second.

        For example, "Comparing with known mistakes, 3 s".
        """
        if seconds >= _QUICK_S:
            self._send({"waiting": f"{what}, {seconds:.0f} s"})


def _submission_of(exercise: Exercise, folder: Path, source: bytes) -> Submission:
    """Return a submission in which `source` is the exercise's file.

    It also has the Python files of the folder that the source imports.
    """
    files = {**_files_beside(folder, source), exercise.file_name: source}
    return submission_of(folder.name, exercise, folder / exercise.file_name, files)


def _files_beside(folder: Path, source: bytes) -> dict[str, bytes]:
    """Return the contents of the Python files in a folder that a source imports, by path.

    `import helpers` returns `{"helpers.py": b"..."}`. Files that those import in turn are there, too, up to a limit.
    """
    files: dict[str, bytes] = {}
    todo = [source]
    while todo:
        for name in sorted(_imported_modules(todo.pop())):
            for path in [folder / f"{name}.py", *sorted((folder / name).rglob("*.py"))][:_MOST_FILES]:
                place = path.relative_to(folder).as_posix()
                if (
                    place not in files
                    and path.is_file()
                    and path.stat().st_size <= _MOST_BYTES
                    and len(files) < _MOST_FILES
                ):
                    files[place] = path.read_bytes()
                    todo.append(files[place])
    return files


def _imported_modules(source: bytes) -> set[str]:
    """Return the top-level names of the modules that a source imports.

    `import a.b` and `from c.d import e` return `{"a", "c"}`. The result is empty if the source is not Python.
    """
    tree = tree_or_none(source.decode("utf-8", "replace"))
    names: set[str] = set()
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name.partition(".")[0] for alias in aliases}
            case ast.ImportFrom(module=str() as module):
                names.add(module.partition(".")[0])
            case ast.ImportFrom(module=None, names=aliases):
                names |= {alias.name for alias in aliases}
    return names


def with_messages_about_cells(graded: GradedExercise, module: ModuleText) -> GradedExercise:
    """Return a graded exercise with messages about cells of a notebook, not about a file.

    "passport.py, line 7" becomes "In [2], line 1", and "your passport.py" becomes "your notebook". Lines to try do not
    import the student's file. A check of a function that is not written yet is skipped.

    Args:
        graded: the graded exercise.
        module: the module that was made of the cells, with the cell and line that each of its lines comes from.
    """
    name = graded.exercise.file_name

    def named(row: GradedCheck) -> GradedCheck:
        message = with_cell_lines(row.outcome.message, name, module.origins, module.label)
        message = re.sub(rf"\byour {re.escape(name)}", "your notebook", message)
        # The kernel has its functions already.
        message = re.sub(rf"(?m)^    from {graded.exercise.id} import .*\n", "", message)
        message = _TO_TRY.sub("To see it, run in a cell of its own:", message)
        outcome = replace(row.outcome, message=message)
        if outcome.verdict is Verdict.ERROR and outcome.cause == "name":
            # The starter's functions are in a file; in a notebook one that is not written yet is not there.
            outcome = replace(outcome, verdict=Verdict.SKIPPED, cause="raised")
        return replace(row, outcome=outcome)

    return replace(graded, checks=tuple(map(named, graded.checks)))


def main() -> None:
    """Answer requests on standard input until the kernel closes it."""
    # Anything that prints at import must not reach the kernel in the middle of an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(answer: dict[str, str]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    with closing(NotebookGrader(KernelProgress(send))) as grader:
        for line in sys.stdin:
            send(grader.answer(json.loads(line)))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
