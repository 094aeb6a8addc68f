"""`grade start DIR`: the bundled course, laid out in a folder."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from grader.cli.telling import Say, terminal_width, told_errors


@click.command()
@click.argument("words", metavar="DIR", nargs=-1, required=True)
def command(words: tuple[str, ...]) -> None:
    """Lay the course out in DIR, which must be new or empty."""
    if len(words) > 1:
        meant = shlex.quote(" ".join(words))
        raise click.UsageError(f"one folder is asked for; a name with blanks stands in quotes: grade start {meant}")
    folder, say = Path(words[0]), Say()
    with told_errors():
        from grader.course.layout import bundled_course
        from grader.report.safe import for_terminal
        from grader.student.given import start
        from grader.student.pages import prose

        course = start(bundled_course(), folder)
        here = folder.resolve() == Path.cwd()
        shown = for_terminal(str(folder), one_line=True)
        told = (
            f"{len(course.exercises)} exercises are in {'this folder' if here else shown}. Two commands to begin with:"
        )
        say(*prose(told, terminal_width()))
        # Run by its path, out of an environment that is not active: the next command would not be found.
        if not shutil.which("grade"):
            own = Path(sys.argv[0]).absolute()
            say(_on_path((own if own.stem == "grade" else Path(sys.executable)).parent))
        if not here:
            say(f"  cd {shlex.quote(shown)}")
        say("  grade next")
        if here:
            say("  grade")


def _on_path(folder: Path) -> str:
    """What makes a shell find the commands of a folder."""
    if os.name == "nt":
        return f"  (grade is in {folder}: put that on your PATH first)"
    return f'  export PATH="{folder}:$PATH"'
