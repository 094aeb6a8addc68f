"""`grade break`: one fault is planted in a student's own solution, for them to find. Their file is saved beside it.

Before a fault is planted, it is graded like a submission: the checks must see it, and it must make sense for the value
at hand.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course.layout import Places, state_folder
from grader.model import Course, Exercise, GradedExercise, Verdict
from grader.model.errors import CourseError, FormatError
from grader.model.files import failing_as, from_json, to_json, write_whole
from grader.model.messages import Setup
from grader.model.progress import Progress
from grader.student.folder import free_name, make_own_folder, read_progress, typed_path, write_progress
from grader.student.games.faults import PlantedFault, faults_of, shuffle_faults
from grader.student.own import OwnExercise, open_own_exercise, read_own_file

_MOST_TRIED = 24
_NO_TENSOR_FAULT = ("load", "name", "signature")
_SENSELESS = ("AttributeError", "NameError", "NotImplementedError", "TypeError", "SyntaxError")
"""What Python raises where a fault does not suit the value: a tuple has no `.clone()`."""


@dataclass(frozen=True)
class FaultyFile:
    """A student's file with a planted fault: the fault, the student's own text, and the file in which that is saved."""

    fault: PlantedFault
    own: str
    old: str


def planted_fault(course: Course, exercise: Exercise) -> FaultyFile | None:
    """Return the fault that is planted in an exercise's file now; None without a fault.

    The result has the student's own text, too.
    """
    try:
        planted = from_json(FaultyFile, _planted_path(course, exercise).read_bytes())
    except (OSError, FormatError):
        return None
    # A student who has put the file back has no fault in it.
    return planted if (exercise.starter.parent / Path(planted.old).name).is_file() else None


def play(
    course: Course, exercise: Exercise, setup: Setup, seed: int | None, progress: Progress, *, give_up: bool = False
) -> Iterator[str]:
    """Play a turn of `grade break`, and yield sentences on what happened.

    If no fault is planted, plant one. Otherwise check whether the student has found it.

    Args:
        course: the student's folder.
        exercise: the exercise.
        setup: the set-up of the lanes.
        seed: the seed that chooses the fault.
        progress: the progress that the run reports to.
        give_up: True if the student gives up: the fault is then named, and the student's own file restored.

    Raises:
        CourseError: no fault is planted, or none can be.
        GraderError: a process of ours cannot be started.
    """
    planted = planted_fault(course, exercise)
    if planted is None and give_up:
        raise CourseError(f"no fault is planted in {exercise.id}. To plant one:  grade break {exercise.id}")
    with open_own_exercise(course, exercise, setup, progress) as own:
        if planted is not None:
            yield from _end_if_found(own, planted, give_up=give_up)
            return
        if not own.grade().exercises[0].passes_here:
            raise CourseError(f"{exercise.id} does not have full marks yet; first find the faults that it has")
        fault = choose_fault(own, random.Random(seed))  # noqa: S311  a game
    planted = plant_fault(course, exercise, fault)
    yield f"{typed_path(exercise.starter)} has one fault now; nothing else was changed."
    yield f"Your own file is saved beside it, as {planted.old}. Do not look into it: find the fault."
    yield f"To see what fails:        grade {exercise.id}"
    yield f"When you have fixed it:   grade break {exercise.id}"
    yield f"To give up:               grade break {exercise.id} --give-up"


def _end_if_found(own: OwnExercise, planted: FaultyFile, *, give_up: bool) -> Iterator[str]:
    """Grade the file; end the game if the fault is found or the student gives up.

    Yield the sentences to print. At the end of the game, the student's own file is restored.

    Args:
        own: the exercise in the student's folder.
        planted: the fault, and the student's own file.
        give_up: True if the student gives up.
    """
    exercise, report = own.exercise, own.grade()
    solved = report.exercises[0].passes_here
    if not solved and not give_up:
        rows = report.exercises[0].checks
        failing = sum(row.outcome.verdict.is_decided and row.outcome.verdict is not Verdict.PASSED for row in rows)
        yield f"The fault is still there: {failing} of {len(rows)} checks fail. To see why:  grade {exercise.id}"
        return
    fault, replaced = planted.fault, restore_own_file(own.course, exercise, planted)
    report = report if solved else own.grade()
    write_progress(own.course, read_progress(own.course).after(report))
    result = "You found it!" if solved else "You did not find it this time."
    yield f"{result} The fault was in line {fault.line}: {fault.what}."
    for title, text in (("before", planted.own), ("planted", fault.source)):
        yield f"    {title:<8} {text.split(chr(10))[fault.line - 1].strip()}"
    yield f"{typed_path(exercise.starter)} is your own file again."
    if replaced is not None:
        yield f"The version with your changes is beside it, as {replaced.name}; it is not graded."


def choose_fault(own: OwnExercise, chance: random.Random) -> PlantedFault:
    """Return a random fault that the checks detect, preferably one that raises no exception.

    Raises:
        CourseError: the checks detect none of the faults that are tried, or the file is not UTF-8.
    """
    handed_in, exercise = read_own_file(own.course, own.exercise), own.exercise
    files = handed_in.files_of(exercise).files
    try:
        possible = faults_of(files[exercise.file_name].decode("utf-8"))
    except (ValueError, SyntaxError):  # it passes, so that Python can read it: by a cookie or a mark at its beginning
        raise CourseError(f"{exercise.file_name} is not in plain UTF-8; save it as UTF-8") from None
    raises: PlantedFault | None = None
    for fault in shuffle_faults(possible, chance)[:_MOST_TRIED]:
        broken = handed_in.with_files(exercise, {**files, exercise.file_name: fault.source.encode()})
        seen = _verdict_on_fault(own.grade(broken, stops=True).exercises[0])
        if seen is Verdict.FAILED:
            return fault
        if seen is Verdict.CRASHED:
            raises = raises or fault
    if raises is None:
        raise CourseError(
            f"no fault could be planted in {exercise.file_name} that its checks detect; try another exercise"
        )
    return raises


def _verdict_on_fault(broken: GradedExercise) -> Verdict | None:
    """Return the verdict of the first check that fails because of a planted fault, or None.

    None means that the fault is not suitable for the game: no check fails, the code does not load, or the check fails
    with an error such as NameError, which shows the fault at once.

    Args:
        broken: the exercise, graded with the fault in the student's file.
    """
    for row in broken.checks:
        outcome = row.outcome
        if outcome.verdict.is_decided and outcome.verdict is not Verdict.PASSED:
            senseless = any(name in outcome.message for name in _SENSELESS)
            return None if senseless or outcome.cause in _NO_TENSOR_FAULT else outcome.verdict
    return None


def plant_fault(course: Course, exercise: Exercise, fault: PlantedFault) -> FaultyFile:
    """Replace the student's file by a version with a fault.

    The student's own file is saved beside it first.

    Args:
        course: the course of the exercise.
        exercise: the exercise whose file it is.
        fault: the fault that is planted.

    Raises:
        CourseError: nothing can be written.
    """
    path = exercise.starter
    with failing_as(f"{Places.of(exercise).starter.as_posix()} cannot be written"):
        text = path.read_bytes()
        old = free_name(path)
        planted = FaultyFile(fault, text.decode("utf-8"), old.name)
        make_own_folder(course.root)
        _planted_path(course, exercise).parent.mkdir(exist_ok=True)
        # In this order: wherever it is interrupted, the student's own text is in a file, and known to be.
        write_whole(old, text)
        write_whole(_planted_path(course, exercise), to_json(planted, indent=1))
        write_whole(path, fault.source.encode("utf-8"))
    return planted


def restore_own_file(course: Course, exercise: Exercise, planted: FaultyFile) -> Path | None:
    """Restore the student's own file, in place of the version with the fault.

    If the student has changed that version, it is kept beside the file.

    Args:
        course: the course of the exercise.
        exercise: the exercise whose file it is.
        planted: the fault, and the student's own file.

    Returns:
        The path of the version that is kept; None if the student has not changed it.

    Raises:
        CourseError: nothing can be written.
    """
    path, old = exercise.starter, exercise.starter.parent / Path(planted.old).name
    saved = None
    with failing_as(f"{Places.of(exercise).starter.as_posix()} cannot be written"):
        if path.is_file() and path.read_bytes() not in [
            text.encode("utf-8") for text in (planted.own, planted.fault.source)
        ]:
            saved = free_name(path)
            os.replace(path, saved)
        os.replace(old, path)
        _planted_path(course, exercise).unlink(missing_ok=True)
    return saved


def _planted_path(course: Course, exercise: Exercise) -> Path:
    return state_folder(course.root) / "broken" / f"{exercise.id}.json"
