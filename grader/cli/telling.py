"""What commands have in common: lines at once, errors of ours without a traceback, the course where the user is."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.model.errors import GraderError

if TYPE_CHECKING:
    from grader.model import Broken, Course, Exercise, HandIn
    from grader.report.pictures.canvas import Drawing
    from grader.student.progress import Progress

INTERRUPTED = 130
_QUICK_S = 1.0
_MINUTE_S = 60
_WIDEST, _NARROWEST = 80, 40


def terminal_width() -> int:
    """Columns of the terminal, between those for which lines are made."""
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns))


def drawing(*, plain: bool) -> Drawing:
    """How pictures are drawn where standard output goes."""
    from grader.report.pictures.canvas import Drawing

    return Drawing.on(sys.stdout.encoding, plain=plain)


class Say:
    """Prints lines at once, unless it is to be quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._running = 0

    def __call__(self, *lines: str) -> None:
        """Print lines."""
        if not self._quiet:
            self._erase()
            for line in lines:
                click.echo(line)
            sys.stdout.flush()

    def running(self, what: str, seconds: float) -> None:
        """Tell what goes on, in one line that changes, on a terminal; what is quick is not told."""
        if seconds >= _QUICK_S:
            self.meanwhile(what, f" ... {seconds:.0f} s")

    def meanwhile(self, what: str, end: str = "") -> None:
        """Put a line where the next one will stand, on a terminal; it is cut off before its end."""
        if self._quiet or not sys.stdout.isatty():
            return
        from grader.report.safe import for_terminal

        text = f"  {for_terminal(what, one_line=True)[: terminal_width() - len(end) - 3]}{end}"
        self._erase()
        click.echo(text, nl=False)
        sys.stdout.flush()
        self._running = len(text)

    def _erase(self) -> None:
        # Blanks and no escape codes: any terminal understands a carriage return.
        if self._running:
            click.echo(f"\r{' ' * self._running}\r", nl=False)
            self._running = 0


class Pace:
    """How fast it goes, and how long it will take, in a line that changes.

    Args:
        say: prints it.
        at_end: what is told where all is done; by default that.
    """

    def __init__(self, say: Say, at_end: str = "") -> None:
        self._say = say
        self._at_end = at_end
        self._first: tuple[float, int] | None = None
        self._last = 0

    def __call__(self, done: int, total: int) -> None:
        """Tell it; where less is done than before, something else began."""
        now = time.monotonic()
        if done < self._last:
            self._first = None
        self._last = done
        since, before = self._first = self._first or (now, done)
        if done == total and self._at_end:
            self._say.meanwhile(self._at_end)
            return
        told = f"{done} of {total}"
        if done > before and now > since:  # what was done in an earlier run says nothing of the pace
            pace = (done - before) / (now - since)
            told += f", {pace * _MINUTE_S:.0f} a minute, {_time((total - done) / pace)} left"
        self._say.meanwhile(told)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * _MINUTE_S else f"{seconds / _MINUTE_S:.0f} min"


def tell(line: str) -> None:
    """One line about what is wrong, on standard error."""
    from grader.report.lines import filled
    from grader.report.safe import for_terminal

    text = f"grade: {for_terminal(line)}"
    # A terminal would break a name in two; for a file or a program a line stays a line.
    lines = filled(text.split(" "), "", terminal_width()) if sys.stderr.isatty() else [text]
    click.echo("\n".join(lines), err=True)


@contextmanager
def told_errors() -> Iterator[None]:
    """Tell an error of ours or of the course's as lines, without a traceback."""
    try:
        yield
    except GraderError as error:
        for line in str(error).split("\n"):
            tell(line)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        click.echo("grade: interrupted", err=True)
        sys.exit(INTERRUPTED)


