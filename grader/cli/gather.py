"""`grade gather DIR --out FILE`: a gradebook from the reports of many CI jobs."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.telling import Say, told_errors


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out", default="gradebook.csv", show_default=True, type=click.Path(path_type=Path), help="The gradebook."
)
def command(folder: Path, out: Path) -> None:
    """Make a gradebook of all reports below DIR; of several reports of an author the latest counts."""
    say = Say()
    with told_errors():
        from grader.ci.gather import differences, gather
        from grader.model.errors import CourseError
        from grader.model.files import write_whole
        from grader.report.export.gradebook_csv import GradebookRow, gradebook_csv
        from grader.report.safe import for_terminal

        found = gather(folder)
        ids = list(dict.fromkeys(exercise.id for report in found.reports for exercise in report.exercises))
        try:
            write_whole(out, gradebook_csv(ids, map(GradebookRow.read, found.reports)))
        except OSError as error:
            raise CourseError(f"--out: {out} cannot be written ({error.strerror}); name another place") from None
        say(f"{sum(len(report.members) for report in found.reports)} authors are in {out}")
        for path in found.older:
            say(for_terminal(f"not counted, as a later report has the same author: {path.as_posix()}", one_line=True))
        say(*differences(found.reports))
        say(*(f"not read: {for_terminal(why, one_line=True)}" for _, why in found.unread))
