"""`grade watch`: one exercise in hand, graded again each time its file is saved, until the student goes on or leaves.

Saved files and keys come from threads of their own into one queue; all else happens here, in turn.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from grader.course.layout import kept_results
from grader.course.saves import saves
from grader.grading.diagnosis import Known
from grader.grading.lanes import Lanes, open_lanes
from grader.grading.plan import RunPlan, Work
from grader.grading.store import open_store
from grader.grading.submission import grade_submission
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, GradedExercise, Report, Submission, Verdict
from grader.model.errors import GraderError
from grader.model.messages import Setup
from grader.model.score import points_text
from grader.report.pictures import ASCII, Drawing
from grader.report.safe import prose
from grader.report.terminal import exercise_lines, mistake_lines
from grader.student.advice import after_run, hints
from grader.student.given import reset_sentences
from grader.student.keys import keys
from grader.student.pages import list_lines, show_lines, typed
from grader.student.progress import next_row, read_progress, rows_of

_BAR = 26


@dataclass(frozen=True)
class Screen:
    """Where a watch writes.

    Attributes:
        say: prints lines.
        running: tells what goes on, and for how many seconds.
        width: columns, asked anew each time: a window may change.
        drawing: how pictures are drawn.
    """

    say: Callable[..., None]
    running: Callable[[str, float], None]
    width: Callable[[], int]
    drawing: Drawing = ASCII


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
        self._lanes: Lanes | None = None
        self._seen: dict[str, str] = {}
        self._passed: dict[str, set[str]] = {}
        self._news = False
        self._known = Known(setup)

    def run(self, *, poll: bool = False) -> None:
        """Grade what is in hand, then whatever is saved.

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
                self._say()  # the line that told what was running is taken back

    # -- what comes in

    def _on(self, event: str | set[Path]) -> None:
        if isinstance(event, set):
            self._on_saved(event)
            return
        if event.lower() not in _KEYS:
            return
        _, action = _KEYS[event.lower()]
        try:
            action(self)
        except GraderError as error:  # such as a hint that is not there: told, and the watch goes on
            self._say(*prose(str(error), self._screen.width()))

    def _on_saved(self, paths: set[Path]) -> None:
        # What else was saved meanwhile belongs to the same moment; keys wait their turn.
        kept: list[str] = []
        while not self._events.empty():
            event = self._events.get()
            if isinstance(event, set):
                paths |= event
            else:
                kept.append(event)
        for key in kept:
            self._events.put(key)
        resolved = {path.resolve() for path in paths}
        saved = [item for item in self._course.exercises if item.starter.resolve() in resolved]
        beside = any(self._exercise.starter.resolve().parent in path.parents for path in resolved)
        if self._exercise in saved or (beside and not saved):
            self._grade()
        elif saved:  # whoever saves another one has that in hand now
            self._exercise = saved[0]
            self._grade()

    def _quit(self) -> None:
        raise _Leave

    def _next(self) -> None:
        progress = read_progress(self._course)
        rows = rows_of(self._course, progress)
        ids = [row.exercise.id for row in rows]
        place = ids.index(self._exercise.id) + 1
        ahead = [row for row in (*rows[place:], *rows[:place]) if row.state in ("not_started", "started")]
        if not ahead or ahead[0].exercise.id == self._exercise.id:
            found = next_row(self._course, rows, progress)
            self._say("All other exercises are solved." if found else "You have solved the course.")
            return
        self._exercise = ahead[0].exercise
        self._seen.pop(self._exercise.id, None)
        self._grade()

    def _hint(self) -> None:
        self._say(*hints(self._course, self._exercise, self._screen.width()))

    def _show(self) -> None:
        self._say(*show_lines(self._course, self._exercise, self._screen.width()))

    def _list(self) -> None:
        rows = rows_of(self._course, read_progress(self._course))
        self._say(*list_lines(self._course, rows, self._screen.width()))

    def _all(self) -> None:
        exercises = self._course.exercises
        report = self._graded(self._read(exercises), exercises, alone=False)
        for graded in report.exercises:
            if graded.checks:
                score = f"{points_text(graded.score.earned)} / {points_text(graded.score.possible)}"
                self._say(f"  {graded.exercise.number} {graded.exercise.title}: {score}")
        self._say(*after_run(self._course, report, self._screen.width()), self._bar())

    def _reset(self) -> None:
        sentences = reset_sentences(self._course, self._exercise)
        self._say(*(line for text in sentences for line in prose(text, self._screen.width())))
        # Saved by us: the same content is not graded again.
        self._grade()

    # -- grading

    def _grade(self) -> None:
        exercise = self._exercise
        if not exercise.starter.is_file():
            self._say(f"{typed(exercise.starter)} is not there; save it again, or press r for the starter")
            self._seen.pop(exercise.id, None)
            return
        # With the files beside it, which it may import. An editor that writes the same again asks for nothing.
        handed_in = self._read([exercise])
        if self._seen.get(exercise.id) == handed_in.digest:
            return
        self._seen[exercise.id] = handed_in.digest
        started = time.monotonic()
        self._say("", f"{time.strftime('%H:%M:%S')}  checking {typed(exercise.starter)} ...")
        report = self._graded(handed_in, [exercise], alone=True)
        seconds = time.monotonic() - started
        (graded,) = report.exercises
        self._say(*exercise_lines(graded, self._screen.width(), drawing=self._screen.drawing))
        self._say(*self._changes(graded), f"({seconds:.2f} s)")
        self._diagnose(graded, handed_in)
        self._say(*after_run(self._course, report, self._screen.width()), self._bar())

    def _graded(self, handed_in: Submission, exercises: Sequence[Exercise], *, alone: bool) -> Report:
        assert self._lanes is not None
        return grade_submission(self._plan(exercises, alone=alone), handed_in, self._lanes)

    def _plan(self, exercises: Sequence[Exercise], *, alone: bool) -> RunPlan:
        return RunPlan(self._course, exercises, self._setup, runs_untouched=alone, has_folder=True, compiles=True)

    def _diagnose(self, graded: GradedExercise, handed_in: Submission) -> None:
        """Say which known mistake it looks like. The verdict is there by then: nobody waits for this to read it."""
        assert self._lanes is not None
        work = Work(self._plan([graded.exercise], alone=True), graded.exercise, handed_in)
        found = self._lanes.explain(work, graded, self._known)
        self._say(*mistake_lines(found, self._screen.width()))

    def _read(self, exercises: Sequence[Exercise]) -> Submission:
        return read_submission(self._course.root, exercises, author=self._course.root.resolve().name)

    def _running(self, what: str, seconds: float) -> None:
        # Whoever wants to leave does not wait for an endless loop of theirs.
        with self._events.mutex:
            leaves = "q" in (event for event in self._events.queue if isinstance(event, str))
        if leaves:
            raise _Leave
        self._screen.running(what, seconds)

    # -- lines

    def _changes(self, graded: GradedExercise) -> Iterator[str]:
        """What is another way than after the last save."""
        passed = {row.check.id for row in graded.checks if row.outcome.verdict is Verdict.PASSED}
        before = self._passed.get(graded.exercise.id)
        if graded.checks and graded.checks[0].check.id != "load":
            self._passed[graded.exercise.id] = passed
            if before is not None and before != passed:
                better, worse = len(passed - before), len(before - passed)
                told = [f"{better} more pass" if better else "", f"{worse} no longer" if worse else ""]
                yield f"since the last save: {', '.join(filter(None, told))}"

    def _bar(self) -> str:
        rows = rows_of(self._course, read_progress(self._course))
        done = sum(row.state in ("done", "known") for row in rows)
        told = f"{done} of {len(rows)} exercises"
        long = min(_BAR, self._screen.width() - len(f"[] {told}"))
        full = long * done // max(1, len(rows))
        return f"[{'#' * full}{'.' * (long - full)}] {told}"

    def _legend(self) -> Iterator[str]:
        """What each key does, in as many lines as it takes."""
        line, taken = "", 0
        for key, (what, _) in _KEYS.items():
            long = len(f"{key} {what}")
            if line and taken + 2 + long > self._screen.width():
                yield line
                line, taken = "", 0
            line += f"{'  ' if line else ''}{click.style(key, bold=True)} {what}"
            taken += long + (2 if taken else 0)
        yield line

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
