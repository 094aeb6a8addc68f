"""What a verdict depends on, as digests: where none of them changed, an exercise need not be graded again."""

from __future__ import annotations

import functools
import hashlib
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.course.layout import BUNDLED
from grader.course.starter import starter_digest
from grader.grading.plan import Work
from grader.model import Exercise
from grader.model.messages import PlannedExercise, Setup
from grader.runner.machine import describe_machine

_DIGITS = 32
_REASONS = {
    "files": "another submission",
    "judge": "checks, reference or limits were changed",
    "seed": "other inputs",
    "machine": "another grader, Python, PyTorch or NumPy",
    "mistakes": "known wrong answers were changed",
}


@dataclass(frozen=True)
class Key:
    """What the result of one exercise of a submission depends on.

    Attributes:
        files: what was handed in of it.
        judge: its checks, probes, reference and limits.
        seed: of the author's inputs.
        machine: the grader, what student code runs with, and how messages name files.
        mistakes: the known wrong answers: the diagnosis of lost points depends on them.
    """

    files: str
    judge: str
    seed: str
    machine: str
    mistakes: str

    def why_not(self, other: Key) -> str:
        """What differs between an earlier result and one with this key, in words."""
        changed = (why for part, why in _REASONS.items() if getattr(self, part) != getattr(other, part))
        return next(changed, "graded again")


class Keys:
    """The keys of a run. Files of the course are read once; make a new one when they may have changed."""

    def __init__(self) -> None:
        self._judges: dict[str, tuple[str, str]] = {}

    def of(self, work: Work) -> Key:
        """The key of a work."""
        plan, exercise, submission = work.plan, work.exercise, work.submission
        files = submission.files.get(exercise.id)
        if files is None:
            handed_in = digest_of(b"none", submission.problems.get(exercise.id, "").encode("utf-8", "surrogateescape"))
        else:
            named = ((name.encode("utf-8", "surrogateescape"), data) for name, data in sorted(files.items()))
            handed_in = digest_of(*(part for pair in named for part in pair))
        seed = digest_of(str(plan.setup.seed_of(submission.author)).encode())
        # Whoever reads messages beside the files reads paths from the working folder, and how a run is confined.
        beside = (str(Path.cwd()), plan.setup.least, plan.setup.most, plan.compiles) if plan.has_folder else ()
        machine = digest_of(machine_of(plan.setup).encode(), repr((*beside, plan.runs_untouched)).encode())
        judge, mistakes = self._of_course(exercise)
        # An author's answers get no diagnosis, so that one may be edited without the others being run again.
        return Key(handed_in, judge, seed, machine, mistakes if plan.with_tries else "")

    def judge(self, exercise: Exercise) -> str:
        """The part that is the course's."""
        return self._of_course(exercise)[0]

    def _of_course(self, exercise: Exercise) -> tuple[str, str]:
        if exercise.id not in self._judges:
            self._judges[exercise.id] = judge_of(exercise), digest_of(*map(_read, exercise.wrong))
        return self._judges[exercise.id]


def machine_of(setup: Setup) -> str:
    """A digest of the grader, and of what student code runs with."""
    machine = describe_machine(setup, None)
    parts = (machine.grader, machine.torch, machine.numpy, machine.python, machine.device, machine.os.split()[-1])
    return digest_of(package_digest().encode(), setup.start.value.encode(), *(part.encode() for part in parts))


@functools.cache
def package_digest() -> str:
    """A digest of the files of this package, without a course that came along: a checkout changes no version."""
    root = Path(__file__).resolve().parent.parent
    whole = hashlib.sha256()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__" and Path(folder, name) != root / BUNDLED)
        for name in sorted(names):
            path = Path(folder, name)
            whole.update(digest_of(path.relative_to(root).as_posix().encode(), path.read_bytes()).encode())
    return whole.hexdigest()[:_DIGITS]


def judge_of(exercise: Exercise) -> str:
    """A digest of what judges an exercise, as its files are now: checks, probes, reference, data and limits."""
    planned = PlannedExercise.of(exercise)
    facts = repr((exercise.id, asdict(planned.limits), dict(planned.contract), exercise.withheld.shares))
    starter = exercise.starter_digest or starter_digest(_read(exercise.starter))
    return digest_of(facts.encode(), starter.encode(), *map(_read, planned.files))


def _read(path: Path | None) -> bytes:
    return path.read_bytes() if path is not None and path.is_file() else b""


def digest_of(*parts: bytes) -> str:
    """A digest of several parts, which also depends on where each ends."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(f"{len(part)}:".encode())
        whole.update(part)
    return whole.hexdigest()[:_DIGITS]
