"""What commands have in common: lines at once, errors of ours without a traceback, the course where the user is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.model.errors import GraderError

if TYPE_CHECKING:
    from grader.model import Course, Exercise

_INTERRUPTED = 130


class Say:
    """Prints lines at once, unless it is to be quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def __call__(self, *lines: str) -> None:
        """Print lines."""
        if not self._quiet:
            for line in lines:
                click.echo(line)
            sys.stdout.flush()


@contextmanager
def told_errors() -> Iterator[None]:
    """Tell an error of ours or of the course's as lines, without a traceback."""
    try:
        yield
    except GraderError as error:
        from grader.report.safe import for_terminal

        for line in str(error).split("\n"):
            click.echo(f"grade: {for_terminal(line)}", err=True)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        click.echo("grade: interrupted", err=True)
        sys.exit(_INTERRUPTED)


def course_and_exercises(names: Sequence[str], folder: Path | None = None) -> tuple[Course, list[Exercise]]:
    """The course that a folder lies in, and the exercises of those names, or all of them."""
    from grader.course.layout import find_course
    from grader.course.load import find_exercise, load_course

    course = load_course(find_course((folder or Path.cwd()).resolve()))
    return course, [find_exercise(course, name) for name in names] or list(course.exercises)
