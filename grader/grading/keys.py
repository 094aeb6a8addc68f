"""What an outcome hangs on, as digests: where none of them changed, an exercise need not be graded again."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import grader
from grader.course.layout import BUNDLED
from grader.course.starter import starter_digest
from grader.model import Exercise, Submission
from grader.model.messages import PlannedExercise, Setup
from grader.runner.machine import describe_machine

_DIGITS = 32


@dataclass(frozen=True)
class Key:
    """What the outcome of an exercise of a submission hangs on.

    Attributes:
        files: what was handed in of it.
        judge: its checks, probes, reference and limits.
        seed: of the author's inputs.
        machine: the grader, and what student code runs with.
        mistakes: the known wrong answers, which a sentence hangs on where points were lost.
    """

    files: str
    judge: str
    seed: str
    machine: str
    mistakes: str

    def why_not(self, other: Key) -> str:
        """What differs between an earlier outcome and one with this key, in words."""
        told = {
            "files": "another submission",
            "judge": "checks, reference or limits were changed",
            "seed": "other inputs",
            "machine": "another grader, Python, PyTorch or NumPy",
            "mistakes": "known wrong answers were changed",
        }
        return next((why for part, why in told.items() if getattr(self, part) != getattr(other, part)), "graded again")


class Keys:
    """The keys of a run: what is the same for all submissions is read once.

    Args:
        setup: of the run.
        exercises: that are graded.
    """

    def __init__(self, setup: Setup, exercises: Iterable[Exercise]) -> None:
        self._setup = setup
        self._machine = machine_of(setup)
        self._judges = {exercise.id: judge_of(exercise) for exercise in exercises}
        self._mistakes = {exercise.id: digest_of(*map(_read, exercise.wrong)) for exercise in exercises}

    def of(self, submission: Submission, exercise: Exercise) -> Key:
        """The key of an exercise of a submission."""
        files = submission.files.get(exercise.id)
        if files is None:
            handed_in = digest_of(b"none", submission.problems.get(exercise.id, "").encode("utf-8", "surrogateescape"))
        else:
            named = ((name.encode("utf-8", "surrogateescape"), data) for name, data in sorted(files.items()))
            handed_in = digest_of(*(part for pair in named for part in pair))
        seed = digest_of(str(self._setup.seed_of(submission.author)).encode())
        return Key(handed_in, self._judges[exercise.id], seed, self._machine, self._mistakes[exercise.id])

    def judge(self, exercise: Exercise) -> str:
        """The part of it that is the course's."""
        return self._judges[exercise.id]


def machine_of(setup: Setup) -> str:
    """A digest of the grader, and of what student code runs with."""
    machine = describe_machine(setup, None)
    parts = (machine.grader, machine.torch, machine.numpy, machine.python, machine.device, machine.os.split()[-1])
    return digest_of(*(part.encode() for part in parts))


def judge_of(exercise: Exercise) -> str:
    """A digest of what judges an exercise, as its files are now: checks, probes, reference, data and limits."""
    planned = PlannedExercise.of(exercise)
    told = repr((exercise.id, asdict(planned.limits), dict(planned.contract), exercise.withheld.shares))
    starter = exercise.starter_digest or starter_digest(_read(exercise.starter))
    return digest_of(told.encode(), starter.encode(), *map(_read, planned.files))


def _read(path: Path | None) -> bytes:
    return path.read_bytes() if path is not None and path.is_file() else b""


def digest_of(*parts: bytes) -> str:
    """A digest of several parts: it tells where each ends."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(f"{len(part)}:".encode())
        whole.update(part)
    return whole.hexdigest()[:_DIGITS]


@functools.cache
def package_digest() -> str:
    """A digest of the grader's own files, without a course that came along: who works on it changes no version."""
    root, whole = Path(grader.__file__).resolve().parent, hashlib.sha256()
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_file() and path.suffix != ".pyc" and name.parts[0] != BUNDLED:
            whole.update(digest_of(name.as_posix().encode(), path.read_bytes()).encode())
    return whole.hexdigest()[:_DIGITS]
