"""What is graded of each submission, and how; one exercise of one submission as work, and what comes back of it.

A plan is packed with its files for other machines, which trust the sender and which the sender trusts.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.layout import closed_folders, staff_root
from grader.grading.outcomes import as_handed_in
from grader.model import Check, Course, Exercise, GradedCheck, GradedExercise, Outcome, Score, Submission, Verdict
from grader.model.messages import Setup


@dataclass(frozen=True)
class RunPlan:
    """What is graded of each submission, and how. It is the same for all submissions of a run.

    Attributes:
        course: the course.
        exercises: those of it that count, in order.
        setup: how the run is set up.
        handin: the hand-in whose exercises these are, or None.
        runs_untouched: whether an untouched starter is run, for its messages. It earns 0 in any case.
        has_folder: whether the reader of the report has the files in the folder that they were read from.
        rules: the contract lines whose checks are run; none for all. The other checks are reported as left out.
        checks: the ids of the checks that are run, in the same way.
        stops: whether everything after the first check that loses points is left out, too.
        compiles: whether a file that is not Python gets one row at once, and no check is run.
        with_tries: whether somebody reads the lines to try: for these, code runs once more for each check that fails.
    """

    course: Course
    exercises: Sequence[Exercise]
    setup: Setup
    handin: str | None = None
    runs_untouched: bool = False
    has_folder: bool = False
    rules: Collection[str] = ()
    checks: Collection[str] = ()
    stops: bool = False
    compiles: bool = False
    with_tries: bool = True

    def to_run(self, submission: Submission) -> list[Exercise]:
        """The exercises of which checks are run."""
        return [exercise for exercise in self.exercises if not_run(self, exercise, submission) is None]


def not_run(plan: RunPlan, exercise: Exercise, submission: Submission) -> GradedExercise | None:
    """The exercise if no check of it is run, as its file is the untouched starter, or is not Python; else None."""
    if not plan.runs_untouched and exercise.id in submission.untouched:
        return as_handed_in(GradedExercise.untouched(exercise), submission)
    if plan.compiles and (why := submission.errors.get(exercise.id)):
        blank = as_handed_in(GradedExercise.untouched(exercise), submission)
        check = Check("load", exercise.id, "The file loads", category="error")
        outcome = Outcome(check.id, Verdict.ERROR, why, cause="load")
        row = GradedCheck(check, outcome, Score(0, exercise.points - exercise.withheld.points))
        return replace(blank, state="started", checks=(row,))
    return None


@dataclass(frozen=True, eq=False)
class Work:
    """One exercise of one submission that is to be graded.

    Attributes:
        plan: of the run; a cluster takes works of one plan only.
        exercise: the exercise.
        submission: whose files are graded.
        before: the exercise as it was graded before, if only its inconclusive checks are to be repeated.
    """

    plan: RunPlan
    exercise: Exercise
    submission: Submission
    before: GradedExercise | None = None


@dataclass(frozen=True)
class Result:
    """What a lane found.

    Attributes:
        graded: the exercise.
        confinement: the level that was reached, in a word; None if no student code was run.
        late: whether the lane's deadline ended it, and the kernel says that it waited for a core before.
    """

    graded: GradedExercise
    confinement: str | None = None
    late: bool = False


@dataclass(frozen=True)
class Finished:
    """A result as the scheduler reports it.

    Attributes:
        work: what was to be graded.
        result: what was found.
        final: whether nothing of it is repeated later.
        saved: whether an earlier run found it, and nothing was run now.
        id: its number in the store, if it is there.
    """

    work: Work
    result: Result
    final: bool = True
    saved: bool = False
    id: int | None = None

    @property
    def graded(self) -> GradedExercise:
        """The exercise."""
        return self.result.graded


def pack(plan: RunPlan) -> bytes:
    """A run plan in which the content of each file stands beside its path."""
    roots = (plan.course.root, staff_root(plan.course.root))

    class Packer(pickle.Pickler):
        def persistent_id(self, value: object) -> tuple[str, bytes | None] | None:
            if not isinstance(value, Path):
                return None
            # Staff's files may lie in the package; the two folders mirror each other, so that no names collide.
            own = next(value.relative_to(root) for root in roots if value.is_relative_to(root))
            return own.as_posix(), value.read_bytes() if value.is_file() else None

    exercises = [replace(exercise, closed=(), right=(), mistakes=None) for exercise in plan.exercises]
    course = replace(plan.course, modules=(), handins=(), broken=())
    Packer(packed := io.BytesIO()).dump(replace(plan, course=course, exercises=exercises))
    return packed.getvalue()


def unpack(packed: bytes, folder: Path) -> RunPlan:
    """The run plan, with its files in a folder."""

    class Unpacker(pickle.Unpickler):
        def persistent_load(self, file: tuple[str, bytes | None]) -> Path:
            path = folder / file[0]
            if file[1] is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file[1])
            return path

    plan: RunPlan = Unpacker(io.BytesIO(packed)).load()
    closed = (folder, *closed_folders(folder))
    return replace(plan, exercises=[replace(exercise, closed=closed) for exercise in plan.exercises])
