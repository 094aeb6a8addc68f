"""Results of a journal that were read before, for a program that reads the same journal again and again.

A row of results never changes. To parse one takes as long as to read a hundred, so the pages of staff keep what they
read: after a change they read what is new, and count again what the change is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from grader.grading.store import ResultKey, Saved
from grader.model import Exercise, GradedExercise

ResultIdentity = tuple[str, str, ResultKey, str, str | None]
"""The columns of a result that differ from those of any other result that could get its number in the journal."""


def identity_of(saved: Saved) -> ResultIdentity:
    """Return what distinguishes a result from any other that may get its number.

    A journal may delete a result and reuse its number. The identity is the result's author, exercise, key, time and
    level of confinement.
    """
    return saved.author, saved.exercise, saved.key, saved.at, saved.confinement


@dataclass
class KnownResults:
    """Keeps the results of a journal that were read before.

    Attributes:
        stamp: the stamp of the journal when the results were last compared with it.
    """

    stamp: str = ""
    _saved: dict[int, Saved] = field(default_factory=dict)
    _graded: dict[tuple[str, tuple[str, ...]], tuple[Exercise, dict[int, GradedExercise]]] = field(default_factory=dict)

    def forget_missing(self, stamp: str, identities: Callable[[], Mapping[int, ResultIdentity]]) -> None:
        """Forget each result that the journal does not have any more.

        The journal may have deleted a result, or reused its number for another one.

        Args:
            stamp: the stamp of the journal.
            identities: a function that returns the identities of the journal's results, by number; it is called only
                if the stamp changed.
        """
        if stamp == self.stamp:
            return
        there = identities() if self._saved else {}
        for number in [number for number, saved in self._saved.items() if there.get(number) != identity_of(saved)]:
            del self._saved[number]
            for _, known in self._graded.values():
                known.pop(number, None)
        self.stamp = stamp

    def result(self, number: int, read: Callable[[int], Saved]) -> Saved:
        """Return the result that has this number, without reading it twice.

        Call `read` with the number if the result is not known yet.
        """
        if number not in self._saved:
            self._saved[number] = read(number)
        return self._saved[number]

    def graded(self, saved: Saved, exercise: Exercise) -> GradedExercise:
        """Return a saved result as a graded exercise, with the course's current points.

        Args:
            saved: the result.
            exercise: the exercise of the course. Points that were computed for an older version of it are dropped.
        """
        key = exercise.id, exercise.void  # pages show what counts and what checks alone give
        before, known = self._graded.get(key, (exercise, {}))
        if before is not exercise:
            known = known if before == exercise else {}
        self._graded[key] = exercise, known
        if saved.id not in known:
            known[saved.id] = saved.outcomes.graded(exercise)
        return known[saved.id]
