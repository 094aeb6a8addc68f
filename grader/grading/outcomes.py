"""Outcomes → GradedExercise: the rows of a report with their points. Outcomes are saved without points.

Places are named in the words of who handed it in: where a file came from, and lines as those of a notebook's cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.model import Check, Exercise, GradedCheck, GradedExercise, Outcome, Score, Submission, Verdict
from grader.model.score import hold_back, is_void, score

VOID = "this check is void: everybody gets its points"


@dataclass(frozen=True)
class Outcomes:
    """What one exercise of one submission came to, as it is saved: without points, which come from the course.

    Attributes:
        state: not_started, started or done.
        checks: those that ran, in order.
        outcomes: one for each of these checks.
        output: what the student printed.
        diagnosis: a sentence for a known mistake, or None.
        behaviour: see `GradedExercise`.
        handed_in: whether there was a file of the exercise.
        notes: what staff should know of where the file came from.
    """

    state: str
    checks: tuple[Check, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    output: str = ""
    diagnosis: str | None = None
    behaviour: str = ""
    handed_in: bool = True
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, graded: GradedExercise) -> Outcomes:
        """Those of a graded exercise of which no check was left out."""
        return cls(
            graded.state,
            tuple(row.check for row in graded.checks),
            tuple(row.outcome for row in graded.checks),
            graded.output,
            graded.diagnosis,
            graded.behaviour,
            graded.handed_in,
            graded.notes,
        )

    def graded(self, exercise: Exercise) -> GradedExercise:
        """The graded exercise, with the points that the course gives now."""
        graded = GradedExercise.untouched(exercise)
        if self.checks:
            graded = graded_from(exercise, self.checks, self.outcomes, self.output)
        if self.state == "not_started":
            graded = graded.not_started()
        return replace(
            graded,
            state=self.state,
            handed_in=self.handed_in,
            notes=self.notes,
            diagnosis=self.diagnosis,
            behaviour=self.behaviour,
        )


def graded_from(
    exercise: Exercise, checks: Sequence[Check], outcomes: Sequence[Outcome], output: str = ""
) -> GradedExercise:
    """An exercise of which these outcomes are known; checks without one were left out."""
    ran = {outcome.check: outcome for outcome in outcomes}
    # Points are divided among all checks, whichever ran: those of a check are the same every time.
    every = [ran.get(check.id) or Outcome(check.id, Verdict.NOT_RUN) for check in checks]
    rows, withheld = score(exercise.points, checks, every, exercise.withheld.shares)
    # A void check says nothing: neither that a value is right, nor that it is wrong.
    void = {row.check.id: _void(row) for row in rows if is_void(row.check.id, exercise.void)}
    judged = [row for row in rows if row.check.id not in void]
    judged, held_by = hold_back(judged, exercise.values, exercise.caps, withheld=exercise.withheld.checks > 0)
    by_id = {row.check.id: row for row in judged} | void
    rows = [by_id[row.check.id] for row in rows]
    total = sum((row.score for row in rows), Score(0, 0)) + Score(0, withheld, withheld)
    left_out = tuple(row for row in rows if row.check.id not in ran)
    rows = [row for row in rows if row.check.id in ran]
    verdicts = {row.verdict for row in rows}
    # Of what is broken nobody knows; what needs hardware that is not here is nothing that the student could do.
    all_passed = not left_out and Verdict.PASSED in verdicts and verdicts <= {Verdict.PASSED, Verdict.NOT_RUN}
    state = "done" if all_passed else "started"
    return GradedExercise(exercise, state, tuple(rows), total, withheld, output, left_out=left_out, held_by=held_by)


def _void(row: GradedCheck) -> GradedCheck:
    possible = row.score.possible
    return replace(row, score=Score(possible, possible), set_by=VOID)


def graded_so_far(
    exercise: Exercise, submission: Submission, checks: Sequence[Check], outcomes: Sequence[Outcome]
) -> GradedExercise:
    """An exercise of which some checks have ended: the points of the others are undecided."""
    graded = graded_from(exercise, checks, outcomes)
    return as_handed_in(replace(graded, state="started", left_out=()), submission)


def broken(exercise: Exercise, problem: str) -> GradedExercise:
    """An exercise whose checks cannot be read."""
    check = Check("collection", exercise.id, "The checks of this exercise can be read", category="error")
    message = "the checks of this exercise are broken; that is not your fault and costs you nothing"
    return graded_from(exercise, [check], [Outcome(check.id, Verdict.BROKEN, message, problem)])


def lost(exercise: Exercise, why: str) -> GradedExercise:
    """An exercise of a submission that no machine could grade."""
    check = Check("machine", exercise.id, "A machine grades this exercise", category="error")
    message = "the machines that graded this exercise were lost; that is not your fault and costs you nothing"
    return graded_from(exercise, [check], [Outcome(check.id, Verdict.BROKEN, message, why)])


def is_inconclusive(graded: GradedExercise) -> bool:
    """Whether a check was inconclusive, so that to repeat it may decide it."""
    return any(row.verdict is Verdict.INCONCLUSIVE for row in graded.checks)


def is_broken(graded: GradedExercise) -> bool:
    """Whether a check is broken, which is not its author's fault, and staff has not decided on its points."""
    return any(row.verdict is Verdict.BROKEN for row in graded.checks)


def lost_points(graded: GradedExercise) -> bool:
    """Whether a check that ran lost points."""
    return any(row.score.earned + row.score.undecided < row.score.possible for row in graded.checks)


def as_handed_in(graded: GradedExercise, submission: Submission) -> GradedExercise:
    """The exercise with where its file came from, and with lines of a notebook's cells, where it is one."""
    id, name = graded.exercise.id, graded.exercise.file_name
    graded = replace(graded, notes=tuple(submission.notes.get(id, ())), place=submission.places.get(id))
    if not (origins := submission.cells.get(id)):
        return graded

    def named(row: GradedCheck) -> GradedCheck:
        message, detail = (in_cells(text, name, origins) for text in (row.outcome.message, row.outcome.detail))
        return replace(row, outcome=replace(row.outcome, message=message, detail=detail))

    return replace(graded, checks=tuple(map(named, graded.checks)))


def in_cells(text: str, file_name: str, origins: Sequence[tuple[int, int]], label: str = "code cell {}") -> str:
    """A text in which lines of a module are named as lines of the notebook's cells."""

    def named(match: re.Match[str]) -> str:
        line = int(match[1])
        if not 0 < line <= len(origins):
            return match[0]
        cell, inner = origins[line - 1]
        return f"{label.format(cell)}, line {inner}"

    return re.sub(rf"\"?(?:[^\s\"']{{0,200}}/)?{re.escape(file_name)}\"?, line (\d{{1,7}})", named, text)
