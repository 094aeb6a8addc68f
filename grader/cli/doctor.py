"""`grade doctor`: what this machine can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from grader.cli import options
from grader.cli.printing import Say, print_json
from grader.report.safe import WIDTH, for_terminal, prose

if TYPE_CHECKING:
    from grader.grading.machine import Examination


@click.command("doctor")
@options.json
@options.start
def doctor_command(as_json: bool, start: str | None) -> None:
    """Show what this machine can do, and what would make it do more."""
    say = Say(quiet=as_json)
    say("Looking ...")
    from grader.grading.lanes import setup_of
    from grader.grading.machine import examine

    found = examine(setup_of(start))
    say(*doctor_lines(found))
    if as_json:
        print_json(doctor_data(found))


def doctor_lines(found: Examination) -> Iterator[str]:
    """The facts, each probe, the level, and what would raise it."""
    for name, value in found.facts.items():
        yield f"{name:18}{for_terminal(str(value), one_line=True)}"
    yield ""
    if found.tried:
        yield "What student code can do here, tried in a throw-away worker:"
    for row in found.tried:
        yield f"  {'FAIL' if row.found else 'ok':6}{row.level:9}{row.sentence}"
        if row.found:
            yield from prose(row.found, WIDTH, " " * 17, "  ")
    yield "Check processes: no network, limited memory, their own course's files alone"
    for refused in found.check_processes:
        yield from prose(f"not so: {refused}", WIDTH, "  ", "  ")
    yield f"Confinement: {found.confinement}"
    for line in (found.meaning, *found.missing):
        yield from prose(line, WIDTH, "  ", "  ")
    if found.missing:
        yield "  Another way to full: a container made for it; see docs/security.md"


def doctor_data(found: Examination) -> dict[str, Any]:
    """The same for other programs."""
    rows = [{"name": row.name, "level": row.level, "holds": not row.found, "found": row.found} for row in found.tried]
    return {
        "facts": dict(found.facts),
        "confinement": found.confinement,
        "tried": rows,
        "missing": list(found.missing),
        "check_processes": list(found.check_processes),
    }
