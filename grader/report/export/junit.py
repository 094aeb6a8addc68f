"""JUnit XML, as Jenkins' schema junit-10 has it and as GitLab reads it: a suite for each exercise, a case for a check.

The schema has no points, and no properties of a case: those of an exercise are properties of its suite, those of a
check stand in its output, after file and line. GitLab also reads these as attributes of a case, which the schema does
not know, so they are written on GitLab alone. What is undecided is `skipped`, as it must not turn a student's pipeline
red.
"""

from __future__ import annotations

from grader.report.export.items import Options, items_of
from grader.report.schema import ReportFile


def junit(report: ReportFile, options: Options) -> str:
    """The report as JUnit XML."""
    from grader.report.html import rendered  # jinja2, which no log needs

    items = items_of(report, points=options.points)
    suites = [(exercise, [item for item in items if item.exercise is exercise]) for exercise in report.exercises]
    return rendered("junit.xml", course=report.course, items=items, suites=suites, options=options) + "\n"