def course_and_exercises(
    names: Sequence[str], folder: Path | None = None, *, whole: bool = False, tells: bool = True
) -> tuple[Course, list[Exercise]]:
    """The course that a folder lies in, and the exercises of those names, or all of them.

    With `whole`, an exercise that cannot be used is an error; else it is left out, and with `tells` it is told.
    """
    from grader.cli import COMMANDS
    from grader.course.layout import find_course
    from grader.course.load import load_course
    from grader.course.names import find_exercises

    course = load_course(find_course((folder or Path.cwd()).resolve()), whole=whole)
    if tells:
        tell_broken(broken_of(course, names))
    named = [exercise for name in names for exercise in find_exercises(course, name, COMMANDS)]
    return course, list({exercise.id: exercise for exercise in named}.values()) or list(course.exercises)


def broken_of(course: Course, names: Sequence[str] = (), handin: HandIn | None = None) -> list[Broken]:
    """The exercises among those of these names, or of all, that cannot be used; of a hand-in, if one is meant."""
    from grader.course.names import means_module

    if handin is not None:
        return [item for item in course.broken if item.id in handin.exercises]
    listed = [item for item in course.broken if item.module]
    return [item for item in listed if not names or any(means_module(item.module, name) for name in names)]


def tell_broken(broken: Sequence[Broken]) -> None:
    """Name exercises that cannot be used, and what to mend, beside whatever a command prints."""
    for item in broken:
        for line in (*item.problems, f"{item.id} is left out until this is mended"):
            tell(line)


def handin_of(course: Course, name: str | None) -> HandIn | None:
    """The hand-in of a name; None if no name is given.

    Raises:
        CourseError: there is none of that name.
    """
    from grader.model.errors import CourseError

    if name is None:
        return None
    for handin in course.handins:
        if handin.id == name:
            return handin
    known = ", ".join(handin.id for handin in course.handins) or "none"
    raise CourseError(f"there is no hand-in {name!r} in this course; known are {known}")


def exercise_in_hand(course: Course, name: str | None) -> tuple[Exercise, Progress]:
    """The exercise of a name, or the one that comes next, and how far the student is.

    Raises:
        CourseError: there is no such exercise, or nothing left to solve.
    """
    from grader.course.names import one_exercise
    from grader.model.errors import CourseError
    from grader.student.progress import read_progress
    from grader.student.rows import next_row, rows_of

    progress = read_progress(course)
    if name is not None:
        return one_exercise(course, name), progress
    row = next_row(course, rows_of(course, progress), progress)
    if row is None:
        raise CourseError("all exercises are solved; name one")
    return row.exercise, progress


def solved_reference(course: Course, exercise: Exercise) -> None:
    """Refuse what is for those who have solved an exercise, or where its reference is not here.

    Raises:
        CourseError: it is not solved, or there is no reference.
    """
    from grader.course.kept import kept_progress
    from grader.model.errors import CourseError
    from grader.student.progress import read_progress

    if exercise.reference is None:
        raise CourseError(f"the reference of {exercise.id} is not in this copy of the course")
    if not read_progress(course).of(exercise.id).solved:
        where = kept_progress(course).relative_to(course.root).as_posix()
        raise CourseError(
            f"the reference is shown once {exercise.id} has had full marks, which {where} tells; "
            f"until then there is  grade hint {exercise.id}"
        )


def check_rules(exercises: Sequence[Exercise], rules: Sequence[str]) -> None:
    """Refuse rules that the one exercise does not have.

    Raises:
        CourseError: there is no such rule, or not exactly one exercise.
    """
    from grader.model.errors import CourseError

    if not rules:
        return
    if len(exercises) > 1:
        raise CourseError(f"{rules[0]} is a rule of some exercise; say of which one: grade EXERCISE {rules[0]}")
    known = exercises[0].contract
    unknown = [rule for rule in rules if rule not in known]
    if known and unknown:
        raise CourseError(f"{exercises[0].id} has no rule {unknown[0]}; its rules are {', '.join(known)}")
