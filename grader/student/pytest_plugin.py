"""A pytest plugin: `pytest exercises/...` runs shown checks as `grade` does, and editors list them as tests.

It runs in the user's own pytest, so it imports neither a check file nor student code. A lane runs the checks and
returns verdicts and messages. The plugin handles files named `check_*.py` in a course's folder, and no others.
Our own check processes do not load it, because plugin autoload is off there.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Collection, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

# What reads courses and starts lanes is imported when a check file is met: all else need not wait for it.
if TYPE_CHECKING:
    from grader.grading.lanes import Lanes
    from grader.model import Course, Exercise, GradedCheck, GradedExercise

_NARROWEST = 40
_OURS = pytest.StashKey["dict[Path, Bench]"]()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect a course's check file by a lane, and keep other plugins from it, because they would import it."""
    others = yield
    if file_path.suffix != ".py" or not file_path.name.startswith("check_"):
        return others
    from grader.model.errors import GraderError

    try:
        bench = _bench_for(parent.config, file_path)
        exercise = bench.exercise_of(file_path) if bench is not None else None
    except GraderError as error:
        return [CheckFile.from_parent(parent, path=file_path, bench=None, exercise=None, problem=str(error))]
    if exercise is None:
        return others
    return [CheckFile.from_parent(parent, path=file_path, bench=bench, exercise=exercise)]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the lanes."""
    for bench in config.stash.get(_OURS, {}).values():
        bench.close()


def _bench_for(config: pytest.Config, path: Path) -> Bench | None:
    from grader.course.layout import is_course
    from grader.course.load import load_course

    root = next((folder for folder in path.parents if is_course(folder)), None)
    if root is None:
        return None
    benches = config.stash.setdefault(_OURS, {})
    if root not in benches:
        benches[root] = Bench(load_course(root, whole=False))
    return benches[root]


class Bench:
    """A course whose checks are run. Its lane is opened with the first file, and serves all of them.

    Args:
        course: the course.
    """

    def __init__(self, course: Course) -> None:
        self._course = course
        self._opened = ExitStack()
        self._lanes: Lanes | None = None
        self._graded: dict[str, GradedExercise] = {}

    def exercise_of(self, path: Path) -> Exercise | None:
        """The exercise whose checks are in a file.

        Raises:
            CourseError: it cannot be used.
        """
        from grader.model.errors import CourseError

        for broken in self._course.broken:
            if path.parent.parts[-2:] == (broken.module, broken.id):
                raise CourseError(*broken.problems)
        files = ((item, file) for item in self._course.exercises for file in (item.shown_checks, item.hidden_checks))
        return next((item for item, file in files if file is not None and file.resolve() == path.resolve()), None)

    def checks(self, exercise: Exercise, path: Path) -> list[str]:
        """The names of the checks in a file.

        Raises:
            GraderError: no process of ours can be had.
            CollectError: the file cannot be read.
        """
        collected = self._open().collected()
        if problem := collected.problems.get(exercise.id):
            raise pytest.Collector.CollectError(problem)
        is_shown = exercise.shown_checks is not None and exercise.shown_checks.resolve() == path.resolve()
        checks = (check for check in collected.checks if check.exercise == exercise.id)
        return [check.id for check in checks if check.shown == is_shown]

    def graded(self, exercise: Exercise, checks: Collection[str]) -> GradedExercise:
        """The outcomes of some checks of an exercise; they run together, once."""
        from grader.grading.lanes import setup_of
        from grader.student.own import grade_own, own_files

        if exercise.id not in self._graded:
            course, lanes, only = self._course, self._open(), frozenset(checks)
            handed_in = own_files(course, [exercise])
            report = grade_own(course, exercise, setup_of(), lanes, handed_in, checks=only)
            (self._graded[exercise.id],) = report.exercises
        return self._graded[exercise.id]

    def _open(self) -> Lanes:
        from grader.grading.lanes import open_lanes, setup_of

        if self._lanes is None:
            self._lanes = self._opened.enter_context(open_lanes(self._course.exercises, setup_of()))
        return self._lanes

    def close(self) -> None:
        """End its processes."""
        self._opened.close()


class CheckFile(pytest.File):
    """A file of checks, which is read here to see in which line each begins, and never run.

    Args:
        bench: of its course.
        exercise: whose checks they are.
        problem: why the course cannot be read.
    """

    def __init__(self, *, bench: Bench | None, exercise: Exercise | None, problem: str = "", **rest: Any) -> None:
        super().__init__(**rest)
        self.bench = bench
        self.exercise = exercise
        self.problem = problem

    def collect(self) -> Iterator[pytest.Item]:
        """One item for each check."""
        from grader.model.errors import GraderError

        if self.bench is None or self.exercise is None:
            raise self.CollectError(self.problem)
        try:
            ids = self.bench.checks(self.exercise, self.path)
        except GraderError as error:
            raise self.CollectError(str(error)) from None
        lines = {
            node.name: node.lineno - 1
            for node in ast.parse(self.path.read_bytes()).body
            if isinstance(node, ast.FunctionDef)
        }
        for id in ids:
            name = f"check_{id}"
            yield CheckItem.from_parent(self, name=name, check=id, line=lines.get(name.partition("[")[0], 0))


class CheckItem(pytest.Item):
    """A check as pytest shows it.

    Args:
        check: its id.
        line: where it begins.
    """

    parent: CheckFile

    def __init__(self, *, check: str, line: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.check = check
        self.line = line

    def setup(self) -> None:
        """Grade the exercise with all of its checks that are to run, once; a fault of ours is an error."""
        from grader.model import Verdict
        from grader.model.errors import GraderError

        try:
            row, _ = self._graded()
        except GraderError as error:
            pytest.fail(str(error), pytrace=False)
        if row.outcome.verdict is Verdict.BROKEN:
            _fail(row)

    def runtest(self) -> None:
        """Pass, be skipped with a reason, or fail with the message."""
        from grader.model import Verdict
        from grader.model.score import Causes
        from grader.report.safe import for_terminal

        row, graded = self._graded()
        verdict, message = row.outcome.verdict, row.outcome.message
        if verdict is Verdict.PASSED:
            if graded.state == "not_started":  # what a starter does of itself earns nothing
                _skip(f"{graded.exercise.file_name} is the unchanged starter")
            return
        # What cannot be judged is reported once: the check that is the cause fails, the others are skipped.
        waits = verdict in (Verdict.ERROR, Verdict.SKIPPED) and row is not Causes.of(graded.checks).cause
        if not verdict.decided or waits:
            _skip(message or verdict.value.replace("_", " "))
        if graded.output:  # of all checks that ran; it is unknown which of them printed it
            self.add_report_section("call", "stdout", for_terminal(graded.output))
        _fail(row)

    def _graded(self) -> tuple[GradedCheck, GradedExercise]:
        """This check as it was graded, and its exercise with those that ran with it."""
        file = self.parent
        assert file.bench is not None
        assert file.exercise is not None
        ours = (item for item in self.session.items if isinstance(item, CheckItem))
        ids = [item.check for item in ours if item.parent.exercise == file.exercise]
        graded = file.bench.graded(file.exercise, ids)
        return next(row for row in graded.checks if row.check.id == self.check), graded

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands, for editors, and what it is called."""
        return self.path, self.line, self.name


def _fail(row: GradedCheck) -> NoReturn:
    """Fail with the message for the student, and no traceback of ours."""
    from grader.report.safe import WIDTH
    from grader.report.terminal import message_lines

    width = max(_NARROWEST, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))
    pytest.fail("\n".join(message_lines(row, width)), pytrace=False)


def _skip(message: str) -> NoReturn:
    """End with a reason of one line."""
    from grader.report.safe import for_terminal

    pytest.skip(for_terminal(message.split("\n")[0]))
