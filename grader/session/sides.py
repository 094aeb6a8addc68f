"""The student's side and the reference's, by the accelerator that their workers see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.jobs import Job, PlannedExercise
from grader.model import Device
from grader.remote.side import Side
from grader.remote.sitting import Sitting
from grader.remote.worker import Starter


class Sides:
    """The sides of the job that is graded just now, and the references', which last for many jobs. Close it.

    Args:
        starter: starts workers.
    """

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self._students: dict[Device, Side] = {}
        self._references: dict[tuple[str, Device], Side] = {}
        self._in_use: tuple[str, Device] | None = None
        self._most: int | None = None
        self._data: dict[str, Mapping[str, bytes]] = {}
        starter.make_room = self._make_room

    def meet(self, planned: PlannedExercise, job: Job, device: Device) -> tuple[Side, Side | None]:
        """The student's side and the reference's whose workers see this device; no reference if there is none here."""
        # A process sees one accelerator for good, so a student has one worker for each that the checks ask for.
        if device not in self._students:
            self._students[device] = self._side_of_student(planned, job, device)
        student = self._students[device]
        return student, self.reference(planned, student)

    def _side_of_student(self, planned: PlannedExercise, job: Job, device: Device) -> Side:
        data = self._data_of(planned)
        side = Side(Sitting(self._starter, planned.id, job.files, planned.limits, device=device, data=data))
        side.provisional = not job.part.again
        side.sitting.folder = job.keep.run_in if job.keep else ""
        return side

    def stand_in(self, planned: PlannedExercise, device: Device) -> Side:
        """The reference in a student's place, in a worker of its own. Close its sitting."""
        return self._of_reference(planned, device, "your")

    def _of_reference(self, planned: PlannedExercise, device: Device, owner: str) -> Side:
        assert planned.reference is not None
        files = {f"{planned.id}.py": planned.reference.read_bytes()}
        files |= {name: path.read_bytes() for name, path in planned.shared.items()}
        given = self._starter, planned.id, files, planned.limits, owner
        return Side(Sitting(*given, secret=True, device=device, data=self._data_of(planned)))

    def _data_of(self, planned: PlannedExercise) -> Mapping[str, bytes]:
        """The files of data of an exercise, which are read once."""
        if planned.id not in self._data:
            self._data[planned.id] = {name: path.read_bytes() for name, path in planned.data.items()}
        return self._data[planned.id]

    def reference(self, planned: PlannedExercise, student: Side) -> Side | None:
        """The reference's side beside a student's, with a new worker where the last was lost; None without one here."""
        if planned.reference is None:
            return None
        key = self._in_use = planned.id, student.device
        side = self._references.get(key)
        # A worker may use so much CPU time in its life; one that is half through it is replaced between two checks.
        if side is None or side.sitting.lost is not None or side.sitting.is_worn():
            if side is not None:
                self._references.pop(key).sitting.close()
            if self._most is not None and len(self._references) >= self._most:
                self._make_room()
            side = self._references[key] = self._of_reference(planned, student.device, "the reference's")
        # The reference outlives the student; it is told anew whose arguments it is to get in their original state.
        side.originals, student.reference = student, side
        return side

    def _make_room(self) -> bool:
        """End the reference that was met first, and keep fewer from now on; False if all are needed."""
        kept = next((key for key in self._references if key != self._in_use), None)
        if kept is None:
            return False
        self._references.pop(kept).sitting.close()
        self._most = max(1, len(self._references))
        return True

    def sittings(self) -> Sequence[Sitting]:
        """Those of the student, in the order in which they began."""
        return [side.sitting for side in self._students.values()]

    def part(self) -> None:
        """The job is over: end the student's workers."""
        for sitting in self.sittings():
            sitting.close()
        self._students.clear()

    def close(self) -> None:
        """End the references' workers."""
        for side in self._references.values():
            side.sitting.close()
