"""`grade export REPORT --format F=FILE`: a report in the formats of other programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import format_option, hidden_option, points_option
from grader.cli.telling import Say, told_errors

if TYPE_CHECKING:
    from grader.report.export.checked import Visibility


@click.command()
@click.argument("report", metavar="REPORT", type=click.Path(path_type=Path))
@format_option(required=True)
@points_option
@hidden_option
def command(report: Path, formats: tuple[tuple[str, str], ...], points: bool | None, hidden: Visibility) -> None:
    """Write REPORT, which `grade --json` or `grade batch` wrote, in the formats of other programs."""
    with told_errors():
        from grader.report.export.checked import Options
        from grader.report.export.formats import write_format
        from grader.report.schema import read_report

        options = Options(environ=os.environ, points=points is not False, hidden=hidden)
        read = read_report(report)
        say = Say(quiet=any(place == "-" for _, place in formats))
        for name, place in formats:
            write_format(name, place, read, options)
            say(f"wrote {place}")
