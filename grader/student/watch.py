"""`grade watch`: one exercise, graded each time its file is saved, until the student goes on or leaves.

Saved files and keys are done one after another.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from grader.course.layout import results_path
from grader.course.watching import watch_files
from grader.grading.diagnosis import KnownMistakes, diagnose
from grader.grading.plan import RunPlan
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission
from grader.grading.store import open_store
from grader.model import Course, Exercise, GradedExercise, Verdict
from grader.model.errors import GraderError
from grader.model.messages import Setup
from grader.model.progress import Progress
from grader.model.score import pluralize
from grader.report.console import Say, shows_colours, terminal_width
from grader.report.safe import wrap
from grader.report.terminal import exercise_lines, mistake_lines, summary_lines
from grader.student.advice import advice_after_run, ending_lines
from grader.student.folder import restore_starter, starter_of, typed_path
from grader.student.hints import hint_lines
from grader.student.list_page import list_lines
from grader.student.own import read_own_files
from grader.student.rows import rows_of
from grader.student.task_page import show_lines

_BAR = 26


class _Leave(Exception):
    """The student has typed `q` while something ran."""


class Watch(Progress):
    """Grades one exercise each time its file is saved, and does what typed keys stand for, until the student leaves.

    Args:
        course: the course.
        exercise: the exercise that is watched first.
        setup: the set-up of the runs.
        say: prints lines.
        plain: True if sentences replace pictures and the screen is not cleared, for a screen reader.
    """

    def __init__(self, course: Course, exercise: Exercise, setup: Setup, say: Say, *, plain: bool = False) -> None:
        self._course = course
        self._exercise = exercise
        self._setup = setup
        self._say = say
        self._plain = plain
        self._lanes: Runtime  # opened in `run`, as is what is known
        self._known: KnownMistakes
        self._seen: dict[str, str] = {}
        self._passed: dict[str, set[str]] = {}
        self._confirms = False
        self._typed: Callable[[], str] = str
        self._keys = ""  # typed while something ran

    def run(self, *, poll: bool = False) -> None:
        """Grade the exercise, then again each time a file is saved, until the student leaves.

        Raises:
            GraderError: no process of ours can be had, or the folder cannot be watched.
        """
        with (
            suppress(_Leave),
            keyboard() as self._typed,
            open_store(results_path(self._course)) as store,
            # Checks of all exercises are read once, so that to go on costs nothing.
            Runtime(self._course.exercises, self._setup, progress=self, warm=True) as self._lanes,
        ):
            self._known = KnownMistakes(self._setup, store)
            saved = watch_files(self._course.root, poll=poll)
            next(saved)  # from here on, no save is missed
            self._handle({self._exercise.starter})
            for paths in saved:
                keys, self._keys = self._keys + self._typed(), ""
                for event in (paths, *keys):
                    if event == "q":
                        return
                    self._handle(event)

    def running(self, what: str, seconds: float) -> None:
        """Print what is running; raise `_Leave` if the student has typed q meanwhile."""
        self._keys += self._typed()
        if "q" in self._keys:
            raise _Leave
        self._say.running(what, seconds)

    # -- what comes in

    def _handle(self, event: str | set[Path]) -> None:
        """Do what a typed key stands for, or grade the exercise if one of its files was saved.

        Args:
            event: a key such as "n", or the paths of saved files.
        """
        action = _KEYS.get(event, ("", None))[1] if isinstance(event, str) else self._action_for_saved(event)
        if event and self._confirms and action is not Watch._reset:
            self._confirms = False
            self._say("Nothing was restored.")
        if action is not None:
            try:
                action(self)
            except GraderError as error:  # such as a hint that does not exist: the watch goes on
                self._say.prose(str(error))
            if sys.stdin.isatty():
                self._say(*self._legend())

    def _action_for_saved(self, paths: set[Path]) -> Action | None:
        resolved = {path.resolve() for path in paths}
        saved = [item for item in self._course.exercises if item.starter.resolve() in resolved]
        if saved and self._exercise not in saved:  # a student who saves another exercise works on that one
            self._exercise = saved[0]
        beside = any(self._exercise.starter.resolve().parent in path.parents for path in resolved)
        return Watch._grade if saved or beside else None

    def _go_to_next(self) -> None:
        """Grade the next open exercise, or say that all are solved.

        After the end of the course, the search goes on at the beginning.
        """
        rows = rows_of(self._course)
        place = [row.exercise.id for row in rows].index(self._exercise.id)
        # Round the course; the exercise in hand comes last.
        following = next((row for row in (*rows[place + 1 :], *rows[: place + 1]) if row.is_open), None)
        if following is None:
            self._say.prose(*ending_lines(self._course, rows))
        elif following is rows[place]:
            self._say("You have solved all other exercises.")
        else:
            self._exercise = following.exercise
            self._seen.pop(self._exercise.id, None)
            self._grade()

    def _show_hint(self) -> None:
        self._say(*hint_lines(self._course, self._exercise, terminal_width()))

    def _show_task(self) -> None:
        self._say(*show_lines(self._exercise, terminal_width(), plain=self._plain))

    def _list_exercises(self) -> None:
        self._say(*list_lines(self._course, rows_of(self._course), terminal_width()))

    def _grade_all(self) -> None:
        exercises = self._course.exercises
        report = grade_submission(
            self._plan(exercises, alone=False), read_own_files(self._course, exercises), self._lanes
        )
        self._say(*summary_lines(report, terminal_width()))
        self._say(*advice_after_run(self._course, report, terminal_width()), self._progress_bar())

    def _reset(self) -> None:
        path = self._exercise.starter
        has_work = path.is_file() and path.read_bytes() != starter_of(self._course, self._exercise)
        self._confirms = has_work and not self._confirms
        if self._confirms:
            text = f"Restore the starter of {self._exercise.id}? Your file stays beside it. Press r again for yes."
            self._say.prose(text)
            return
        self._say.prose(*restore_starter(self._course, self._exercise))
        # Saved by us: the same content is not graded again.
        self._grade()

    # -- grading

    def _grade(self) -> None:
        """Grade the exercise if its files have changed, and print the result.

        The known mistake and advice are printed below it.
        """
        exercise = self._exercise
        if not exercise.starter.is_file():
            self._say(f"There is no file {typed_path(exercise.starter)}. Save it again, or press r for the starter.")
            self._seen.pop(exercise.id, None)
            return
        # With the files beside it, which it may import. An editor may save the same text again: that is not graded.
        handed_in = read_own_files(self._course, [exercise])
        if self._seen.get(exercise.id) == handed_in.digest:
            return
        self._seen[exercise.id] = handed_in.digest
        started = time.monotonic()
        if not self._plain:  # a screen reader would read the whole screen again
            self._say.clear()
        self._say("", f"{time.strftime('%H:%M:%S')}  checking {typed_path(exercise.starter)} ...")
        report = grade_submission(self._plan([exercise], alone=True), handed_in, self._lanes)
        seconds = time.monotonic() - started
        (graded,) = report.exercises
        self._say(*exercise_lines(graded, terminal_width(), plain=self._plain, colours=shows_colours()))
        self._say(*self._changes(graded), f"({seconds:.2f} s)")
        # Which known mistake it looks like, after the verdict: that need not wait.
        diagnosed = self._lanes.call_in_lane(
            lambda lane: diagnose(graded, handed_in, self._setup, lane, self._known)
        ).result()
        self._say(*mistake_lines(diagnosed.graded, terminal_width()))
        self._say(*advice_after_run(self._course, report, terminal_width()), self._progress_bar())

    def _plan(self, exercises: Sequence[Exercise], *, alone: bool) -> RunPlan:
        return RunPlan(self._course, exercises, self._setup, runs_untouched=alone, has_folder=True, compiles=True)

    # -- lines

    def _changes(self, graded: GradedExercise) -> Iterator[str]:
        """Yield a sentence on how many checks newly pass or no longer pass since the last save.

        For example, "Since the last save: 2 more checks passed and 1 check no longer passed." Nothing is yielded if
        none changed. The checks that pass now are recorded for the next call.
        """
        if graded.checks and graded.checks[0].check.id != "load":
            passed = {row.check.id for row in graded.checks if row.outcome.verdict is Verdict.PASSED}
            before = self._passed.get(graded.exercise.id, passed)
            self._passed[graded.exercise.id] = passed
            changes = ((passed - before, "more check", "passed"), (before - passed, "check", "no longer passed"))
            if texts := [f"{pluralize(len(ids), what)} {how}" for ids, what, how in changes if ids]:
                yield f"Since the last save: {' and '.join(texts)}."

    def _progress_bar(self) -> str:
        rows = rows_of(self._course)
        done = sum(not row.is_open for row in rows)
        # In a copy without hidden checks, what passes here may not be done.
        here = "pass here" if any(row.exercise.withheld.checks for row in rows) else "exercises"
        text = f"{done} of {len(rows)} {here}"
        long = min(_BAR, terminal_width() - len(f"[] {text}"))
        full = long * done // max(1, len(rows))
        return f"[{'#' * full}{'.' * (long - full)}] {text}"

    def _legend(self) -> Iterator[str]:
        """Yield lines with what each key does: "n next  h hint  s show the task  ..."."""
        keys = "  ".join(f"{key}\0{what}".replace(" ", "\0") for key, (what, _) in _KEYS.items())
        for line in wrap(keys, "", terminal_width(), ""):
            yield re.sub(r"\b\w\b", lambda key: click.style(key[0], bold=True), line)


Action = Callable[[Watch], None]

_KEYS: dict[str, tuple[str, Action]] = {
    "n": ("next", Watch._go_to_next),
    "h": ("hint", Watch._show_hint),
    "s": ("show the task", Watch._show_task),
    "l": ("list", Watch._list_exercises),
    "a": ("check all", Watch._grade_all),
    "r": ("reset", Watch._reset),
    "q": ("quit", lambda watch: None),
}
"""Each key, with what it does in words."""


# -- keys, one at a time and without Enter, where somebody types


@contextmanager
def keyboard() -> Iterator[Callable[[], str]]:
    """Yield a function that returns the keys typed since its last call, without waiting.

    Until the `with` block ends, the terminal passes each key on at once and does not show it; Ctrl-C and Ctrl-Z work as
    before. A shell resets the terminal after Ctrl-Z, so this mode is set again when the process continues.
    """
    if not sys.stdin.isatty() or sys.platform == "win32":
        yield _windows_keys if sys.stdin.isatty() else str
        return
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    handler = signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(fd))
    tty.setcbreak(fd)
    try:
        yield lambda: _posix_keys(fd)
    finally:
        signal.signal(signal.SIGCONT, handler)
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _posix_keys(fd: int) -> str:
    typed = os.read(fd, 64).decode("utf-8", "ignore") if select.select([fd], [], [], 0)[0] else ""
    return "" if typed.startswith("\x1b") else typed.lower()  # an arrow is several characters, and no letter of it


def _windows_keys() -> str:
    console: Any = __import__("msvcrt")
    keys = ""
    while console.kbhit():
        keys += console.getwch()
    return keys.lower()
