"""`grade update`: what was mended in the bundled course, brought to a folder that `grade start` made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.telling import Say, terminal_width, told_errors

if TYPE_CHECKING:
    from grader.student.given import Change

_WORDS = {
    "new": "new",
    "mended": "mended",
    "gone": "removed, it is no longer of the course",
    "orphan": "yours, it is no longer of the course",
}


@click.command()
def command() -> None:
    """Bring mended exercises to a folder that `grade start` made. What you changed stays as it is."""
    say = Say()
    with told_errors():
        from grader.course.layout import bundled_course, find_given
        from grader.student.given import update
        from grader.student.pages import prose

        changes = update(bundled_course(), find_given(Path.cwd()))
        for change in changes:
            say(*prose(_told(change), terminal_width()))
        kept = sum(change.kind == "kept" for change in changes)
        if not changes:
            last = "Nothing is new. To get a newer course, install a newer tensorgrade first."
        elif kept:
            last = "Your files are as they were. Take over what you like from the new ones, then delete those."
        else:
            last = "Your own files are as they were."
        say(*prose(last, terminal_width()))


def _told(change: Change) -> str:
    from grader.student.given import NEWER

    name = change.path.as_posix()
    if change.kind == "kept":
        return f"{name}: you changed it and so did the course; the new one is beside it, {change.path.name}{NEWER}"
    return f"{name}: {_WORDS[change.kind]}"
