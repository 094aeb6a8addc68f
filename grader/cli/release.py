"""`grade release DEST`: the students' copy of a course, and the proof that nothing of staff's is in it."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.courses import course_here, handin_of
from grader.cli.options import Workers, course_option, handin_option, workers_options
from grader.cli.printing import Say
from grader.model.score import points_text


@click.command("release")
@click.argument("dest", metavar="DEST", type=click.Path(path_type=Path))
@handin_option
@click.option("--zip", "zipped", is_flag=True, help="One file, DEST.zip, in place of a folder.")
@click.option("--notebooks", is_flag=True, help="With a notebook for each module.")
@click.option("-q", "--quiet", is_flag=True, help="Print only where the copy is.")
@course_option
@workers_options(confinement="none")
def release_command(
    dest: Path,
    handin: str | None,
    zipped: bool,
    notebooks: bool,
    quiet: bool,
    course_folder: Path | None,
    workers: Workers,
) -> None:
    """Write the students' copy of a course into DEST: no solutions, no hidden checks, and a proof that none leaked."""
    say = Say(quiet=quiet)
    say("Releasing ...")
    from grader.release.make import release

    course = course_here(course_folder, whole=True)
    chosen, setup = handin_of(course, handin), workers.setup()
    made = release(course, chosen, setup, dest, zipped=zipped, notebooks=notebooks, say=say, meanwhile=say.meanwhile)
    say(
        f"{made.files} files; none has any of {made.pieces} pieces of staff's files",
        f"{made.withheld} hidden checks stay here and decide {points_text(made.hidden_points)} of "
        f"{points_text(made.points)} points",
    )
    click.echo(str(made.place) if quiet else f"The copy is {made.place}")
