"""`grade init-ci PLATFORM`: the files by which a platform grades."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import confinement_option, hidden_option
from grader.cli.telling import Say, course_and_exercises, handin_of, told_errors

if TYPE_CHECKING:
    from grader.report.export.items import Visibility

_NEXT = {
    "github": "Commit them to the students' repository or its template; docs/ci.md tells what its score is worth.",
    "github-class": "Commit them to the private repository of the course, fill class.txt, set the secret CLASS_TOKEN.",
    "gitlab": "Commit them to the students' repository or its template; docs/ci.md tells what its score is worth.",
    "gradescope": "These are the programs alone;  grade package gradescope  makes the zip to upload, course and all.",
    "prairielearn": "Copy the course to grader/course, build grader/Dockerfile, and name the image in info.json.",
}


@click.command()
@click.argument("platform", type=click.Choice(list(_NEXT)))
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--handin", help="The hand-in that is graded; by default the whole course.")
@click.option(
    "--package", "package_", metavar="SPEC", help="How the grader is installed; by default this version of it."
)
@confinement_option("reduced", told="The least level with which Gradescope and PrairieLearn grade.")
@hidden_option
def command(
    platform: str, folder: Path, handin: str | None, package_: str | None, confinement: str, hidden: Visibility
) -> None:
    """Write the files by which PLATFORM grades into DIR, this folder by default; none is written over."""
    with told_errors():
        from grader.ci.files import Wishes, lay_out, platform_files

        course = chosen = None
        if platform == "prairielearn" or handin is not None:
            course, _ = course_and_exercises(())
            chosen = handin_of(course, handin)
        spec = package_ or Wishes.package_here()
        files = platform_files(platform, Wishes(spec, confinement, hidden, chosen), course)
        lay_out(files, folder)
        say = Say()
        say(*(f"wrote {(folder / path).as_posix()}" for path in files), _NEXT[platform])
