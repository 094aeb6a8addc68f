"""`grade doctor`: what this machine can do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from grader.cli.options import json_option, read_setup, start_option
from grader.cli.printing import Say, print_json
from grader.model.messages import Level

if TYPE_CHECKING:
    from grader.runner.machine import Examination

_WIDTH = 80
_MEANING = {
    Level.FULL: "student code sees the interpreter and nothing else, and leaves nothing behind",
    Level.REDUCED: "student code cannot read your files, use the network or start processes",
    Level.NONE: "student code runs in a process of its own with limits, but can do what you can do",
}


@click.command("doctor")
@json_option
@start_option
def doctor_command(as_json: bool, start: str | None) -> None:
    """Show what this machine can do, and what would make it do more."""
    say = Say(quiet=as_json)
    say("Looking ...")
    from grader.runner.machine import examine

    examination = examine(read_setup(start))
    say(*doctor_lines(examination))
    if as_json:
        print_json(doctor_data(examination))


def doctor_lines(found: Examination) -> Iterator[str]:
    """The facts, each probe, the level, and what would raise it."""
    from grader.report.safe import for_terminal

    for name, value in found.facts.items():
        yield f"{name:18}{for_terminal(str(value), one_line=True)}"
    yield ""
    reached = found.reached
    if reached.findings:
        yield "What student code can do here, tried in a throw-away worker:"
    for row in reached.findings:
        yield f"  {'FAIL' if row.found else 'ok':6}{row.promise.level.word:9}{row.promise.sentence}"
        if row.found:
            yield from _indented(row.found, 17)
    yield "Check processes: no network, limited memory, their own course's files alone"
    for refused in found.checks:
        yield from _indented(f"not so: {refused}", 2)
    yield f"Confinement: {reached.level.word}"
    yield from _indented(_MEANING[reached.level], 2)
    if reached.level is not Level.FULL:
        # Of the highest level, whatever was asked for: a reader decides what is worth doing.
        for line in reached.missing(Level.FULL):
            yield from _indented(line, 2)
        yield "  Another way to full: a container made for it; see docs/security.md"


def doctor_data(found: Examination) -> dict[str, Any]:
    """The same for other programs."""
    reached = found.reached
    tried = [
        {"name": row.promise.name, "level": row.promise.level.word, "holds": not row.found, "found": row.found}
        for row in reached.findings
    ]
    missing = [] if reached.level is Level.FULL else reached.missing(Level.FULL)
    return {
        "facts": dict(found.facts),
        "confinement": reached.level.word,
        "tried": tried,
        "missing": list(missing),
        "check_processes": list(found.checks),
    }


def _indented(text: str, columns: int) -> list[str]:
    from grader.report.safe import for_terminal

    space = " " * columns
    return textwrap.wrap(for_terminal(text), _WIDTH, initial_indent=space, subsequent_indent=space + "  ")
