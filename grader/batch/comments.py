"""Comments of staff on lines of code: the rows of comments.csv. They change no points, and stand on authors' pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field

from grader.batch.overrides import StaffRow, read_rows
from grader.course.files import suggestion
from grader.course.layout import NOTEBOOK
from grader.model import Course, GradedExercise, LineComment
from grader.report.csv_table import with_row
from grader.report.safe import for_csv

COMMENTS = "comments.csv"
"""Comments on lines of code, in the folder of results. The file survives each regrade.

A row names a line by its number and by its text. Where another version of the file is handed in later, the comment goes
with the text.
"""
TITLES = ("author", "exercise", "line", "code", "comment")


class Comment(StaffRow):
    """A comment on a line of code: a row of comments.csv.

    Attributes:
        line: its number in the author's file.
        code: the line, without blanks around it; "" if its number alone says which it is.
        comment: the text that the author reads.
    """

    line: Annotated[int, Field(gt=0)]
    code: str = ""
    comment: Annotated[str, Field(min_length=1)]


def read_comments(path: Path, course: Course) -> tuple[Comment, ...]:
    """Read the comments in a file; return none if there is no such file.

    Args:
        path: the path of the file.
        course: the course whose exercises they name.

    Raises:
        CourseError: rows of the file are wrong; it lists them all.
    """
    same = "comments on the same line"
    rows = read_rows(path, course, Comment, lambda one: (one.author, one.exercise, one.line, one.code), same)
    return tuple(sorted(rows, key=lambda one: one.line))


def code_cell(line: str) -> str:
    """Return the cell of comments.csv that holds a line of code.

    Blanks at its ends are removed, and no spreadsheet evaluates it: `    -x` becomes `'-x`.
    """
    return for_csv(line.strip()).strip()


def with_comment(path: Path, course: Course, one: Comment, author: str, names: Collection[str]) -> str | bytes:
    """Return the content of comments.csv with a new comment.

    An older comment on the same line of the same file is replaced.

    Args:
        path: the path of comments.csv.
        course: the course whose exercises the rows name.
        one: the comment.
        author: the author's name in the new row.
        names: all names of the authors of the file, folded.

    Raises:
        CourseError: the file cannot be read, or lacks a column.
    """
    same = [
        other.row
        for other in read_comments(path, course)
        if other.author in names and (other.exercise, other.line, other.code) == (one.exercise, one.line, one.code)
    ]
    cells = (for_csv(author), one.exercise, str(one.line), one.code, one.comment)
    return with_row(path, TITLES, dict(zip(TITLES, cells, strict=True)), same)


def with_comments(
    graded: GradedExercise, comments: Sequence[Comment], names: Collection[str], path: str, text: bytes
) -> GradedExercise:
    """Return an exercise with the comments on its file.

    Args:
        graded: the exercise.
        comments: the comments on everybody's files.
        names: all names of the authors, folded.
        path: the path of the file. In a notebook, comments get no line numbers, as its author sees none.
        text: the text of the file; b"" if it is the starter.
    """
    own = [one for one in comments if one.exercise == graded.exercise.id and one.author in names]
    lines = text.decode("utf-8", "replace").splitlines() if own else []
    has_numbers = PurePosixPath(path).suffix != NOTEBOOK
    return replace(graded, comments=tuple(_find_line(one, lines, has_numbers=has_numbers) for one in own))


def _find_line(one: Comment, lines: Sequence[str], *, has_numbers: bool) -> LineComment:
    """Find the line that a comment is about, also in a later version of the file.

    It is the line with the comment's code whose number is nearest to the comment's number: a comment on `return x` in
    line 3 finds `return x` in line 4. Without such a line, the result has no number.

    Args:
        one: the comment.
        lines: the lines of the file.
        has_numbers: True if the result may have a number; False for a notebook, whose author sees no numbers.
    """
    same = (number for number, line in enumerate(lines, 1) if not one.code or code_cell(line) == one.code)
    place = min(same, key=lambda number: abs(number - one.line), default=None)
    if place is None or (not one.code and place != one.line):
        return LineComment(None, one.code, one.comment)
    return LineComment(place if has_numbers else None, lines[place - 1].strip(), one.comment)


def unused_comments(comments: Sequence[Comment], names: Collection[str], course: Course) -> Iterator[str]:
    """Yield a sentence for each comment whose exercise or author does not exist.

    An example is "comments.csv: line 3 does not count: no submission is by ann".

    Args:
        comments: the comments on everybody's files.
        names: all names of all authors, folded.
        course: the course whose exercises they name.
    """
    known = [exercise.id for exercise in course.exercises]
    for one in comments:
        why = "" if one.author in names else f"no submission is by {one.author}"
        if one.exercise not in known:
            why = f"there is no exercise {one.exercise}{suggestion(one.exercise, known)}"
        if why:
            yield f"{COMMENTS}: line {one.row} does not count: {why}"
