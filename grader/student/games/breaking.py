"""`grade break`: a student's own solution with one fault planted, for them to find. Their file is kept beside it.

A fault counts only if checks see it: each is graded like any submission before it is planted.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.layout import Places, kept_folder
from grader.grading.lanes import Engine, open_lanes
from grader.grading.plan import RunPlan
from grader.grading.submission import grade_submission
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, GradedExercise, Report, Submission, Verdict
from grader.model.errors import CourseError, FormatError
from grader.model.files import write_whole
from grader.model.messages import Setup
from grader.model.typed import from_json, to_json
from grader.student.games.faults import Fault, faults_of
from grader.student.given import free_name
from grader.student.pages import typed
from grader.student.progress import read_progress, ready_folder, write_progress

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
        found = from_json(Planted, _note(course, exercise).read_bytes())
    except (OSError, FormatError):
        return None
    # Whoever has put the file back already has nothing planted.
    return found if (exercise.starter.parent / Path(found.old).name).is_file() else None


def play(
    course: Course,
    exercise: Exercise,
    setup: Setup,
    seed: int | None,
    running: Callable[[str, float], None],
    *,
    give_up: bool = False,
) -> Iterator[str]:
    """Plant a fault, or look whether the one that is planted was found; what happened, in sentences.

    Args:
        course: the student's folder.
        exercise: the exercise.
        setup: how workers are started.
        seed: which fault is planted.
        running: receives what is running, and for how many seconds.
        give_up: whether the fault is named, and the student's own file brought back.

    Raises:
        CourseError: nothing is planted, or nothing can be.
        GraderError: a process of ours cannot be had.
    """
    planted = planted_in(course, exercise)
    if planted is None and give_up:
        raise CourseError(f"nothing is planted in {exercise.id};  grade break {exercise.id}  does")
    with open_lanes([exercise], setup, hidden=(course.root,), watch=running) as lanes:
        if planted is not None:
            yield from _look_for(course, exercise, setup, lanes, planted, give_up=give_up)
            return
        yield "Looking for a fault that the checks see ..."
        if graded(course, exercise, setup, lanes).exercises[0].state != "done":
            raise CourseError(f"{exercise.id} has no full marks yet; there is something to find in it already")
        fault = choose(course, exercise, setup, lanes, random.Random(seed))  # noqa: S311  a game
    planted = plant(course, exercise, fault)
    yield f"One fault is in {typed(exercise.starter)} now, and nothing else was changed."
    yield f"Your own file is beside it, {planted.old}; looking into it would be cheating."
    yield f"Find it. What fails:  grade {exercise.id}"
    yield f"Found?                grade break {exercise.id}"
    yield f"Too hard?             grade break {exercise.id} --give-up"


def _look_for(
    course: Course, exercise: Exercise, setup: Setup, lanes: Engine, planted: Planted, *, give_up: bool
) -> Iterator[str]:
    """Whether the fault was found."""
    report = graded(course, exercise, setup, lanes)
    found = report.exercises[0].state == "done"
    if not found and not give_up:
        rows = report.exercises[0].checks
        failing = sum(row.outcome.verdict.decided and row.outcome.verdict is not Verdict.PASSED for row in rows)
        yield f"Not yet: {failing} of {len(rows)} checks fail. What they say:  grade {exercise.id}"
        return
    replaced = restore(course, exercise, planted)
    report = report if found else graded(course, exercise, setup, lanes)
    write_progress(course, read_progress(course).after(report))
    yield "Found!" if found else "This was it:"
    yield f"In line {planted.line} {planted.told}."
    yield f"    yours   {planted.was}"
    yield f"    broken  {planted.now}"
    yield f"{typed(exercise.starter)} is your own file again"
    if replaced is not None:
        yield f"What was there is beside it, {replaced.name}, and is not graded"


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
        write_whole(_note(course, exercise), to_json(planted, indent=1))
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
