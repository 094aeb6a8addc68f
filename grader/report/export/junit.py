"""JUnit XML, as Jenkins' schema junit-10 has it and as GitLab reads it: a suite for each exercise, a case for a check.

The schema has no points, and no properties of a case: those of an exercise are properties of its suite, those of a
check stand in its output, after file and line. GitLab also reads these as attributes of a case, which the schema does
not know, so they are written on GitLab alone. What is undecided is `skipped`, as it must not turn a student's pipeline
red.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from grader.model.score import points_text
from grader.report.export.items import Item, Kind, Options, items_of, too_large
from grader.report.safe import for_terminal
from grader.report.schema import ExerciseEntry, ReportFile
from grader.report.words import score_text

_LARGEST = 30_000_000
"""GitLab reads no larger file."""
_ERRORS = ("crashed", "timed_out", "over_limit", "error")


def junit(report: ReportFile, options: Options) -> str:
    """The report as JUnit XML."""
    items = items_of(report, points=options.points)
    root = ElementTree.Element("testsuites", {"name": _line(report.course), **_counts(items, totals=True)})
    for exercise in report.exercises:
        _suite(root, exercise, [item for item in items if item.exercise is exercise], options)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=False)
    ElementTree.fromstring(text)  # noqa: S314  our own text: what a reader would refuse is refused here
    return too_large("junit", f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n', _LARGEST)


def _suite(root: ElementTree.Element, exercise: ExerciseEntry, items: Sequence[Item], options: Options) -> None:
    suite = ElementTree.SubElement(root, "testsuite", {"name": _line(exercise.name), **_counts(items)})
    if exercise.file:
        suite.set("file", _line(exercise.file))
    properties = ElementTree.SubElement(suite, "properties")
    score = exercise.score.exact
    shown = {"earned": score.earned, "possible": score.possible, "undecided": score.undecided}
    points = shown if options.points else {}
    facts = {name: points_text(number) for name, number in points.items()} | {"state": exercise.state}
    if exercise.diagnosis:
        facts["diagnosis"] = exercise.diagnosis
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": _line(value)})
    for item in items:
        _case(suite, item, options)


def _case(suite: ElementTree.Element, item: Item, options: Options) -> None:
    # GitLab tells cases apart by class and name, and drops a second one of the same.
    name = {"classname": _line(item.exercise.id), "name": _line(f"{item.id}: {item.title}")}
    case = ElementTree.SubElement(suite, "testcase", {**name, "time": f"{item.seconds:.3f}"})
    if (file := options.path_of(item.exercise.file)) and options.environ.get("GITLAB_CI"):
        case.set("file", _line(file))
        case.set("line", str(item.line or 1))
    text = for_terminal(item.text)
    if item.kind is not Kind.PASSED:
        tag = "skipped" if item.kind is Kind.OPEN else "error" if item.verdict in _ERRORS else "failure"
        element = ElementTree.SubElement(case, tag, {"type": item.verdict, "message": text.split("\n")[0]})
        element.text = text
    # GitLab takes [[ATTACHMENT|path]] in an output for a command, and a student names the file.
    place = [f"{_line(file).replace('[[', '[ [')}:{item.line or 1}"] if file else []
    points = [f"{score_text(item.score)} points"] if options.points else []
    if lines := [*place, *points]:
        ElementTree.SubElement(case, "system-out").text = "\n".join(lines)


def _counts(items: Sequence[Item], *, totals: bool = False) -> dict[str, str]:
    errors = sum(item.kind is Kind.LOST and item.verdict in _ERRORS for item in items)
    lost = sum(item.kind is Kind.LOST for item in items)
    counts = {"tests": len(items), "failures": lost - errors, "errors": errors}
    if not totals:
        counts["skipped"] = sum(item.kind is Kind.OPEN for item in items)
    return {name: str(count) for name, count in counts.items()} | {"time": f"{sum(i.seconds for i in items):.3f}"}


def _line(text: str) -> str:
    return for_terminal(text, one_line=True)
