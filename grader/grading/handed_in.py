"""Places in the words of who handed in: where a file came from, and lines as those of a notebook's cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grader.model import (
    GradedCheck,
    GradedExercise,
    Submission,
)


def as_handed_in(graded: GradedExercise, submission: Submission) -> GradedExercise:
    """Return a graded exercise with the path and the lines of what was handed in.

    If a notebook was handed in, messages name lines of its cells, in place of lines of the module that was made of it;
    see `with_cell_lines`. The exercise also gets the path and the notes of the submission.
    """
    own, name = submission.files_of(graded.exercise), graded.exercise.file_name
    graded = replace(graded, notes=own.notes, place=own.place)
    if not own.cells:
        return graded

    def named(row: GradedCheck) -> GradedCheck:
        message, detail = (with_cell_lines(text, name, own.cells) for text in (row.outcome.message, row.outcome.detail))
        return replace(row, outcome=replace(row.outcome, message=message, detail=detail))

    return replace(graded, checks=tuple(map(named, graded.checks)))


def with_cell_lines(text: str, file_name: str, origins: Sequence[tuple[int, int]], label: str = "code cell {}") -> str:
    """Replace the lines of a notebook's module in a text by lines of the notebook's cells.

    Each place such as "double.py, line 7" becomes "code cell 2, line 1".

    Args:
        text: a traceback or a message.
        file_name: the file name of the module.
        origins: for each line of the module, the number of its cell and the line in that cell. The number is 0 for a
            script, in which the line is one of the file.
        label: the name of a cell, with `{}` for its number.
    """

    def named(match: re.Match[str]) -> str:
        line = int(match[1])
        if not 0 < line <= len(origins):
            return match[0]
        cell, inner = origins[line - 1]
        if not cell:  # of a script that was a notebook
            return f"{file_name}, line {inner}"
        return f"{label.format(cell)}, line {inner}"

    return re.sub(rf"\"?(?:[^\s\"']{{0,200}}/)?{re.escape(file_name)}\"?, line (\d{{1,7}})", named, text)
