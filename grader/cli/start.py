"""`grade start DIR`: the bundled course, laid out in a folder."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import click

from grader.cli.telling import Say, told_errors


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Lay the course out in DIR, which must be new or empty."""
    say = Say()
    with told_errors():
        from grader.course.layout import bundled_course
        from grader.report.safe import for_terminal
        from grader.study.given import start

        course = start(bundled_course(), folder)
        shown = for_terminal(str(folder), one_line=True)
        say(f"{len(course.exercises)} exercises are in {shown}. Two commands to begin with:")
        if folder.resolve() != Path.cwd():
            say(f"  cd {shlex.quote(shown)}")
        say(f"  {_typed()} next")
        if folder.resolve() == Path.cwd():
            say(f"  {_typed()}")


def _typed() -> str:
    """The command as it can be typed: by its path where a shell would not find it."""
    own = Path(sys.argv[0]).absolute()
    # Run as a script of an environment that is not active, it has a name of its own that no shell knows.
    if own.stem != "grade" or shutil.which("grade"):
        return "grade"
    return shlex.quote(str(own))
