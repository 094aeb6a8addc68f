"""`grade doctor`: what this machine can do."""

from __future__ import annotations

import click

from grader.cli.options import json_option, read_setup, start_option
from grader.cli.printing import Say, print_json


@click.command("doctor")
@json_option
@start_option
def doctor_command(as_json: bool, start: str | None) -> None:
    """Show what this machine can do, and what would make it do more."""
    say = Say(quiet=as_json)
    say("Looking ...")
    from grader.report.doctor import doctor_data, doctor_lines
    from grader.runner.doctor import examine

    examination = examine(read_setup(start))
    say(*doctor_lines(examination))
    if as_json:
        print_json(doctor_data(examination))
