"""`grade doctor`: is the student's course complete, does PyTorch work, what can the sandbox do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from grader.cli import options
from grader.model.errors import CourseError
from grader.report.console import Say, print_json, terminal_width
from grader.report.safe import WIDTH, for_terminal, prose

if TYPE_CHECKING:
    from grader.grading.machine import Examination

_NAME = 18
"""Columns of the names of facts."""


@click.command("doctor")
@options.json
@options.start
def doctor_command(as_json: bool, start: str | None) -> None:
    """Check your course, this computer and its sandbox."""
    say = Say(quiet=as_json)
    say.meanwhile("Looking ...")
    from grader.grading.lanes import setup_of
    from grader.grading.machine import examine

    setup = setup_of(start)
    for name, value in _course_rows():  # first: it also helps where no worker starts
        say(*_row(name, value))
    examined = examine(setup)
    say(*doctor_lines(examined))
    if as_json:
        print_json(doctor_data(examined))


def _row(name: str, value: str) -> Iterator[str]:
    return prose(f"{name:{_NAME}}{for_terminal(value, one_line=True)}", terminal_width(), "", " " * _NAME)


def _course_rows() -> Iterator[tuple[str, str]]:
    """The student's course: where it is, whether it is complete, how much is done."""
    from grader.course.layout import is_given, kept_progress
    from grader.student.folder import given_digests, read_progress
    from grader.student.pages import rows_of

    try:
        course = options.course_here()
    except CourseError as error:
        yield "course", str(error)
        return
    yield "course", f"{course.title}, in {course.root}"
    if is_given(course.root):
        missing = [path for path in given_digests(course.root) if not (course.root / path).exists()]
        if missing:
            yield "files", f"{missing[0].as_posix()} is missing, {len(missing)} in all. To get them:  grade update"
        else:
            yield "files", "complete"
    progress = read_progress(course)
    rows = rows_of(course, progress)
    done = sum(row.state == "done" for row in rows)
    saved = kept_progress(course).relative_to(course.root).as_posix()
    yield "progress", progress.problem or f"{done} of {len(rows)} exercises are done; saved in {saved}"


def doctor_lines(examined: Examination) -> Iterator[str]:
    """The facts, each probe, the level, and what would raise it."""
    from grader.grading.machine import MEANING

    for name, value in examined.facts.items():
        yield from _row(name, str(value))
    yield from _row("GPU", "not needed: device exercises run on a simulated GPU")
    yield ""
    if examined.reached.findings:
        yield "The sandbox: what student code can and cannot do here, tried in a worker"
    for row in examined.reached.findings:
        yield f"  {'FAIL' if row.why_not else 'ok':6}{row.level.word:9}{row.sentence}"
        if row.why_not:
            yield from prose(row.why_not, WIDTH, " " * 17, "  ")
    yield f"Confinement: {examined.reached.level.word}"
    for line in (MEANING[examined.reached.level], *examined.missing):
        yield from prose(line, WIDTH, "  ", "  ")
    if examined.missing:
        yield "  Another way to full confinement is a container; see docs/security.md"


def doctor_data(examined: Examination) -> dict[str, Any]:
    """The same for other programs."""
    return {
        "facts": dict(examined.facts),
        "confinement": examined.reached.level.word,
        "tried": [
            {"name": it.name, "level": it.level.word, "holds": not it.why_not, "found": it.why_not}
            for it in examined.reached.findings
        ],
        "missing": list(examined.missing),
    }
