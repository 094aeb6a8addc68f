"""`grade release DEST`: the students' copy of a course, and the proof that nothing of staff's is in it."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.options import confinement_option, device_option, read_setup, start_option
from grader.cli.telling import Say, course_and_exercises, handin_of, told_errors


@click.command()
@click.argument("dest", metavar="DEST", type=click.Path(path_type=Path))
@click.option("--handin", metavar="HANDIN", help="Only the exercises of this hand-in.")
@click.option("--zip", "zipped", is_flag=True, help="One file, DEST.zip, in place of a folder.")
@click.option("--notebooks", is_flag=True, help="With a notebook for each module.")
@click.option("-q", "--quiet", is_flag=True, help="Print only where the copy is.")
@click.option("--course", "course_folder", type=click.Path(path_type=Path), help="The course; by default this folder.")
@confinement_option("none")
@device_option
@start_option
def command(
    dest: Path,
    handin: str | None,
    zipped: bool,
    notebooks: bool,
    quiet: bool,
    course_folder: Path | None,
    confinement: str,
    device: str,
    start: str | None,
) -> None:
    """Write the students' copy of a course into DEST: no solutions, no hidden checks, and a proof that none leaked."""
    say = Say(quiet=quiet)
    say("Releasing ...")
    with told_errors():
        from grader.model.score import points_text
        from grader.release.make import release

        course, _ = course_and_exercises((), course_folder, whole=True)
        chosen = handin_of(course, handin)
        setup = read_setup(start, device, confinement)
        made = release(
            course, chosen, setup, dest, zipped=zipped, notebooks=notebooks, say=say, meanwhile=say.meanwhile
        )
        say(
            f"{made.files} files; none has any of {made.pieces} pieces of staff's files",
            f"{made.withheld} hidden checks stay here and decide {points_text(made.hidden_points)} of "
            f"{points_text(made.points)} points",
        )
        click.echo(str(made.place) if quiet else f"The copy is {made.place}")
