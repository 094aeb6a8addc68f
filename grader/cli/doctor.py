"""`grade doctor`: is the student's course complete, does PyTorch work, what can the sandbox do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from grader.cli import options
from grader.model.errors import CourseError
from grader.report.console import Say, print_json, terminal_width
from grader.report.safe import WIDTH, for_terminal, prose

if TYPE_CHECKING:
    from grader.model.messages import Setup
    from grader.runner.source import Reached

_NAME = 18
"""Columns of the names of facts."""

_MEANING = {
    "full": "student code sees the interpreter and nothing else, and leaves nothing behind",
    "reduced": "student code cannot read your files, use the network or start processes",
    "none": "student code runs in a process of its own with limits, but can do what you can do",
}


@click.command("doctor")
@options.json
@options.start
def doctor_command(as_json: bool, start: str | None) -> None:
    """Check your course, this computer and its sandbox."""
    say = Say(quiet=as_json)
    say.meanwhile("Looking ...")
    from grader.grading.lanes import setup_of
    from grader.runner.source import SandboxPlan, open_source

    setup = setup_of(start)
    for name, value in _course_rows():  # first: it also helps where no worker starts
        say(*_row(name, value))
    facts = _facts(setup)
    # Workers are started as a batch would. With no least level: what is missing is to be shown, not refused.
    with closing(open_source(setup.start, SandboxPlan())) as source:
        reached = source.wait_ready()
    say(*_doctor_lines(facts, reached))
    if as_json:
        print_json(doctor_data(facts, reached))


def _facts(setup: Setup) -> Mapping[str, object]:
    from grader.grading.store import describe_machine
    from grader.sandbox import cgroup

    machine = describe_machine(setup, None)
    return {
        "grader": machine.grader,
        "Python": machine.python,
        "torch": machine.torch,
        "numpy": machine.numpy,
        "system": machine.os,
        "processors": os.cpu_count(),
        "workers start by": machine.start,
        "check processes": f"memory is {'' if cgroup.find() else 'not '}limited by a control group",
    }


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


def _doctor_lines(facts: Mapping[str, object], reached: Reached) -> Iterator[str]:
    """The facts, each probe, the level, and what would raise it."""
    for name, value in facts.items():
        yield from _row(name, str(value))
    yield from _row("GPU", "not needed: device exercises run on a simulated GPU")
    yield ""
    if reached.findings:
        yield "The sandbox: what student code can and cannot do here, tried in a worker"
    for row in reached.findings:
        yield f"  {'FAIL' if row.why_not else 'ok':6}{row.level.word:9}{row.sentence}"
        if row.why_not:
            yield from prose(row.why_not, WIDTH, " " * 17, "  ")
    yield f"Confinement: {reached.level.word}"
    missing = reached.missing()
    for line in (_MEANING[reached.level.word], *missing):
        yield from prose(line, WIDTH, "  ", "  ")
    if missing:
        yield "  Another way to full confinement is a container; see docs/security.md"


def doctor_data(facts: Mapping[str, object], reached: Reached) -> dict[str, Any]:
    """The same for other programs."""
    return {
        "facts": dict(facts),
        "confinement": reached.level.word,
        "tried": [
            {"name": it.name, "level": it.level.word, "holds": not it.why_not, "found": it.why_not}
            for it in reached.findings
        ],
        "missing": reached.missing(),
    }
