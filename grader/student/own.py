"""A student's own files, graded where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from grader.grading.lanes import Executor
from grader.grading.plan import RunPlan
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission
from grader.grading.store import Store
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, Report, Submission
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.model.progress import Progress


def read_own_files(course: Course, exercises: Sequence[Exercise]) -> Submission:
    """Return the files of these exercises in a student's folder, as a submission."""
    return read_submission(course.root, exercises, author=course.root.resolve().name)


def read_own_file(course: Course, exercise: Exercise) -> Submission:
    """Return the files of one exercise in a student's folder, as a submission.

    Raises:
        CourseError: there is no file, or the file cannot be read.
    """
    handed_in = read_own_files(course, [exercise])
    if problem := handed_in.files_of(exercise).problem:
        raise CourseError(problem)
    return handed_in


@dataclass(frozen=True)
class OwnExercise:
    """An exercise in a student's folder, with the lanes that grade it: `open_own_exercise` opens one.

    Attributes:
        course: the student's folder.
        exercise: the exercise.
        setup: the set-up of the run.
        lanes: the executor that grades it.
    """

    course: Course
    exercise: Exercise
    setup: Setup
    lanes: Executor

    def grade(self, handed_in: Submission | None = None, store: Store | None = None, **choices: Any) -> Report:
        """Grade the exercise, even if its file is the starter, and return the report.

        Args:
            handed_in: the submission that is graded; by default the student's file as it is now.
            store: the store with the results of earlier runs.
            choices: further arguments of `RunPlan`.

        Raises:
            CourseError: the file cannot be read.
            GraderError: a process of ours cannot be started.
        """
        plan = RunPlan(self.course, [self.exercise], self.setup, runs_untouched=True, has_folder=True, **choices)
        return grade_submission(plan, handed_in or read_own_file(self.course, self.exercise), self.lanes, store)


@contextmanager
def open_own_exercise(
    course: Course, exercise: Exercise, setup: Setup, progress: Progress | None = None
) -> Iterator[OwnExercise]:
    """Open a runtime for an exercise in a student's folder, and yield an `OwnExercise`.

    Workers of the runtime cannot read the student's folder.

    Args:
        course: the course of the exercise.
        exercise: the exercise that is graded.
        setup: the set-up of the lanes.
        progress: the progress that the run reports to.
    """
    with Runtime([exercise], setup, hidden=(course.root,), progress=progress, warm=True) as runtime:
        yield OwnExercise(course, exercise, setup, runtime)
