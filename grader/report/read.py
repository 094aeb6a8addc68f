"""Read a report of version 1."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from grader.model import Score
from grader.model.errors import CourseError, FormatError
from grader.model.files import failing_as, from_json, read_limited
from grader.model.score import points_text
from grader.report.schema import MOST_BYTES, ReportFile


def read_report(path: Path) -> ReportFile:
    """Read a report in JSON that `grade --json` wrote.

    Only version 1 of the format is read.

    Raises:
        CourseError: the file cannot be read, is too large, or is not such a report; the error lists every problem.
    """
    with failing_as(f"{path.as_posix()} cannot be read", "name a report that grade --json wrote"):
        return report_from(read_limited(path, MOST_BYTES), path.as_posix())


def report_from(text: bytes | str, name: str) -> ReportFile:
    """Parse a report in JSON that `grade --json` wrote; errors begin with `name`.

    Args:
        text: the content of the file.
        name: the path of the file, for errors.

    Raises:
        CourseError: the text is not such a report; the error lists every problem.
    """
    try:
        report = from_json(ReportFile, text, name)
    except FormatError as error:
        if (version := _version_of(text)) not in (1, None):
            raise CourseError(
                f"{name} is a report of version {version}; this grader reads version 1: update it"
            ) from None
        raise CourseError(f"{name} is not a report that grade --json wrote", *error.problems) from None
    if problems := list(_impossible_scores(report)):
        raise CourseError(f"{name} is not a report that grade --json wrote", *problems)
    return report


def _version_of(text: bytes | str) -> object:
    """Return the `version` in the text of a report; None without one."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return plain.get("version") if isinstance(plain, dict) else None


def _impossible_scores(report: ReportFile) -> Iterator[str]:
    """Yield a sentence for each score that grading cannot produce.

    An example is "double: 12 of 10 points cannot be earned". Somebody may have edited the report.
    """
    parts = [(exercise.id, exercise.score) for exercise in report.exercises]
    for name, score in [("score", report.score), *parts]:
        if min(score.earned, score.undecided) < 0 or score.earned + score.undecided > score.possible:
            yield f"{name}: {points_text(score.earned)} of {points_text(score.possible)} points cannot be earned"
    if vars(report.score) != vars(sum((score for _, score in parts), Score(0, 0))):
        yield "score: it is not the sum of the exercises' scores"
