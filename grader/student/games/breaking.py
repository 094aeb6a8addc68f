"""`grade break`: a student's own solution with one fault planted, for them to find. Their file is kept beside it.

A fault counts only if checks see it: each is graded like any submission before it is planted.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.course.layout import Places, kept_folder
from grader.grading.lanes import Engine
from grader.grading.plan import RunPlan
from grader.grading.submission import grade_submission
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, GradedExercise, Report, Submission, Verdict
from grader.model.errors import CourseError
from grader.model.files import write_whole
from grader.model.messages import Setup
from grader.student.games.faults import Fault, faults_of
from grader.student.given import free_name
from grader.student.progress import ready_folder

_MOST_TRIED = 24
_NO_TENSOR_FAULT = ("load", "name", "signature")


@dataclass(frozen=True)
class Planted:
    """A fault that is in a student's file.

    Attributes:
        old: the name of the file beside it that has the student's own text.
        told: what was done.
        was: the line, as the student wrote it.
        now: the line with the fault.
        line: its number.
        digest: of the whole file with the fault.
    """

    old: str
    told: str
    was: str
    now: str
    line: int
    digest: str


def planted_in(course: Course, exercise: Exercise) -> Planted | None:
    """The fault that is in an exercise's file, or None."""
    try:
        data = json.loads(_note(course, exercise).read_text(encoding="utf-8"))
        found = Planted(**{name: kind(data[name]) for name, kind in _FIELDS.items()})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    # Whoever has put the file back already has nothing planted.
    return found if (exercise.starter.parent / Path(found.old).name).is_file() else None


_FIELDS: dict[str, Callable[[Any], Any]] = {"old": str, "told": str, "was": str, "now": str, "line": int, "digest": str}


def graded(course: Course, exercise: Exercise, setup: Setup, lanes: Engine) -> Report:
    """The student's file as it is now."""
    handed_in = _read(course, exercise)
    return grade_submission(RunPlan(course, [exercise], setup, runs_untouched=True), handed_in, lanes)


def choose(course: Course, exercise: Exercise, setup: Setup, lanes: Engine, chance: random.Random) -> Fault:
    """A fault of the student's text that checks see, and that is no error of names; rather one that raises nothing.

    Raises:
        CourseError: there is none.
    """
    handed_in = _read(course, exercise)
    try:
        found = faults_of(handed_in.files[exercise.id][exercise.file_name].decode("utf-8"))
    except (ValueError, SyntaxError):  # it passes, so that Python can read it: by a cookie or a mark at its beginning
        raise CourseError(f"{exercise.file_name} is not in plain UTF-8; save it so, without a mark") from None
    faults = _shuffled(found, chance)
    raises: Fault | None = None
    for fault in faults[:_MOST_TRIED]:
        files = {**handed_in.files[exercise.id], exercise.file_name: fault.source.encode()}
        broken = replace(handed_in, files={exercise.id: files})
        plan = RunPlan(course, [exercise], setup, runs_untouched=True, stops=True)
        seen = _seen(grade_submission(plan, broken, lanes).exercises[0])
        if seen is Verdict.FAILED:
            return fault
        if seen is Verdict.CRASHED:
            raises = raises or fault
    if raises is None:
        raise CourseError(f"no fault was found that fits your {exercise.file_name} and that its checks see")
    return raises


def _shuffled(faults: list[Fault], chance: random.Random) -> list[Fault]:
    """In an order of chance in which kinds take turns, so that what is frequent is not likelier."""
    kinds: dict[str, list[Fault]] = {}
    for fault in faults:
        kinds.setdefault(fault.told, []).append(fault)
    groups = list(kinds.values())
    chance.shuffle(groups)
    for group in groups:
        chance.shuffle(group)
    longest = max(map(len, groups), default=0)
    return [group[turn] for turn in range(longest) for group in groups if turn < len(group)]


def _seen(found: GradedExercise) -> Verdict | None:
    """How the first check ended that lost points; None where nothing was lost, or by no fault of tensors."""
    for row in found.checks:
        lost = row.outcome.verdict.decided and row.outcome.verdict is not Verdict.PASSED
        if lost:
            names = row.outcome.cause in _NO_TENSOR_FAULT or "NameError" in row.outcome.message
            return None if names else row.outcome.verdict
    return None


def plant(course: Course, exercise: Exercise, fault: Fault) -> Planted:
    """Keep the student's file beside its place, and put the one with the fault there.

    Raises:
        CourseError: nothing can be written.
    """
    path = exercise.starter
    try:
        text = path.read_bytes()
        was, now = (source.split("\n")[fault.line - 1].strip() for source in (text.decode("utf-8"), fault.source))
        old = free_name(path)
        planted = Planted(old.name, fault.told, was, now, fault.line, _digest(fault.source.encode("utf-8")))
        ready_folder(course.root)
        _note(course, exercise).parent.mkdir(exist_ok=True)
        # In this order: wherever it is interrupted, the student's own text is in a file, and known to be.
        write_whole(old, text)
        write_whole(_note(course, exercise), json.dumps(vars(planted), indent=1) + "\n")
        write_whole(path, fault.source.encode("utf-8"))
    except OSError as error:
        raise CourseError(f"{Places.of(exercise).starter.as_posix()} cannot be written: {error.strerror}") from None
    return planted


def restore(course: Course, exercise: Exercise, planted: Planted) -> Path | None:
    """Put the student's own file back; give where the other one is now, if it says anything else.

    Raises:
        CourseError: nothing can be written.
    """
    path, old = exercise.starter, exercise.starter.parent / Path(planted.old).name
    kept = None
    try:
        if path.is_file() and path.read_bytes() != old.read_bytes() and _digest(path.read_bytes()) != planted.digest:
            kept = free_name(path)
            os.replace(path, kept)
        os.replace(old, path)
        _note(course, exercise).unlink(missing_ok=True)
    except OSError as error:
        raise CourseError(f"{Places.of(exercise).starter.as_posix()} cannot be written: {error.strerror}") from None
    return kept


def _read(course: Course, exercise: Exercise) -> Submission:
    handed_in = read_submission(course.root, [exercise], author=course.root.resolve().name)
    if problem := handed_in.problems.get(exercise.id):
        raise CourseError(problem)
    return handed_in


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _note(course: Course, exercise: Exercise) -> Path:
    return kept_folder(course.root) / "broken" / f"{exercise.id}.json"
