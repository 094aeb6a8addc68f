"""`grade watch`: one exercise, graded each time its file is saved, until the student goes on or leaves.

Two threads put saved files and keys into one queue; everything else happens here, one event after another.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from grader.course.layout import kept_results
from grader.course.saves import saves
from grader.grading.diagnosis import Known, diagnose
from grader.grading.lanes import Lanes, open_lanes
from grader.grading.plan import RunPlan
from grader.grading.schedule import grade_submission
from grader.grading.store import open_store
from grader.model import Course, Exercise, GradedExercise, Verdict
from grader.model.errors import GraderError
from grader.model.messages import Setup
from grader.model.score import counted, points_text
from grader.report.pictures import ASCII, Drawing
from grader.report.safe import filled, prose
from grader.report.terminal import exercise_lines, mistake_lines
from grader.student.advice import after_run, ending, hints
from grader.student.folder import read_progress, reset, starter_of, typed
from grader.student.own import own_files
from grader.student.pages import Row, list_lines, rows_of, show_lines

_BAR = 26
_LOOK_S = 0.1


@dataclass(frozen=True)
class Screen:
    """Where a watch writes.

    Attributes:
        say: prints lines.
        running: shows what is running, and for how many seconds.
        width: gives the columns, which change with the window.
        drawing: how pictures are drawn.
        clear: clears the screen, if it is one.
    """

    say: Callable[..., None]
    running: Callable[[str, float], None]
    width: Callable[[], int]
    drawing: Drawing = ASCII
    clear: Callable[[], None] = lambda: None


class _Leave(Exception):
    """The student has typed `q`, maybe while something ran."""


class Watch:
    """One student at work. `run` goes on until they leave.

    Args:
        course: whose exercises these are.
        exercise: that in hand first.
        setup: how runs are set up.
        screen: where lines go.
    """

    def __init__(self, course: Course, exercise: Exercise, setup: Setup, screen: Screen) -> None:
        self._course = course
        self._exercise = exercise
        self._setup = setup
        self._screen = screen
        self._events: queue.Queue[str | set[Path]] = queue.Queue()
        self._lanes: Lanes  # opened in `run`, as is what is known
        self._known: Known
        self._seen: dict[str, str] = {}
        self._passed: dict[str, set[str]] = {}
        self._news = False
        self._asked = False

    def run(self, *, poll: bool = False) -> None:
        """Grade the exercise, then again each time a file is saved.

        Raises:
            GraderError: no process of ours can be had, or the folder cannot be watched.
        """
        with ExitStack() as stack:
            stack.enter_context(saves(self._course.root, self._events.put, poll=poll))
            typing = stack.enter_context(keys(self._events.put))
            self._known = Known(self._setup, stack.enter_context(open_store(kept_results(self._course))))
            # Checks of all exercises are read once, so that to go on costs nothing.
            self._lanes = stack.enter_context(open_lanes(self._course.exercises, self._setup, watch=self._running))
            try:
                self._grade()
                while True:
                    if typing and self._news:
                        self._say(*self._legend())
                    self._news = False
                    self._on(self._events.get())
            except _Leave:
                self._say()  # erases the line that showed what was running

    # -- what comes in

    def _on(self, event: str | set[Path]) -> None:
        if isinstance(event, set):
            self._on_saved(event)
            return
        _, action = _KEYS.get(event.lower(), ("", None))
        if self._asked and action is None:
            self._say("Nothing was restored.")
        self._asked = self._asked and action is Watch._reset
        try:
            if action is not None:
                action(self)
        except GraderError as error:  # such as a hint that does not exist: the watch goes on
            self._say_prose(str(error))

    def _on_saved(self, paths: set[Path]) -> None:
        # What else was saved meanwhile belongs to the same moment; keys wait their turn.
        for _ in range(self._events.qsize()):
            event = self._events.get()
            if isinstance(event, set):
                paths |= event
            else:
                self._events.put(event)
        resolved = {path.resolve() for path in paths}
        saved = [item for item in self._course.exercises if item.starter.resolve() in resolved]
        beside = any(self._exercise.starter.resolve().parent in path.parents for path in resolved)
        if saved and self._exercise not in saved:  # a student who saves another exercise works on that one
            self._exercise = saved[0]
        if saved or beside:
            self._grade()

    def _quit(self) -> None:
        raise _Leave

    def _next(self) -> None:
        rows = self._rows()
        place = [row.exercise.id for row in rows].index(self._exercise.id)
        # Round the course; the exercise in hand comes last.
        following = next((row for row in (*rows[place + 1 :], *rows[: place + 1]) if row.is_open), None)
        if following is None:
            self._say_prose(*ending(self._course, rows))
        elif following is rows[place]:
            self._say("You have solved all other exercises.")
        else:
            self._exercise = following.exercise
            self._seen.pop(self._exercise.id, None)
            self._grade()

    def _hint(self) -> None:
        self._say(*hints(self._course, self._exercise, self._screen.width()))

    def _show(self) -> None:
        self._say(*show_lines(self._course, self._exercise, self._screen.width(), self._screen.drawing))

    def _list(self) -> None:
        self._say(*list_lines(self._course, self._rows(), self._screen.width()))

    def _all(self) -> None:
        exercises = self._course.exercises
        report = grade_submission(self._plan(exercises, alone=False), own_files(self._course, exercises), self._lanes)
        for graded in report.exercises:
            if graded.checks:
                score = f"{points_text(graded.score.earned)} / {points_text(graded.score.possible)}"
                self._say(f"  {graded.exercise.number} {graded.exercise.title}: {score}")
        self._say(*after_run(self._course, report, self._screen.width()), self._bar())

    def _reset(self) -> None:
        path = self._exercise.starter
        has_work = path.is_file() and path.read_bytes() != starter_of(self._course, self._exercise)
        self._asked = has_work and not self._asked
        if self._asked:
            text = f"Restore the starter of {self._exercise.id}? Your file stays beside it. Press r again for yes."
            self._say_prose(text)
            return
        self._say_prose(*reset(self._course, self._exercise))
        # Saved by us: the same content is not graded again.
        self._grade()

    # -- grading

    def _grade(self) -> None:
        exercise = self._exercise
        if not exercise.starter.is_file():
            self._say(f"There is no file {typed(exercise.starter)}. Save it again, or press r for the starter.")
            self._seen.pop(exercise.id, None)
            return
        # With the files beside it, which it may import. An editor may save the same text again: that is not graded.
        handed_in = own_files(self._course, [exercise])
        if self._seen.get(exercise.id) == handed_in.digest:
            return
        self._seen[exercise.id] = handed_in.digest
        started = time.monotonic()
        self._screen.clear()
        self._say("", f"{time.strftime('%H:%M:%S')}  checking {typed(exercise.starter)} ...")
        report = grade_submission(self._plan([exercise], alone=True), handed_in, self._lanes)
        seconds = time.monotonic() - started
        (graded,) = report.exercises
        self._say(*exercise_lines(graded, self._screen.width(), drawing=self._screen.drawing))
        self._say(*self._changes(graded), f"({seconds:.2f} s)")
        # Which known mistake it looks like, after the verdict: that need not wait.
        explained = self._lanes.ask(lambda lane: diagnose(graded, handed_in, self._setup, lane, self._known)).result()
        self._say(*mistake_lines(explained, self._screen.width()))
        self._say(*after_run(self._course, report, self._screen.width()), self._bar())

    def _plan(self, exercises: Sequence[Exercise], *, alone: bool) -> RunPlan:
        return RunPlan(self._course, exercises, self._setup, runs_untouched=alone, has_folder=True, compiles=True)

    def _running(self, what: str, seconds: float) -> None:
        # A student who wants to leave does not wait for their endless loop.
        with self._events.mutex:
            leaves = "q" in (event for event in self._events.queue if isinstance(event, str))
        if leaves:
            raise _Leave
        self._screen.running(what, seconds)

    # -- lines

    def _changes(self, graded: GradedExercise) -> Iterator[str]:
        """How many checks changed since the last save."""
        if graded.checks and graded.checks[0].check.id != "load":
            passed = {row.check.id for row in graded.checks if row.outcome.verdict is Verdict.PASSED}
            before = self._passed.get(graded.exercise.id, passed)
            self._passed[graded.exercise.id] = passed
            changes = ((passed - before, "more check", "passed"), (before - passed, "check", "no longer passed"))
            if texts := [f"{counted(len(ids), what)} {how}" for ids, what, how in changes if ids]:
                yield f"Since the last save: {' and '.join(texts)}."

    def _bar(self) -> str:
        rows = self._rows()
        done = sum(row.state in ("done", "known") for row in rows)
        text = f"{done} of {len(rows)} exercises"
        long = min(_BAR, self._screen.width() - len(f"[] {text}"))
        full = long * done // max(1, len(rows))
        return f"[{'#' * full}{'.' * (long - full)}] {text}"

    def _legend(self) -> Iterator[str]:
        """What each key does, in as many lines as it takes."""
        keys = "  ".join(f"{key}\0{what}".replace(" ", "\0") for key, (what, _) in _KEYS.items())
        for line in filled(keys, "", self._screen.width(), ""):
            yield re.sub(r"\b\w\b", lambda key: click.style(key[0], bold=True), line)

    def _rows(self) -> list[Row]:
        return rows_of(self._course, read_progress(self._course))

    def _say_prose(self, *texts: str) -> None:
        width = self._screen.width()
        self._say(*(line for text in texts for line in prose(text, width)))

    def _say(self, *lines: str) -> None:
        self._news = True
        self._screen.say(*lines)


_KEYS: dict[str, tuple[str, Callable[[Watch], None]]] = {
    "n": ("next", Watch._next),
    "h": ("hint", Watch._hint),
    "s": ("show the task", Watch._show),
    "l": ("list", Watch._list),
    "a": ("check all", Watch._all),
    "r": ("reset", Watch._reset),
    "q": ("quit", Watch._quit),
}
"""Each key, with what it does in words."""


# -- keys, one at a time and without Enter, where somebody types


@contextmanager
def keys(tell: Callable[[str], None]) -> Iterator[bool]:
    """Meanwhile pass each key on, in a thread of its own; gives whether there is a keyboard.

    Args:
        tell: receives each key.
    """
    if not sys.stdin.isatty():
        yield False
        return
    stop = threading.Event()
    read = _windows if sys.platform == "win32" else _posix
    with _unbuffered():
        thread = threading.Thread(target=read, args=(tell, stop), name="keys", daemon=True)
        thread.start()
        try:
            yield True
        finally:
            stop.set()
            thread.join(1.0)


def _posix(tell: Callable[[str], None], stop: threading.Event) -> None:
    import select

    fd = sys.stdin.fileno()
    while not stop.is_set():
        if select.select([fd], [], [], _LOOK_S)[0]:
            typed = os.read(fd, 64).decode("utf-8", "ignore")
            if not typed:  # the terminal is gone
                return
            if not typed.startswith("\x1b"):  # an arrow is several characters, and no letter of it was typed
                for key in typed:
                    tell(key)


def _windows(tell: Callable[[str], None], stop: threading.Event) -> None:
    keyboard: Any = __import__("msvcrt")
    while not stop.wait(_LOOK_S):
        while keyboard.kbhit():
            tell(keyboard.getwch())


@contextmanager
def _unbuffered() -> Iterator[None]:
    """The terminal hands keys over as they are typed, and shows none; Ctrl-C and Ctrl-Z work as before.

    After Ctrl-Z, a shell sets the terminal for itself, so this is done again when the process goes on.
    """
    if sys.platform == "win32":
        yield
        return
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    handler = signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(fd))
    tty.setcbreak(fd)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, handler)
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
