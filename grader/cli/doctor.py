"""`grade doctor`: what this machine can do."""

from __future__ import annotations

import click

from grader.cli.options import read_setup, start_option
from grader.cli.telling import Say, told_errors


@click.command()
@start_option
def command(start: str | None) -> None:
    """Show what this machine can do, and what would make it do more."""
    say = Say()
    say("Looking ...")
    with told_errors():
        from grader.lanes.doctor import examine
        from grader.report.doctor import doctor_lines

        say(*doctor_lines(examine(read_setup(start))))
