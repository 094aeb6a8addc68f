"""What was graded, in the words of who handed it in: where it came from, and lines as those of a notebook's cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grader.model import GradedCheck, GradedExercise, Submission


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

    def named(found: re.Match[str]) -> str:
        line = int(found[1])
        if not 0 < line <= len(origins):
            return found[0]
        cell, inner = origins[line - 1]
        return f"{label.format(cell)}, line {inner}"

    return re.sub(rf"\"?(?:[^\s\"']{{0,200}}/)?{re.escape(file_name)}\"?, line (\d{{1,7}})", named, text)
