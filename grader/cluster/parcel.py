"""What another machine needs of a course to grade by it: the exercises, their files, the set-up, as bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.layout import closed_folders, staff_root
from grader.grading.grade import Sheet
from grader.model import Course, Exercise
from grader.model.messages import Setup
from grader.sandbox.records import from_bytes, to_bytes

_DIGITS = 16


@dataclass(frozen=True)
class Parcel:
    """A sheet on its way; paths in it are those in the folder that it is unpacked into.

    Attributes:
        title: of the course.
        handin: as the sheet has it; "" for none.
        exercises: that are graded.
        setup: how the run is set up; its secret is in it.
        files: of these exercises, hidden checks and references among them, by path.
    """

    title: str
    handin: str
    exercises: tuple[Exercise, ...]
    setup: Setup
    files: dict[str, bytes]

    @classmethod
    def of(cls, sheet: Sheet) -> Parcel:
        """The parcel of a sheet: all files that a verdict and a diagnosis hang on."""
        roots = (sheet.course.root, staff_root(sheet.course.root))

        def place(path: Path) -> Path:
            # What is staff's may lie elsewhere, in the package; the two mirror each other, so that nothing collides.
            return next(path.relative_to(root) for root in roots if path.is_relative_to(root))

        files = {
            place(path).as_posix(): path.read_bytes()
            for exercise in sheet.exercises
            for path in _files(exercise)
            if path.is_file()
        }
        exercises = tuple(_moved(exercise, place) for exercise in sheet.exercises)
        return cls(sheet.course.title, sheet.handin or "", exercises, sheet.setup, files)

    def to_bytes(self) -> bytes:
        """As it travels."""
        return to_bytes(self)

    @classmethod
    def from_bytes(cls, sent: bytes) -> Parcel:
        """The parcel that was sent."""
        return from_bytes(cls, sent)

    def unpack(self, folder: Path) -> Sheet:
        """Write its files into a folder, and give the sheet that they are of.

        Raises:
            OSError: they cannot be written.
        """
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        closed = (folder, *closed_folders(folder))
        exercises = [replace(_moved(item, folder.joinpath), closed=closed) for item in self.exercises]
        return Sheet(Course(self.title, folder, (), ()), exercises, self.setup, handin=self.handin or None)


def digest_of(sent: bytes) -> str:
    """The digest of a parcel, by which it is named."""
    return hashlib.sha256(sent).hexdigest()[:_DIGITS]


def _files(exercise: Exercise) -> Iterator[Path]:
    own = (exercise.shown_checks, exercise.hidden_checks, exercise.reference)
    yield exercise.starter
    yield from (path for path in own if path is not None)
    yield from (*exercise.probes, *exercise.wrong, *exercise.data.values(), *exercise.shared.values())


def _moved(exercise: Exercise, place: Callable[[Path], Path]) -> Exercise:
    """The exercise with its files elsewhere; without right answers, which `grade verify` alone needs."""

    def one(path: Path | None) -> Path | None:
        return None if path is None else place(path)

    def each(paths: Sequence[Path]) -> tuple[Path, ...]:
        return tuple(map(place, paths))

    return replace(
        exercise,
        folder=place(exercise.folder),
        closed=(),
        starter=place(exercise.starter),
        shown_checks=one(exercise.shown_checks),
        hidden_checks=one(exercise.hidden_checks),
        probes=each(exercise.probes),
        reference=one(exercise.reference),
        wrong=each(exercise.wrong),
        right=(),
        data={name: place(path) for name, path in exercise.data.items()},
        shared={name: place(path) for name, path in exercise.shared.items()},
    )
