"""`grade [EXERCISE…]`: its options. They are a part of `grade --help`, so this module imports nothing that grades."""

from __future__ import annotations

from typing import Any

import click

from grader.cli import hand_back, options


@click.command("run", hidden=True)
@click.argument("names", metavar="[EXERCISE]... [RULE]...", nargs=-1, shell_complete=options.complete_grade)
@click.option("--submission", type=options.PATH, help="A folder, zip or file to grade; by default this course.")
@click.option("--json", "json_path", metavar="FILE", help="Write the report as JSON; - for standard output.")
@click.option("--html", "html_path", metavar="FILE", help="Write the report as a page for a browser.")
@options.staff
@options.seed
@click.option("--like", metavar="REPORT", help="Repeat the run of a report: its seed, start and author.")
@click.option("-x", "--exitfirst", "stops", is_flag=True, help="Stop at the first check that loses points.")
@click.option("--fresh", is_flag=True, help="Also run what has not changed since the last run.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the table and the total.")
@click.option("-v", "--verbose", is_flag=True, help="Show every check with its message, even if it passed.")
@options.plain
@options.workers("none")
def run_command(**chosen: Any) -> None:
    """Grade exercises, print what to fix, and say what to do next."""
    if chosen["submission"] is not None or not chosen["workers"].forks:
        hand_back()
    from grader.cli.grade import grade_here

    grade_here(**chosen)
