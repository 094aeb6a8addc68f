"""A lane: one check process with its workers, as the host sees it.

The host owns the deadline of an exercise: it ends the lane's workers, gives the check process a moment to send what it
has, and then ends the lane. A lane that ended is opened again for the next exercise.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from grader.model import BROKEN_MESSAGE, Check, DeviceKind, Exercise, Outcome, Verdict
from grader.model.errors import DeviceError, StartError
from grader.model.files import adapter
from grader.model.messages import (
    ALL,
    NOT_PENDING,
    PENDING,
    CheckSelection,
    Collected,
    Done,
    Job,
    Message,
    Plan,
    PlannedExercise,
    Spawned,
    from_frame,
    to_frame,
)
from grader.model.progress import Cancel, Progress
from grader.runner.promises import ReachedLevel
from grader.runner.worker_source import WorkerSource
from grader.runner.zygote_client import START_S, ForkedProcess
from grader.sandbox import cgroup
from grader.sandbox.child import end, tail
from grader.sandbox.clock import runnable_wait_s
from grader.sandbox.process import GRACE_S, kill, remove_folder
from grader.wire.frames import Channel
from grader.wire.transport import ChannelClosed, patience_until

_WAITED = 0.02
"""The part of an exercise's time: a job that waited less than that for a core would have been late anyway."""

_INSTEAD = "without --device, such checks run on the simulated GPU"


@functools.cache
def _warn_once(finding: str) -> None:
    """Log a finding about a check file as a warning, once for all lanes that read the file.

    A finding is a line that has no effect on student code, or is never graded.
    """
    logging.getLogger("grader").warning(finding)


@dataclass(frozen=True)
class JobResult:
    """The result of one job of a lane.

    Attributes:
        outcomes: one for each check.
        output: the text that student code printed.
        workers: the number of workers that it took.
        starved: True if the deadline ended it after it had waited for a core. Alone it might have been in time.
    """

    outcomes: Sequence[Outcome]
    output: str
    workers: int = 0
    starved: bool = False


def _folders_of_files(exercises: Sequence[Exercise]) -> set[Path]:
    """Return the folders with the files of these exercises.

    For a file in a course, that is the folder of the course; for any other file, the folder that it lies in.
    """
    files = {
        path.resolve() for exercise in exercises for path in PlannedExercise.of(exercise).files if path is not None
    }
    closed = {folder.resolve() for exercise in exercises for folder in exercise.closed}
    return {next((top for top in closed if top in path.parents), path.parent) for path in files}


def _needs_plain(exercises: Sequence[Exercise]) -> bool:
    """Return whether one of these exercises needs workers with the standard library alone."""
    return any(exercise.without for exercise in exercises)


def _inode(folder: Path) -> int | None:
    """Return the inode of a folder, by which a new folder in its place is noticed; else None."""
    return folder.stat().st_ino if folder.exists() else None


def _too_late_outcome(check: str, exercise: Exercise) -> Outcome:
    """Return the outcome of a check that had not ended when the time of its exercise was over."""
    seconds = exercise.limits.exercise_s
    text = f"the exercise as a whole took longer than {seconds:g} seconds"
    return Outcome(check, Verdict.TIMED_OUT, text, cause="raised")


def _lost_process_outcome(check: str, detail: str, *, pending: bool) -> Outcome:
    """Return the outcome of a check whose check process is gone.

    Args:
        check: the id of the check.
        detail: the reason, for staff.
        pending: True if the process was reading a reply of a worker: then that reply was too large for it.
    """
    if pending:
        return Outcome(
            check, Verdict.OVER_LIMIT, "your code sent the grader more data than it can hold", detail, cause="raised"
        )
    return Outcome(check, Verdict.BROKEN, BROKEN_MESSAGE, detail)


