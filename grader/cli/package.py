"""`grade package gradescope`: an autograder as one zip, with the course in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import confinement_option, hidden_option
from grader.cli.telling import Say, course_and_exercises, handin_of, told_errors

if TYPE_CHECKING:
    from grader.report.export.items import Visibility


@click.command()
@click.argument("platform", type=click.Choice(["gradescope"]))
@click.option("--out", default="autograder.zip", show_default=True, type=click.Path(path_type=Path), help="The zip.")
@click.option("--handin", help="The hand-in that is graded; by default the whole course.")
@click.option("--package", "package_", metavar="SPEC", help="How the grader is installed: a requirement, or a wheel.")
@click.option("--course", "course_folder", type=click.Path(path_type=Path), help="The course; by default this folder.")
@confinement_option("reduced", told="The least level that is taken; with none student code can read the hidden checks.")
@hidden_option
def command(
    platform: str,
    out: Path,
    handin: str | None,
    package_: str | None,
    course_folder: Path | None,
    confinement: str,
    hidden: Visibility,
) -> None:
    """Make the zip that Gradescope takes as an autograder: its programs, and the whole course."""
    say = Say()
    with told_errors():
        from grader.ci.files import PROGRAMS, Wishes, package
        from grader.intake.zipped import zip_bytes
        from grader.model.errors import CourseError
        from grader.model.files import write_whole

        course, _ = course_and_exercises((), course_folder, whole=True)
        spec = package_ or Wishes.package_here()
        wishes = Wishes(spec, confinement, hidden, handin_of(course, handin))
        files = package(course, wishes)
        try:
            write_whole(out, zip_bytes(files, PROGRAMS))
        except OSError as error:
            raise CourseError(f"--out: {out} cannot be written ({error.strerror}); name another place") from None
        say(
            f"wrote {out.as_posix()}: {len(files)} files, with every hidden check and solution; give it to nobody else",
            "Upload it as the autograder of an assignment, on Ubuntu 22.04 or later.",
        )
