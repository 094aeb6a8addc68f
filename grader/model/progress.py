"""What a run reports while it goes on, and the token that cancels it. Everything that grades has one of each."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from grader.model.check import Check, Outcome
from grader.model.course import Exercise
from grader.model.report import GradedExercise, Report


class Progress:
    """The reports of a run while it goes on: a method for each event. None of them does anything; override some.

    The first two come from the threads of lanes, the others from the thread that waits for results. An exception ends
    what was reported.
    """

    def running(self, what: str, seconds: float) -> None:
        """Report what a lane waits for, such as a check by its title, and for how long.

        This is called repeatedly while the lane waits.
        """

    def ended(self, exercise: Exercise, outcome: Outcome, checks: Sequence[Check]) -> None:
        """Report that a check has ended; called again if the check runs again.

        Args:
            exercise: the exercise that the check belongs to.
            outcome: the outcome of the check.
            checks: all checks of the exercise.
        """

    def graded(self, graded: GradedExercise, confinement: str | None, *, saved: bool) -> None:
        """Report a graded exercise.

        Exercises are reported in the order of the course, and retried ones after all others.

        Args:
            graded: the exercise.
            confinement: the level that was reached, in a word; None if no student code was run.
            saved: True if an earlier run graded it.
        """

    def still_waiting(self) -> None:
        """Report that the run still waits for results; called every half second."""

    def reported(self, report: Report, number: int, total: int) -> None:
        """Report one submission whose exercises are all graded.

        Args:
            report: the report of the submission.
            number: the number of submissions reported so far, this one included.
            total: the number of all submissions.
        """

    def advanced(self, done: int, total: int) -> None:
        """Report how many exercises or submissions are done, and how many there are."""

    def compared(self, done: int, total: int) -> None:
        """Report how many of the known wrong answers were compared with submissions.

        Args:
            done: the number that was compared.
            total: the number of all.
        """

    def noted(self, line: str) -> None:
        """Report a line that the person who started the run should read."""


class Cancelled(BaseException):
    """The run was cancelled."""


class Cancel:
    """The token that cancels a run. Any thread may cancel it; the threads of the run check it repeatedly."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Cancel the run, for good."""
        self._event.set()

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` if the run was cancelled.

        Raises:
            Cancelled: it was.
        """
        if self._event.is_set():
            raise Cancelled