class Lane:
    """One check process and its workers. Open it once for a course, close it.

    Args:
        exercises: the exercises whose checks it collects.
        source: the source of its workers.
        number: the number of this lane.
        accelerator: the device that checks of devices run on.
        readable: folders that checks may read besides those of the exercises' courses.

    Attributes:
        progress: the progress of the run that it works for: what is waited for, and outcomes as they come.
        cancel: the token that cancels this run.
    """

    def __init__(
        self,
        exercises: Sequence[Exercise],
        source: WorkerSource,
        number: int = 0,
        accelerator: DeviceKind = DeviceKind.SIM,
        readable: Sequence[Path] = (),
    ) -> None:
        self.exercises = exercises
        self._source = source
        self._number = number
        self._accelerator = accelerator
        self._readable = {folder.resolve() for folder in readable}
        self._busy = False
        self._spawned: set[int] = set()
        self._waited_before = 0.0
        self._process: ForkedProcess | subprocess.Popen[bytes] | None = None
        self.progress = Progress()
        self.cancel = Cancel()
        self._open()

    def _open(self) -> None:
        """Start the check process, without waiting for it.

        It imports torch while the worker server does.
        """
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed in _end_process()
        self._root = tempfile.mkdtemp(prefix="grade-")  # for the workers' folders; nothing in it tells what is graded
        self._folders: dict[Path, int | None] = {}
        # In it the check process says whether a reply of a student's worker is pending.
        self._mark = Path(self._root, PENDING)
        self._mark.write_bytes(NOT_PENDING)
        self._has_plain = _needs_plain(self.exercises)
        opened = self._source.open_check_process(self._number, self._log, with_plain=self._has_plain)
        self._process, self._generation = opened.process, opened.generation
        self._command, self._plain_command = opened.command, opened.plain_command
        self._channel = Channel(opened.transport)
        self._send_plan()

    def _send_plan(self) -> None:
        planned = tuple(PlannedExercise.of(exercise) for exercise in self.exercises)
        new = self._readable_folders(self.exercises) - self._folders.keys()
        self._folders |= {folder: _inode(folder) for folder in new}
        commands, folders = (self._command, self._plain_command), tuple(sorted(self._folders))
        self._send(Plan(Path(self._root), commands[0], self._accelerator, planned, folders, commands[1]))
        self._collected: Collected | None = None

    def recollect(self, exercises: Sequence[Exercise]) -> None:
        """Have the check process collect the checks of these exercises again.

        This is for exercises whose files were changed. The process need not start again, unless the exercises need more
        than it may read.
        """
        if self._process is not None and self._collected is None:
            self._receive_checks()
        self.exercises = exercises
        is_strange = not self._readable_folders(exercises) <= self._folders.keys()
        if self._process is not None and (is_strange or self._were_folders_replaced()):
            self.close()  # it has given up the right to read there
        if self._process is not None and _needs_plain(exercises) and not self._has_plain:
            self.close()  # it has no way to such workers
        (self._open if self._process is None else self._send_plan)()

    def _readable_folders(self, exercises: Sequence[Exercise]) -> set[Path]:
        """Return the folders that checks of these exercises may read.

        These are `_readable`, and the folders of the exercises' files that lie outside of it.
        """
        return self._readable | {
            folder for folder in _folders_of_files(exercises) if self._readable.isdisjoint(folder.parents)
        }

    @property
    def is_idle(self) -> bool:
        """Return True if the check process runs and has no job."""
        return not self._busy and self._process is not None and self._process.poll() is None

    def _were_folders_replaced(self) -> bool:
        """Return True if a folder that checks read was deleted and made again.

        `git checkout` does so. The check process may read the folders that were there when it started, and not those
        that replaced them.
        """
        return any(_inode(folder) not in (None, inode) for folder, inode in self._folders.items())

    @property
    def reached(self) -> ReachedLevel:
        """Return the level of confinement that workers reach, once probes have tried it.

        Raises:
            StartError: no worker can be started.
            ConfinementError: workers are confined less well than the set-up requires.
        """
        return self._source.wait_ready()

    @property
    def collected(self) -> Collected:
        """Return the checks of all exercises; start the check process if it is not there.

        Raises:
            StartError: the check process or the worker server did not start.
        """
        if self._process is not None and self._were_folders_replaced():
            self.close()
        if self._process is None:
            self._open()
        if self._collected is None:
            self._collected = self._receive_checks()
        return self._collected

    def _receive_checks(self) -> Collected:
        """Return the checks that the check process has collected.

        If a process of ours was lost, the check process is started once more.
        """
        for kind in (Collected, Outcome, Done):
            adapter(kind)  # what reads them is made while the check process starts
        try:
            collected = self._receive_collected()
        except (ChannelClosed, StartError) as error:
            if isinstance(error, StartError) and not self._source.was_lost(self._generation):
                raise
            # Somebody killed a process of ours while it started, as a machine short of memory does: once more.
            self._end_process()
            self._open()
            try:
                collected = self._receive_collected()
            except ChannelClosed:
                raise self._not_started_error() from None
        if not collected.accelerators:
            raise DeviceError(f"PyTorch finds no {self._accelerator} device on this machine; {_INSTEAD}")
        for finding in collected.findings:
            _warn_once(finding)
        return collected

    def _receive_collected(self) -> Collected:
        """Receive the collected checks, then wait until workers can be started.

        Raises:
            ChannelClosed: the check process is gone.
            StartError: the check process sends nothing in time, or the worker server did not start.
        """
        try:
            collected = self._receive("Starting", time.monotonic() + START_S, self.progress)
        except TimeoutError:
            raise self._not_started_error() from None
        # Not before the checks are there: the workers' server starts at the same time.
        self._source.wait_ready()
        assert isinstance(collected, Collected)
        return collected

    def _not_started_error(self) -> StartError:
        return StartError(f"the check process did not start: {tail(self._log)}")

    def checks_of(self, exercise: Exercise) -> list[Check]:
        """Return the checks of one exercise, in the order in which they run; see `collected`."""
        return [check for check in self.collected.checks if check.exercise == exercise.id]

    def run(
        self,
        exercise: Exercise,
        files: Mapping[str, bytes],
        seed: int,
        folder: str = "",
        selection: CheckSelection = ALL,
        *,
        progress: Progress | None = None,
    ) -> JobResult:
        """Run checks of an exercise on the files of a submission.

        All student code that is graded runs in this call.

        Args:
            exercise: one of the exercises of this lane.
            files: the submission's files by name.
            seed: the seed of the inputs that this author gets; see `Setup.seed_of`.
            folder: the folder of the files, as the student types it; "" if unknown.
            selection: the selection of checks that are run, if not all.
            progress: the progress that this job reports to, if not the lane's own.

        Raises:
            Cancelled: the run was cancelled.
            StartError: no check process or no worker server can be started.
            ConfinementError: a worker server was lost, and its successor is confined less well than required.
        """
        job = Job(exercise.id, files, seed, folder, selection)
        progress = progress or self.progress
        run = self._run(exercise, job, progress)
        # A student does not cause the loss of a worker server: once more, with another. After a second, the outcome
        # stays, and the next exercise gets a server of its own again.
        if self._close_after_lost_server(run):
            again = self._run(exercise, job, progress)
            run = replace(again, starved=run.starved or again.starved)
            self._close_after_lost_server(run)
        return run

    def _close_after_lost_server(self, run: JobResult) -> bool:
        """Close the lane if a check broke and the worker server was lost.

        Returns:
            True if the lane was closed.
        """
        suspect = any(outcome.verdict is Verdict.BROKEN for outcome in run.outcomes)
        if not suspect or not self._source.was_lost(self._generation):
            return False
        self.close()  # in good order: it removes the control groups of workers whose end nobody could tell it
        return True

    def _run(self, exercise: Exercise, job: Job, progress: Progress) -> JobResult:
        checks = [check for check in self.checks_of(exercise) if job.selection.has(check.id)]
        self._busy = True
        self._waited_before = self._waited_s() or 0.0
        self._send(job)
        run = self._receive_outcomes(exercise, checks, job.selection, progress)
        self._busy = False
        return run

    def _receive_outcomes(
        self, exercise: Exercise, checks: Sequence[Check], selection: CheckSelection, progress: Progress
    ) -> JobResult:
        """Receive outcomes until the job has ended in some way.

        It ends when it is done, when its deadline is over, or when the check process is gone. A check without an
        outcome then gets one, unless the selection lets a job stop early.
        """
        outcomes: dict[str, Outcome] = {}
        output, workers, detail = "", 0, "it did not run"
        deadline = time.monotonic() + exercise.limits.exercise_s
        late = pending = waited = False
        every = self.checks_of(exercise)
        while True:
            try:
                waits_for = next((check.title for check in checks if check.id not in outcomes), "Ending")
                message = self._receive(waits_for, deadline, progress)
            except TimeoutError:
                # The first time the workers are ended, so that the check process comes back and tells what it has;
                # where only the lane as a whole can be ended, or it does not come back, nothing more is waited for.
                again, late = late, True
                if again or not self._source.end_workers(self._number):
                    waited = self._waited_long(exercise, 0.0)
                    self._end_process()
                    break
                deadline = time.monotonic() + GRACE_S
                continue
            except ChannelClosed:
                detail = f"the check process ended: {tail(self._log)}"
                with contextlib.suppress(FileNotFoundError):  # it ended in good order, and removed it
                    pending = self._mark.read_bytes() != NOT_PENDING
                self._end_process()
                break
            if isinstance(message, Done):
                output, workers = message.output, message.workers
                if late:
                    waited = self._waited_long(exercise, message.waited_s)
                if selection.stops:
                    checks = [check for check in checks if check.id in outcomes]
                break
            assert isinstance(message, Outcome)
            # Once its workers were ended from outside, what a check says is a consequence of that.
            outcomes[message.check] = message if not late else _too_late_outcome(message.check, exercise)
            progress.ended(exercise, outcomes[message.check], every)
        for check in checks:
            if check.id not in outcomes:
                lost = _lost_process_outcome(check.id, detail, pending=pending)
                outcomes[check.id] = _too_late_outcome(check.id, exercise) if late else lost
        return JobResult([outcomes[check.id] for check in checks], output, workers, waited)

    def _waited_long(self, exercise: Exercise, workers_s: float | None) -> bool:
        """Return whether a job that missed its deadline is retried, since it waited for a core.

        It is retried alone. The result is True if the job waited for more than 2 % of the exercise's time, or if that
        is not known. To retry code that sleeps does not help, and would keep all other lanes waiting.

        Args:
            exercise: the exercise of the job.
            workers_s: the seconds that workers waited for a core, as `Done` has them; None if not known.
        """
        own = self._waited_s()
        waited = None if own is None or workers_s is None else own - self._waited_before + workers_s
        return waited is None or waited > _WAITED * exercise.limits.exercise_s

    def _waited_s(self) -> float | None:
        """Return the seconds for which processes of this lane waited for a core.

        These are the check process and spawned workers. The result is None if it is not known.
        """
        assert self._process is not None
        own = runnable_wait_s(self._process.pid)
        return own if own is None else own + sum(runnable_wait_s(pid) or 0.0 for pid in self._spawned)

    def _send(self, message: Message) -> None:
        with contextlib.suppress(ChannelClosed):  # which is met by the wait for its answer
            self._channel.send(0, *to_frame(message))

    def _receive(self, what: str, deadline: float, progress: Progress) -> Message:
        """Return the next message of the check process about its job.

        Messages that report the pid of a worker are not returned: the pid is recorded.

        Args:
            what: the name of what is waited for, which the progress shows.
            deadline: the deadline, by the monotonic clock.
            progress: the progress that shows how long the wait takes.

        Raises:
            Cancelled: the run was cancelled.
            TimeoutError: the deadline is over.
            ChannelClosed: the check process is gone.
        """
        started, patience = time.monotonic(), patience_until(deadline)

        def watched() -> float:
            self.cancel.raise_if_cancelled()
            progress.running(what, time.monotonic() - started)
            return patience()

        while True:
            frame = self._channel.receive(watched)
            message = from_frame(frame.tree, frame.data)
            if not isinstance(message, Spawned):
                return message
            self._spawned.add(message.pid)

    def _end_process(self) -> None:
        """Kill the check process and its workers, and remove its folder and its control groups."""
        if self._process is None:
            return
        # Killed first, so that it starts no further worker while those that are known are ended.
        self._process.kill()
        for pid in self._spawned:  # a worker that was not forked does not end with its check process
            kill(pid)
        self._spawned.clear()
        end(self._process)
        self._channel.close()
        self._log.close()
        self._process = None
        remove_folder(self._root)
        if groups := cgroup.find():
            groups.remove_orphaned_groups()  # its own, in which it was until now

    def close(self) -> None:
        """End the check process and its workers; an idle check process may first end by itself."""
        # With work in hand it would go on until its deadline; without, it ends by itself when the channel closes.
        if self._process is not None and not self._busy:
            self._channel.transport.close_writing()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
        self._end_process()
