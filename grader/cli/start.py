"""`grade start DIR` and `grade update`: the bundled course in a student's folder."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from grader.cli.printing import Say, terminal_width


@click.command("start")
@click.argument("words", metavar="DIR", nargs=-1, required=True)
def start_command(words: tuple[str, ...]) -> None:
    """Lay the course out in DIR, which must be new or empty."""
    if len(words) > 1:
        meant = shlex.quote(" ".join(words))
        raise click.UsageError(f"give one folder; put a name with blanks in quotes: grade start {meant}")
    from grader.course.layout import bundled_course
    from grader.report.safe import for_terminal
    from grader.student.given import start
    from grader.student.pages import prose

    folder, say = Path(words[0]), Say()
    course = start(bundled_course(), folder)
    here = folder.resolve() == Path.cwd()
    shown = for_terminal(str(folder), one_line=True)
    place = "this folder" if here else shown
    say(*prose(f"{len(course.exercises)} exercises are in {place}. Two commands to begin with:", terminal_width()))
    # Run by its path, out of an environment that is not active: the shell would not know the next command.
    if not shutil.which("grade"):
        own = Path(sys.argv[0]).absolute()
        say(_on_path((own if own.stem == "grade" else Path(sys.executable)).parent))
    say(*(["  grade next", "  grade"] if here else [f"  cd {shlex.quote(shown)}", "  grade next"]))


def _on_path(folder: Path) -> str:
    """What makes a shell find the commands of a folder."""
    if os.name == "nt":
        return f"  (grade is in {folder}: put that on your PATH first)"
    return f'  export PATH="{folder}:$PATH"'


@click.command("update")
def update_command() -> None:
    """Bring corrected exercises to a folder that `grade start` made. What you changed stays as it is."""
    from grader.course.layout import bundled_course, find_given
    from grader.student.given import update, update_lines

    Say()(*update_lines(update(bundled_course(), find_given(Path.cwd())), terminal_width()))
