"""What was graded, told as its author handed it in: where it came from, and lines as those of a notebook's cells."""

from __future__ import annotations

from dataclasses import replace

from grader.intake.notebook import in_cells
from grader.intake.source import place_of
from grader.model import GradedCheck, GradedExercise, Submission


def as_handed_in(graded: GradedExercise, submission: Submission) -> GradedExercise:
    """The exercise with where its file came from, and lines told as those of a notebook's cells, where it is one."""
    id, name = graded.exercise.id, graded.exercise.file_name
    graded = replace(graded, notes=tuple(submission.notes.get(id, ())), place=place_of(graded.exercise, submission))
    if not (places := submission.cells.get(id)):
        return graded

    def told(row: GradedCheck) -> GradedCheck:
        message, detail = (in_cells(text, name, places) for text in (row.outcome.message, row.outcome.detail))
        return replace(row, outcome=replace(row.outcome, message=message, detail=detail))

    return replace(graded, checks=tuple(map(told, graded.checks)))
