"""`grade start DIR`: the bundled course, laid out in a folder."""

from __future__ import annotations

import os
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
        here = folder.resolve() == Path.cwd()
        shown = for_terminal(str(folder), one_line=True)
        say(f"{len(course.exercises)} exercises are in {'this folder' if here else shown}. Two commands to begin with:")
        # Run by its path out of an environment that is not active, the next command would not be found.
        if (script := _activation()) and not shutil.which("grade"):
            say(f"  {script}")
        if not here:
            say(f"  cd {shlex.quote(shown)}")
        say("  grade next")
        if here:
            say("  grade")


def _activation() -> str:
    """What makes a shell find the commands of the environment that this one is of; "" for none."""
    scripts = Path(sys.prefix, "Scripts" if os.name == "nt" else "bin")
    if not (scripts / "activate").is_file():
        return ""
    return str(scripts / "activate") if os.name == "nt" else f"source {shlex.quote(str(scripts / 'activate'))}"
