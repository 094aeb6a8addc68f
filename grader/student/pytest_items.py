"""The items of `pytest_plugin`: a check is an item, and a lane runs it, which returns its verdict and its message.

This is the user's own pytest, so neither a check file nor student code is imported here.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import pytest

from grader.course.layout import is_course
from grader.course.load import load_course
from grader.grading.lanes import setup_of
from grader.grading.runtime import Runtime
from grader.model import Course, Exercise, GradedCheck, GradedExercise, Verdict
from grader.model.errors import CourseError, GraderError
from grader.model.score import Causes
from grader.report.console import terminal_width
from grader.report.safe import for_terminal
from grader.report.terminal import message_lines
from grader.report.words import printed_in, warnings_in
from grader.student.own import OwnExercise, read_own_files

_OURS = pytest.StashKey["dict[Path, CourseLane]"]()


def collector_of(path: Path, parent: pytest.Collector) -> pytest.File | None:
    """Return the collector of a course's check file; None for any other file."""
    root = next((folder for folder in path.parents if is_course(folder)), None)
    if root is None:
        return None
    lanes = parent.config.stash.setdefault(_OURS, {})
    try:
        if root not in lanes:
            lanes[root] = CourseLane(load_course(root, whole=False))
            parent.config.add_cleanup(lanes[root].close)
        exercise = lanes[root].exercise_of(path)
    except GraderError as error:
        raise parent.CollectError(str(error)) from None
    return PytestCheckFile.from_parent(parent, path=path, lane=lanes[root], exercise=exercise) if exercise else None


class CourseLane:
    """The lane of a course whose checks are run. It is opened with the first check, and serves all of them.

    Args:
        course: the course.

    Attributes:
        check_s: seconds that a check's own code may take, if that is less than its exercise allows.
    """

    def __init__(self, course: Course) -> None:
        self.check_s = math.inf
        self._course = course
        self._opened = ExitStack()
        self._graded: dict[str, GradedExercise] = {}

    def exercise_of(self, path: Path) -> Exercise | None:
        """Return the exercise that a check file belongs to; None if it belongs to no exercise.

        Raises:
            CourseError: the exercise or its course cannot be used.
        """
        for broken in self._course.broken:
            if path.parent.parts[-2:] == (broken.module, broken.id):
                raise CourseError(*broken.problems)
        files = ((item, file) for item in self._course.exercises for file in (item.shown_checks, item.hidden_checks))
        return next((item for item, file in files if file is not None and file.resolve() == path.resolve()), None)

    def grade(self, exercise: Exercise, checks: Collection[str]) -> GradedExercise:
        """Grade an exercise by the named checks, and return the result.

        Later calls for the exercise return the same result, even for other checks.
        """
        if exercise.id not in self._graded:
            own = OwnExercise(self._course, exercise, setup_of(), self._runtime)
            handed_in = read_own_files(self._course, [exercise])
            (self._graded[exercise.id],) = own.grade(handed_in, checks=frozenset(checks)).exercises
        return self._graded[exercise.id]

    @cached_property
    def _runtime(self) -> Runtime:
        return self._opened.enter_context(
            Runtime([*map(self._with_limit, self._course.exercises)], setup_of(), warm=True)
        )

    def _with_limit(self, exercise: Exercise) -> Exercise:
        """Return the exercise with the lower of two limits on the own time of its checks.

        The limits are the exercise's `check_s` and the lane's, in seconds: with 10 and 5, it is 5. In the exercise, 0
        means no limit; in the lane, infinity does.
        """
        seconds = min(exercise.limits.check_s or math.inf, self.check_s)
        return replace(exercise, limits=replace(exercise.limits, check_s=0 if math.isinf(seconds) else seconds))

    def close(self) -> None:
        """Close the runtime, and with it its processes."""
        self._opened.close()


