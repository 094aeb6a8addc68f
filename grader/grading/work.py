"""One exercise of one submission on its way through the lanes, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass

from grader.grading.plan import RunPlan
from grader.model import Exercise, GradedExercise, Submission


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
