"""`grade doctor`: what this machine can do."""

from __future__ import annotations

import json

import click

from grader.cli.options import read_setup, start_option
from grader.cli.telling import Say, told_errors


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@start_option
def command(as_json: bool, start: str | None) -> None:
    """Show what this machine can do, and what would make it do more."""
    say = Say(quiet=as_json)
    say("Looking ...")
    with told_errors():
        from grader.report.doctor import doctor_data, doctor_lines
        from grader.runner.machine import examine

        found = examine(read_setup(start))
        say(*doctor_lines(found))
        if as_json:
            click.echo(json.dumps(doctor_data(found), indent=1))
