"""The connections to the student and to the references, by the accelerator that their workers see; their output."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from grader.connection.connection import Connection
from grader.connection.student import Student
from grader.model import DeviceKind, Limits
from grader.model.endings import WorkerLost
from grader.model.messages import Job, PlannedExercise
from grader.model.report import MORE_LINES
from grader.worker_process.starter import Starter
from grader.worker_process.waiting import Waiting


class Connections:
    """The connections to the student of one job, and to references, which last for many jobs. Close it.

    Args:
        starter: the object that starts workers.
    """

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self._students: dict[DeviceKind, Connection] = {}
        self._references: dict[tuple[str, DeviceKind], Connection] = {}
        self._in_use: tuple[str, DeviceKind] | None = None
        self._most: int | None = None
        self._data: dict[str, Mapping[str, bytes]] = {}
        self._graded: dict[str, frozenset[str]] = {}
        self._output: list[tuple[str, int]] | None = None
        starter.make_room = self._close_oldest_reference

    def self_test(self, *, without_torch: bool) -> None:
        """Fail unless a worker can load a module and return the arguments of a call.

        A machine on which workers cannot do that would make each submission look crashed. Each kind of worker is tested
        once.

        Args:
            without_torch: True if a worker with the standard library alone is tested.

        Raises:
            RuntimeError: no worker can be used, or the worker returns something else than the arguments.
        """
        if without_torch in self._starter.tested:  # the checks are only read again
            return
        files = {"self_test.py": b"def same(*values):\n    return values\n"}
        limits = Limits(load_s=60, call_s=60)
        without = ("torch",) if without_torch else ()
        connection = Connection(self._starter, "self_test", files, limits, "the self-test's", without=without)
        # Unusual on purpose: a transposed tensor, an array with a negative stride, containers. The very same objects
        # are to come back.
        values: tuple[Any, ...] = ([1, {"a": "b"}], {2.5})
        if not without_torch:
            values = (torch.arange(6.0).view(2, 3).t(), np.arange(3)[::-1], *values)
        try:
            back = Student(connection).same(*values)
            if not all(given is got for given, got in zip(values, back, strict=True)):
                raise RuntimeError("a worker does not return what it gets")
        except WorkerLost as lost:
            raise RuntimeError(f"a worker cannot be used: {lost.message}") from lost
        finally:
            connection.close()
        self._starter.tested.add(without_torch)

    def connection_to_student(self, planned: PlannedExercise, job: Job, device: DeviceKind) -> Connection:
        """Return the connection to the student's code for a device.

        The first call of this method in a job makes the connection. The worker, which sees that device, starts with the
        first request.

        Args:
            planned: the exercise.
            job: the job, which has the student's files.
            device: the device that the check asks for.
        """
        # A process sees one accelerator for good, so a student has one worker for each that the checks need.
        if device not in self._students:
            given = self._starter, planned.id, job.files, planned.limits
            data = self._data_of(planned)
            made = Connection(*given, device=device, data=data, folder=job.folder, without=planned.without)
            self._students[device] = made
            self._students[device].names_in_checks = self._names_in_checks(planned)
        return self._students[device]

    def open_reference(self, planned: PlannedExercise, device: DeviceKind, owner: str = "your") -> Connection:
        """Open a connection to the reference, in a worker of its own. The caller closes it.

        Args:
            planned: the exercise, which has a reference.
            device: the device that the check asks for.
            owner: the owner of the code in messages; by default "your", as it stands in for the student's code.
        """
        assert planned.reference is not None
        files = {f"{planned.id}.py": planned.reference.read_bytes()}
        files |= {name: path.read_bytes() for name, path in planned.shared.items()}
        given = self._starter, planned.id, files, planned.limits, owner
        data = self._data_of(planned)
        return Connection(*given, secret=True, device=device, data=data, without=planned.without)

    def _names_in_checks(self, planned: PlannedExercise) -> frozenset[str]:
        """Return all names in an exercise's checks and probes.

        For `student.total(x)` these are "student", "total" and "x". All student functions that checks call are among
        them; the code of other functions runs only if these use it.
        """
        if planned.id not in self._graded:
            paths = (planned.shown_checks, planned.hidden_checks, *planned.probes)
            trees = [ast.parse(path.read_bytes()) for path in paths if path is not None]
            self._graded[planned.id] = frozenset(name for tree in trees for name in _names_in(tree))
        return self._graded[planned.id]

    def _data_of(self, planned: PlannedExercise) -> Mapping[str, bytes]:
        """Return the data files of an exercise, which are read once."""
        if planned.id not in self._data:
            self._data[planned.id] = {name: path.read_bytes() for name, path in planned.data.items()}
        return self._data[planned.id]

    def add_reference(self, planned: PlannedExercise, student: Connection) -> None:
        """Set `student.reference` to a connection to the reference, if there is a reference.

        A new worker replaces one that was lost, or that is near its limit of CPU time.
        """
        if planned.reference is None:
            return
        key = self._in_use = planned.id, student.device
        reference = self._references.get(key)
        # A worker may use so much CPU time in its life; one that is half through it is replaced between two checks.
        if reference is None or reference.record.lost is not None or reference.is_near_cpu_limit():
            if reference is not None:
                self._references.pop(key).close()
            if self._most is not None and len(self._references) >= self._most:
                self._close_oldest_reference()
            reference = self._references[key] = self.open_reference(planned, student.device, "the reference's")
        # The reference outlives the student: each time it learns whose arguments it gets in their original state.
        reference.student, student.reference = student, reference

    def _close_oldest_reference(self) -> bool:
        """Close the oldest idle connection to a reference, so that a new worker has room.

        Return False if no connection is idle; else True. From now on, keep no more connections than are left.
        """
        oldest = next((key for key in self._references if key != self._in_use), None)
        if oldest is None:
            return False
        self._references.pop(oldest).close()
        self._most = max(1, len(self._references))
        return True

    @property
    def started_count(self) -> int:
        """How many workers were started so far, for students and references."""
        return self._starter.started

    @property
    def waiting(self) -> Waiting:
        """The object that counts how long this process waits for workers."""
        return self._starter.waiting

    def read_output_until_now(self) -> None:
        """Store what the student's workers have printed until now.

        `end_job` returns it. A second call in a job does nothing. Later output is never read, as it could contain
        hidden inputs. The output of a worker that is lost by then is kept, too: its connection has read it.
        """
        if self._output is None:
            self._output = [each for connection in self._students.values() for each in connection.outputs().values()]

    def end_job(self, limit: int) -> str:
        """End the student's workers after a job, and return what they printed, cut at the limit."""
        self.read_output_until_now()
        outputs, self._output = self._output or [], None
        text, more = "".join(text for text, _ in outputs), sum(lines for _, lines in outputs)
        if len(text) > limit:
            more += text[limit:].removesuffix("\n").count("\n") + 1
            text = text[:limit]
        for connection in self._students.values():
            connection.close()
        self._students.clear()
        return f"{text.rstrip()}\n{MORE_LINES.format(more)}\n" if more else text

    def close(self) -> None:
        """End the workers of the references; those of a student end with the job, in `end_job`."""
        for connection in self._references.values():
            connection.close()


def _names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)):
                yield name