class PytestCheckFile(pytest.File):
    """A file of checks, which is read here to see in which line each begins, and never run.

    Args:
        lane: the lane of its course.
        exercise: the exercise that the checks belong to.
    """

    def __init__(self, *, lane: CourseLane, exercise: Exercise, **rest: Any) -> None:
        super().__init__(**rest)
        self.lane = lane
        self.exercise = exercise

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one item for each check."""
        try:
            body = ast.parse(self.path.read_bytes()).body
        except (OSError, SyntaxError, ValueError) as error:
            raise self.CollectError(f"{self.path.name} cannot be read: {error}") from None
        for node in body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("check_") and node.decorator_list:
                yield CheckItem.from_parent(self, name=node.name, line=node.lineno - 1)


class CheckItem(pytest.Item):
    """A check as pytest shows it.

    Args:
        line: the line at which it begins.
    """

    parent: PytestCheckFile

    def __init__(self, *, line: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.check = self.name.removeprefix("check_")
        self.line = line

    def limit_own_time(self, seconds: float) -> bool:
        """Limit the time that checks run themselves, without the student code that they call.

        The hook of pytest-timeout calls this, and sets no timer of its own, since that would also count the student
        code.

        Args:
            seconds: the limit; it holds for all checks of the course.

        Returns:
            True, by which the hook says that a limit is set.
        """
        self.parent.lane.check_s = seconds
        return True

    def setup(self) -> None:
        """Grade the exercise, once for all of its checks that pytest runs.

        Fail the item if the grader failed, or if the check itself is broken.
        """
        try:
            row, _, _ = self._reported_case_and_all()
        except GraderError as error:
            pytest.fail(str(error), pytrace=False)
        if row.outcome.verdict is Verdict.BROKEN:
            _fail(row)

    def runtest(self) -> None:
        """Pass, skip or fail the item, by the verdict of the check."""
        row, cases, graded = self._reported_case_and_all()
        verdict, message = row.outcome.verdict, row.outcome.message
        if verdict is Verdict.PASSED:
            if graded.state == "not_started":  # what a starter does of itself earns nothing
                _skip(f"{graded.exercise.file_name} is the unchanged starter")
            return
        # What cannot be judged is reported once: the check that is the cause fails, the others are skipped.
        waits = verdict in (Verdict.ERROR, Verdict.SKIPPED) and row is not Causes.of(graded.checks).cause
        if not verdict.is_decided or waits:
            _skip(message or verdict.value.replace("_", " "))
        for stream, text in (("stdout", printed_in(graded.output)), ("warnings", warnings_in(graded.output))):
            if text:  # of all checks that ran; it is unknown which of them printed it
                self.add_report_section("call", stream, for_terminal(text))
        _fail(row, cases)

    def _reported_case_and_all(self) -> tuple[GradedCheck, Sequence[GradedCheck], GradedExercise]:
        """Return the case of this check that pytest reports, all its cases, and its exercise.

        `check_sizes` with two parameters has cases with ids such as `sizes[2]` and `sizes[5]`. A check without
        parameters is one case.

        Returns:
            The case that pytest reports, all cases, and the graded exercise.
        """
        exercise = self.parent.exercise
        ours = (item for item in self.session.items if isinstance(item, CheckItem))
        graded = self.parent.lane.grade(exercise, [item.check for item in ours if item.parent.exercise == exercise])
        # Where the file cannot be read by a lane, there is one row, which says so.
        rows = [row for row in graded.checks if row.check.id.split("[")[0] == self.check] or graded.checks
        if not rows:
            raise CourseError(f"{self.name} is not a check; write @check(...) above it, or give it another name")
        causes = Causes.of(rows)
        return causes.cause or (causes.open or rows)[0], rows, graded

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, the line and the name of the check, which editors show."""
        return self.path, self.line, self.name


def _fail(row: GradedCheck, cases: Sequence[GradedCheck] = ()) -> NoReturn:
    """Fail the item with the message of a check.

    If the check has several cases, a line such as "2 of 3 cases fail: [2] [5]. The first:" comes before the message.
    """
    lines = list(message_lines(row, terminal_width()))
    lost = [case for case in cases if case.outcome.verdict.is_decided and case.outcome.verdict is not Verdict.PASSED]
    if len(cases) > 1:
        names = " ".join(f"[{case.check.id.partition('[')[2]}" for case in lost)
        lines.insert(0, for_terminal(f"{len(lost)} of {len(cases)} cases fail: {names}. The first:", one_line=True))
    pytest.fail("\n".join(lines), pytrace=False)


def _skip(message: str) -> NoReturn:
    """Skip the item, with the first line of a message as the reason."""
    pytest.skip(for_terminal(message.split("\n")[0]))
