"""What commands show of a run while it goes on. Lines that change are on a terminal only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from grader.model import GradedExercise
from grader.model.progress import Progress
from grader.report.console import Pace, Say


class NotesProgress(Progress):
    """Prints notes, and nothing else.

    Args:
        say: the object that prints them.
    """

    def __init__(self, say: Say) -> None:
        self.say = say

    def noted(self, line: str) -> None:
        """Print a line that the person who started the run should read."""
        self.say(line)


class ProgressLine(NotesProgress):
    """Prints notes, and shows in a line that changes what is running, and how many exercises are done."""

    def running(self, what: str, seconds: float) -> None:
        """Show what is running and for how long, once it has taken a second."""
        self.say.running(what, seconds)

    def advanced(self, done: int, total: int) -> None:
        """Show how many exercises are done."""
        self.say.meanwhile(f"{done} of {total} exercises", done=(done, total))


class PacedProgress(NotesProgress):
    """Prints notes, and shows in a line that changes how much is done, how fast, and how long the rest takes."""

    def __init__(self, say: Say) -> None:
        super().__init__(say)
        self._pace = Pace(say)

    def advanced(self, done: int, total: int) -> None:
        """Show how much is done, how fast, and how long the rest takes."""
        self._pace(done, total)


class GradedNames(Progress):
    """Prints the id of each exercise that was graded.

    Args:
        say: the object that prints the line.
    """

    def __init__(self, say: Say) -> None:
        self._say = say

    def graded(self, graded: GradedExercise, confinement: str | None, *, saved: bool) -> None:
        """Print the id of an exercise that was graded.

        Args:
            graded: the exercise.
            confinement: the level of confinement that its workers reached, which is not shown.
            saved: True if its result was saved by an earlier run, which is not shown.
        """
        del confinement, saved
        self._say(f"graded {graded.exercise.id}")


class SubmissionProgress(Progress):
    """Prints the exercises of one submission as they are graded, and shows in a line that changes what is running.

    Args:
        say: the object that prints them.
        shown: a function that returns the lines of an exercise.
        total: the number of exercises.
        slots: the number of lanes; what a lane is running is shown only if there is one lane.

    Attributes:
        saved: the number of exercises that were graded by an earlier run.
    """

    def __init__(self, say: Say, shown: Callable[[GradedExercise], Iterator[str]], total: int, slots: int) -> None:
        self.saved = 0
        self._say = say
        self._shown = shown
        self._total = total
        self._slots = slots
        self._done = 0
        self._started = time.monotonic()

    def graded(self, graded: GradedExercise, confinement: str | None, *, saved: bool) -> None:
        """Count an exercise that was graded, and print it if it has checks.

        An untouched starter has no checks: none of them was run or left out.

        Args:
            graded: the exercise.
            confinement: the level of confinement that its workers reached, which is not shown.
            saved: True if its result was saved by an earlier run.
        """
        del confinement
        self._done, self.saved = self._done + 1, self.saved + saved
        if graded.checks or graded.left_out:
            self._say(*self._shown(graded), "")

    def running(self, what: str, seconds: float) -> None:
        """Show what is running, if there is only one lane."""
        if self._slots == 1:
            self._say.running(what, seconds)

    def still_waiting(self) -> None:
        """Show how many exercises are done while the run waits for results.

        Nothing is shown if there is only one lane.
        """
        if self._slots > 1:
            what, seconds = f"{self._done} of {self._total} exercises", time.monotonic() - self._started
            self._say.running(what, seconds, (self._done, self._total))
