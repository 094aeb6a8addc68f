"""One runtime for all windows: grades a file when it is saved, and runs lines in a worker.

Everything is done by one thread, one thing after another, as `grade watch` does it. Pages learn of results in the loop
of the server.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeVar

from grader.course.layout import results_path
from grader.course.watching import watch_files
from grader.grading.diagnosis import KnownMistakes, diagnose
from grader.grading.plan import RunPlan
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission
from grader.grading.store import open_store
from grader.model import Course, Exercise, GradedExercise
from grader.model.errors import CourseError, GraderError
from grader.model.messages import Setup
from grader.model.progress import Cancelled, Progress
from grader.student.advice import advice
from grader.student.folder import read_progress, save_starters, write_progress
from grader.student.lines_to_try import run_lines
from grader.student.own import read_own_files

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Result:
    """The result that a page shows after a file was graded.

    Attributes:
        exercise: the id of the exercise.
        graded: the graded exercise; None while it is graded.
        advice: sentences on what to do next.
        is_complete: True if known mistakes were looked for, and the advice is there; verdicts are sent before that.
        problem: a sentence on why it could not be graded, or "".
        solved: True if the student has had full marks at some time.
    """

    exercise: str
    graded: GradedExercise | None = None
    advice: tuple[str, ...] = ()
    is_complete: bool = False
    problem: str = ""
    solved: bool = False


OnResult = Callable[[Result], None]
"""A callback that a page gives, to be called with each result of its exercise."""


class _CancelAtServerEnd(Progress):
    """A progress that cancels its run when the server ends.

    Args:
        ends: the event that is set when the server ends.
    """

    def __init__(self, ends: threading.Event) -> None:
        self._ends = ends

    def running(self, what: str, seconds: float) -> None:
        """Raise `Cancelled` if the server is ending."""
        del what, seconds
        self.still_waiting()

    def still_waiting(self) -> None:
        """Raise `Cancelled` if the server is ending."""
        if self._ends.is_set():
            raise Cancelled


@dataclass
class LiveGrading:
    """The grading behind the pages of a student's course. `start` begins it, `close` ends it.

    Attributes:
        course: the student's folder.
        setup: the set-up of the runs.
        last: the last result of each exercise, by id.
    """

    course: Course
    setup: Setup
    poll: bool = False
    last: dict[str, Result] = field(default_factory=dict)
    _jobs: queue.Queue[Callable[[], None] | None] = field(default_factory=queue.Queue)
    _callbacks: dict[object, tuple[str, OnResult]] = field(default_factory=dict)
    _seen: dict[str, str] = field(default_factory=dict)
    _stopped: str = ""
    _ends: threading.Event = field(default_factory=threading.Event)
    _apart: threading.Lock = field(default_factory=threading.Lock)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start two threads: one opens the runtime and grades, one watches the folder."""
        self._loop = loop
        self._threads = [threading.Thread(target=self._run_jobs), threading.Thread(target=self._watch_files)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Cancel what runs, and wait until both threads and their processes have ended."""
        self._ends.set()
        runtime = getattr(self, "_runtime", None)
        if runtime is not None:
            runtime.cancel.cancel()
        self._jobs.put(None)
        for thread in getattr(self, "_threads", []):
            thread.join()

    # -- pages

    def add_callback(self, key: object, exercise: str, callback: OnResult) -> None:
        """Add a callback, which is called with each result of an exercise.

        Args:
            key: the key by which `remove_callback` removes it, such as its page.
            exercise: the id of the exercise.
            callback: the callback; it is called in the loop of the server.
        """
        self._callbacks[key] = exercise, callback

    def remove_callback(self, key: object) -> None:
        """Remove the callback that was added with a key."""
        self._callbacks.pop(key, None)

    def exercise(self, id: str) -> Exercise:
        """Return the exercise with this id.

        Raises:
            CourseError: there is no such exercise.
        """
        for exercise in self.course.exercises:
            if exercise.id == id:
                return exercise
        raise CourseError(f"this course has no exercise {id!r}")

    def grade(self, exercise: Exercise, *, again: bool = False) -> None:
        """Queue the grading of an exercise.

        Args:
            exercise: the exercise.
            again: True to grade it even if its files have not changed since they were graded.
        """
        self._jobs.put(lambda: self._grade(exercise, again=again))

    async def run_lines(self, exercise: Exercise, lines: str, check: str | None = None, *, own: bool = True) -> str:
        """Run lines of Python in a worker, and return what they print.

        Args:
            exercise: the exercise whose files the lines may import.
            lines: lines of Python.
            check: the id of the check in whose place they run, which decides the device; None for no device.
            own: True if the lines can import the student's file; else an empty file is in its place.

        Raises:
            GraderError: a process of ours cannot be started.
        """
        return await self._run_job(lambda: self._run_lines(exercise, lines, check, own))

    async def _run_job(self, job: Callable[[], Answer]) -> Answer:
        """Run a function in the grading thread, after those that wait there; return its result."""
        if self._stopped:
            raise CourseError(self._stopped)
        future: Future[Answer] = Future()

        def run() -> None:
            try:
                future.set_result(job())
            except BaseException as error:  # it is raised where the answer is waited for
                future.set_exception(error)

        self._jobs.put(run)
        return await asyncio.wrap_future(future)

    async def call_with_runtime(self, job: Callable[[Runtime], Answer]) -> Answer:
        """Call a function with the runtime, in the thread that grades, and return its result."""
        return await self._run_job(lambda: job(self._runtime))

    async def run_in_own_thread(self, job: Callable[[Progress], Answer]) -> Answer:
        """Call a function, such as a game, in a thread beside the one that grades.

        Return its result. The function opens its own processes. Only one such function runs at a time.

        Args:
            job: the function, which gets a progress that cancels it when the server ends.

        Raises:
            CourseError: another such function is not done yet.
        """
        if not self._apart.acquire(blocking=False):
            raise CourseError("another game is not done yet; try again in a moment")
        try:
            return await asyncio.to_thread(job, _CancelAtServerEnd(self._ends))
        finally:
            self._apart.release()

    # -- threads

    def _watch_files(self) -> None:
        for paths in watch_files(self.course.root, poll=self.poll):
            if self._ends.is_set():
                return
            resolved = {path.resolve() for path in paths}
            for exercise in self.course.exercises:
                folder = exercise.starter.resolve().parent
                if any(folder in path.parents for path in resolved):
                    self.grade(exercise)

    def _run_jobs(self) -> None:
        """Open the runtime and run the jobs, one after another, until the server ends."""
        try:
            with (
                open_store(results_path(self.course)) as store,
                Runtime(self.course.exercises, self.setup, hidden=(self.course.root,), warm=True) as self._runtime,
            ):
                self._known = KnownMistakes(self.setup, store)
                self._runtime.warm_up()
                while (job := self._jobs.get()) is not None:
                    job()
        except Cancelled:
            return  # the server ends
        except GraderError as error:
            self._stop(str(error))
        finally:
            if not self._ends.is_set() and not self._stopped:
                self._stop("The grading has stopped; the terminal says why. Start  grade web  again.")

    def _stop(self, problem: str) -> None:
        """Show on all pages why nothing is graded any more.

        The jobs that wait are dropped.

        Args:
            problem: the reason, as a sentence.
        """
        self._stopped = problem
        for exercise in self.course.exercises:
            self._publish(Result(exercise.id, problem=problem))
        while not self._jobs.empty():
            self._jobs.get_nowait()

    def _publish(self, result: Result) -> None:
        if result.graded is not None or result.problem:
            self.last[result.exercise] = result
        for id, callback in list(self._callbacks.values()):
            if id == result.exercise:
                self._loop.call_soon_threadsafe(callback, result)

    def _grade(self, exercise: Exercise, *, again: bool) -> None:
        try:
            self._grade_one(exercise, again=again)
        except GraderError as error:
            self._seen.pop(exercise.id, None)
            self._publish(Result(exercise.id, problem=str(error)))

    def _grade_one(self, exercise: Exercise, *, again: bool) -> None:
        """Grade an exercise, and publish the result.

        The verdicts are published first, then the diagnosis and the advice.

        Args:
            exercise: the exercise.
            again: True to grade it even if its files have not changed since they were graded.
        """
        if not exercise.starter.is_file():
            self._publish(
                Result(exercise.id, problem=f"There is no file {exercise.file_name}: type something, or reset.")
            )
            return
        handed_in = read_own_files(self.course, [exercise])
        if self._seen.get(exercise.id) == handed_in.digest and not again:
            return
        self._seen[exercise.id] = handed_in.digest
        self._publish(Result(exercise.id))
        plan = RunPlan(self.course, [exercise], self.setup, runs_untouched=True, has_folder=True, compiles=True)
        report = grade_submission(plan, handed_in, self._runtime)
        (graded,) = report.exercises
        before = read_progress(self.course)
        self._publish(Result(exercise.id, graded))  # nothing that follows delays the verdicts
        after = before.after(report)
        problem = write_progress(self.course, after)
        if not problem:
            save_starters(self.course)
        said = tuple(filter(None, [*advice(self.course, report, after, saved=not problem), problem or before.problem]))
        solved = after.of(exercise.id).solved
        found = self._runtime.call_in_lane(
            lambda lane: diagnose(graded, handed_in, self.setup, lane, self._known)
        ).result()
        self._publish(Result(exercise.id, found.graded, said, is_complete=True, solved=solved))

    def _run_lines(self, exercise: Exercise, lines: str, check: str | None, own: bool) -> str:
        files = read_own_files(self.course, [exercise]).files_of(exercise).files if own else None
        return run_lines(self._runtime, exercise, lines, self.setup.seed, files=files, check=check or "")
