"""The host's side of the processes: lanes, each a check process with its workers.

The host owns the deadline of an exercise: it ends the lane's workers, gives the check process a moment to tell what it
has, and then ends the lane. A lane that ended is opened again for the next exercise.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from grader.confinement import Reached
from grader.errors import StartError
from grader.model import BROKEN_MESSAGE, Check, Exercise, Outcome, Verdict
from grader.processes import clean_environment, isolated
from grader.source import START_S, FreshInterpreters, Source, WorkerServer, end, tail
from grader.sweep import sweep
from grader.wire.frames import Channel, ChannelClosed
from grader.wire.transport import PatientPipes

_INSTEAD = "leave out --device, and checks of devices run on a simulated accelerator"
_GRACE_S = 5.0
_POLL_S = 0.5


@dataclass(frozen=True)
class Catalog:
    """The checks that a lane collected.

    Attributes:
        checks: by exercise, in the order in which they run.
        problems: by exercise, why its checks cannot be collected.
    """

    checks: Mapping[str, Sequence[Check]]
    problems: Mapping[str, str]


@dataclass(frozen=True)
class Run:
    """What came of one job: an outcome for each check, and what the student printed."""

    outcomes: Sequence[Outcome]
    output: str


class _Late(Exception):
    pass


class Lane:
    """One check process and its workers. Open it once for a course, close it.

    Args:
        exercises: whose checks it collects.
        source: where its workers come from.
        number: of this lane.
        device: what checks of devices run on: "sim" or "cuda".
    """

    def __init__(self, exercises: Sequence[Exercise], source: Source, number: int = 0, device: str = "sim") -> None:
        self._exercises = {exercise.id: exercise for exercise in exercises}
        self._source = source
        self._server = source if isinstance(source, WorkerServer) else None
        self._number = number
        self._device = device
        self._jobs = 0
        self._busy = False
        self._catalog: Catalog | None = None
        self._spawned: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._open()

    def _open(self) -> None:
        """Start the check process. It imports torch while the worker server does, so nothing is waited for here."""
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed in _end_process()
        self._root = tempfile.mkdtemp(prefix="grade-")  # for the workers' folders; nothing in it tells what is graded
        sockets = [self._server.open_lane(self._number)] if self._server else []
        fds = [sock.fileno() for sock in sockets]
        self._process = subprocess.Popen(
            isolated("grader.check", *map(str, fds)),
            pass_fds=fds,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=clean_environment(),
            start_new_session=True,
        )
        for sock in sockets:
            sock.close()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        self._channel = Channel(PatientPipes(os.dup(stdout.fileno()), os.dup(stdin.fileno())))
        stdin.close()
        stdout.close()
        spawn = self._source.command if isinstance(self._source, FreshInterpreters) else None
        plan = {
            "root": self._root,
            "spawn": spawn,
            "device": self._device,
            "exercises": [_plan(exercise) for exercise in self._exercises.values()],
        }
        self._channel.send(0, plan)
        self._waits_for_catalog = True

    @property
    def catalog(self) -> Catalog:
        """The checks of all exercises.

        Raises:
            StartError: the check process or the worker server did not start.
        """
        self._await_catalog()
        assert self._catalog is not None
        return self._catalog

    @property
    def reached(self) -> Reached:
        """How well workers are confined.

        Raises:
            StartError: no worker can be started.
            ConfinementError: they are confined less well than is asked for.
        """
        return self._source.wait_ready()

    def _await_catalog(self) -> None:
        if self._process is None:
            self._open()
        if not self._waits_for_catalog:
            return
        try:
            tree = self._receive(_until(time.monotonic() + START_S))
        except (ChannelClosed, _Late):
            raise StartError(f"the check process did not start: {tail(self._log)}") from None
        self._source.wait_ready()
        if not tree["devices"]:
            raise StartError(f"PyTorch finds no device of the type {self._device} on this machine; {_INSTEAD}")
        checks: dict[str, list[Check]] = {id: [] for id in self._exercises}
        for plain in tree["checks"]:
            checks[plain["exercise"]].append(Check(**plain))
        self._catalog = Catalog(checks, tree["problems"])
        self._waits_for_catalog = False

    def run(
        self,
        exercise: Exercise,
        files: Mapping[str, bytes],
        seed: int,
        keep: tuple[Path, str, str] | None = None,
        only: Collection[str] | None = None,
    ) -> Run:
        """Run all checks of an exercise on a submission's files: the only call behind which student code runs.

        Args:
            exercise: one of this lane's.
            files: the submission's files by name.
            seed: the run's seed.
            keep: where large inputs of failing shown checks go, how a student types that path, and in which folder.
            only: ids of the checks to run, if not all: those that were inconclusive are repeated.

        Raises:
            StartError: no check process can be had.
        """
        checks = [check for check in self.catalog.checks[exercise.id] if only is None or check.id in only]
        self._jobs += 1
        rows, start = [], 0
        for name, content in files.items():
            rows.append([name, start, len(content)])
            start += len(content)
        job = {
            "exercise": exercise.id,
            "files": rows,
            "seed": seed,
            "keep": [str(keep[0]), *keep[1:]] if keep else None,
            "only": None if only is None else sorted(only),
        }
        self._busy = True
        self._channel.send(self._jobs, job, list(files.values()))
        run = self._collect(exercise, checks)
        self._busy = False
        return run

    def _collect(self, exercise: Exercise, checks: Sequence[Check]) -> Run:
        outcomes: dict[str, Outcome] = {}
        output, detail = "", "it did not run"
        deadline = time.monotonic() + exercise.limits.exercise_s
        late = False
        while True:
            try:
                tree = self._receive(_until(deadline))
            except _Late:
                if late or self._server is None:
                    late = True
                    self._end_process()
                    break
                late = True
                self._server.kill_workers(self._number)
                deadline = time.monotonic() + _GRACE_S
                continue
            except ChannelClosed:
                detail = f"the check process ended: {tail(self._log)}"
                self._end_process()
                break
            if "done" in tree:
                output = tree["output"]
                break
            outcome = Outcome.from_plain(tree["outcome"])
            outcomes[outcome.check] = outcome if not late else _too_late(outcome.check, exercise)
        missing = {check.id: _too_late(check.id, exercise) if late else _gone(check, detail) for check in checks}
        return Run([outcomes.get(check.id) or missing[check.id] for check in checks], output)

    def _receive(self, patience: Callable[[], float]) -> dict[str, Any]:
        """The next message about outcomes; notes of spawned workers are taken down on the way."""
        while True:
            tree = self._channel.receive(patience).tree
            if "spawned" not in tree:
                return tree
            self._spawned.add(tree["spawned"])

    def _end_process(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        for pid in self._spawned:  # a worker that was not forked does not end with its check process
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        self._spawned.clear()
        end(self._process)
        self._channel.close()
        self._log.close()
        self._process = None
        sweep(self._root)

    def close(self) -> None:
        """End the check process in good order if it has no work, then whatever is left."""
        if self._process is not None and not self._busy:
            self._channel.close_writing()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_S)
        self._end_process()


def _plan(exercise: Exercise) -> dict[str, Any]:
    def text(path: Path | None) -> str | None:
        return str(path) if path else None

    return {
        "id": exercise.id,
        "shown_checks": text(exercise.shown_checks),
        "hidden_checks": text(exercise.hidden_checks),
        "probes": [str(path) for path in exercise.probes],
        "reference": text(exercise.reference),
        "contract": dict(exercise.contract),
        "limits": asdict(exercise.limits),
    }


def _until(deadline: float) -> Callable[[], float]:
    def patience() -> float:
        left = deadline - time.monotonic()
        if left <= 0:
            raise _Late
        return min(left, _POLL_S)

    return patience


def _too_late(check: str, exercise: Exercise) -> Outcome:
    seconds = exercise.limits.exercise_s
    return Outcome(check, Verdict.TIMED_OUT, f"the exercise as a whole took longer than {seconds:g} seconds")


def _gone(check: Check, detail: str) -> Outcome:
    return Outcome(check.id, Verdict.BROKEN, BROKEN_MESSAGE, detail)
