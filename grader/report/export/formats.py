"""Every format by its name, and how one is written: whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from grader.model.errors import CourseError
from grader.model.files import write_named
from grader.report.export.items import Options
from grader.report.export.job import codequality, log, markdown
from grader.report.export.junit import junit
from grader.report.export.platforms import classroom, classroom50, gradescope, prairielearn
from grader.report.schema import ReportFile

FORMATS: Mapping[str, Callable[[ReportFile, Options], str]] = {
    "junit": junit,
    "gradescope": gradescope,
    "prairielearn": prairielearn,
    "classroom": classroom,
    "classroom50": classroom50,
    "codequality": codequality,
    "markdown": markdown,
    "github": partial(log, system="github"),
    "gitlab": partial(log, system="gitlab"),
    "log": log,
}
"""What each makes of a report; the last three are lines for a job's log."""

OF_POINTS = ("gradescope", "prairielearn", "classroom", "classroom50")
"""Those that consist of points, and cannot be written without them."""


def write_format(name: str, place: str, report: ReportFile, options: Options) -> None:
    """Write a report in a format; `-` is standard output.

    Raises:
        CourseError: no file can be written there, the environment lacks what the format needs, or it would show points
            that must not be shown.
    """
    if name in OF_POINTS and not options.points:
        raise CourseError(f"{name}: this format consists of points, which --no-points leaves out; write another one")
    write_named(place, FORMATS[name](report, options), f"--format {name}")
