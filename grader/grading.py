"""One submission → Report: the straight line."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from grader.confinement import Wish
from grader.course import starter_digest
from grader.errors import StartError
from grader.lane import Lane
from grader.model import (
    Check,
    Course,
    Exercise,
    GradedExercise,
    Outcome,
    Report,
    Score,
    Submission,
    Verdict,
)
from grader.quiet import settle
from grader.score import score
from grader.source import CAN_FORK, FreshInterpreters, Source, WorkerServer


@contextmanager
def open_lanes(
    exercises: Sequence[Exercise], start: str, count: int, wish: Wish | None = None, device: str = "sim"
) -> Iterator[list[Lane]]:
    """Lanes whose workers have one source.

    Args:
        exercises: whose checks are run.
        start: "fork" or "spawn".
        count: how many.
        wish: how well workers are to be confined; what the exercises have is hidden from them in any case.
        device: what checks of devices run on: "sim" for a simulated accelerator; "cuda", which only spawned workers
            without walls can use.

    Raises:
        StartError: forked workers are asked for together with CUDA.
        ConfinementError: walls are asked for together with CUDA.
    """
    wish = wish or Wish()
    if device == "cuda":
        if start == "fork":
            raise StartError("a forked worker cannot use CUDA; take --start spawn with --device cuda")
        wish = wish.without_walls("no CUDA device can be reached behind a wall")
    own = {path for exercise in exercises for path in _folders(exercise)}
    first = next((path for exercise in exercises if (path := exercise.hidden_checks or exercise.shown_checks)), None)
    wish = replace(wish, hidden=(*wish.hidden, *sorted(own)), readable=first)
    with ExitStack() as stack:
        source = stack.enter_context(open_source(start, wish))
        lanes = []
        for number in range(count):
            lanes.append(Lane(exercises, source, number, device))
            stack.callback(lanes[-1].close)
        yield lanes


@contextmanager
def open_source(start: str, wish: Wish) -> Iterator[Source]:
    """Where workers come from."""
    source: Source = WorkerServer(wish) if start == "fork" else FreshInterpreters(wish)
    try:
        yield source
    finally:
        source.close()


def _folders(exercise: Exercise) -> Iterator[Path]:
    """Where an exercise lies: the modules' folders, the staff's among them."""
    yield exercise.folder.parent
    for path in (exercise.hidden_checks, exercise.reference):
        if path is not None:
            yield path.parent.parent


@contextmanager
def open_lane(
    exercises: Sequence[Exercise], start: str, wish: Wish | None = None, device: str = "sim"
) -> Iterator[Lane]:
    """One lane."""
    with open_lanes(exercises, start, 1, wish, device) as (lane,):
        yield lane


def grade_exercise(
    exercise: Exercise, submission: Submission, lane: Lane, seed: int, inputs: Path | None = None
) -> GradedExercise:
    """Grade one exercise of a submission.

    Args:
        exercise: one of the lane's.
        submission: who handed in what.
        lane: where it is graded.
        seed: of all random inputs.
        inputs: where large inputs of failing shown checks are kept for the student, if anywhere.
    """
    catalog = lane.catalog
    checks = catalog.checks[exercise.id]
    if exercise.id in catalog.problems:
        return _broken(exercise, catalog.problems[exercise.id])
    if exercise.id in submission.problems:
        return _without_file(exercise, checks, submission.problems[exercise.id])
    keep = _keep(inputs, submission.paths[exercise.id]) if inputs else None
    run = lane.run(exercise, submission.files[exercise.id], seed, keep)
    graded = _graded(exercise, checks, run.outcomes, output=run.output)
    return _earning_nothing(graded) if is_untouched(exercise, submission) else graded


def settle_exercise(
    graded: GradedExercise, submission: Submission, lane: Lane, seed: int, inputs: Path | None = None
) -> GradedExercise:
    """The same, with checks of speed that were inconclusive run again, when all else is done; see `grader.quiet`.

    Args:
        graded: by `grade_exercise` with the same arguments.
        submission: who handed in what.
        lane: where it was graded; all other lanes are to rest.
        seed: of all random inputs.
        inputs: where large inputs of failing shown checks are kept for the student, if anywhere.
    """
    exercise = graded.exercise
    outcomes = [row.outcome for row in graded.checks]
    if all(outcome.verdict is not Verdict.INCONCLUSIVE for outcome in outcomes):
        return graded
    keep = _keep(inputs, submission.paths[exercise.id]) if inputs else None
    settled = settle(lane, exercise, submission.files[exercise.id], seed, outcomes, keep)
    again = _graded(exercise, [row.check for row in graded.checks], settled, output=graded.output)
    return _earning_nothing(again) if is_untouched(exercise, submission) else again


def not_started(exercise: Exercise) -> GradedExercise:
    """An untouched exercise, none of whose checks is run."""
    return GradedExercise(exercise, "not_started", (), Score(0, exercise.points))


def is_untouched(exercise: Exercise, submission: Submission) -> bool:
    """Whether the submitted file is the starter."""
    path = submission.paths.get(exercise.id)
    files = submission.files.get(exercise.id)
    if path is None or files is None:
        return False
    wanted = exercise.starter_digest
    if not wanted and path != exercise.starter and exercise.starter.is_file():
        wanted = starter_digest(exercise.starter.read_bytes())
    return starter_digest(files[f"{exercise.id}.py"]) == wanted


def report(
    course: Course, submission: Submission, graded: Sequence[GradedExercise], environment: Mapping[str, Any]
) -> Report:
    """All of one submission together."""
    return Report(
        course=course.title,
        handin=None,
        author=submission.author,
        digest=submission.digest,
        graded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        exercises=tuple(graded),
        environment=environment,
    )


def environment(seed: int, start: str, lane: Lane | None, device: str = "sim") -> dict[str, Any]:
    """What a report says of the machine; without a lane, no student code was run, and nothing confined.

    Read from package metadata: the host never imports torch.
    """
    return {
        "python": platform.python_version(),
        "torch": metadata.version("torch"),
        "numpy": metadata.version("numpy"),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
        "device": "cuda" if device == "cuda" else "cpu",
        "threads": 1,
        "seed": seed,
        "start": start,
        "confinement": lane.reached.level.word if lane else None,
        "grader": metadata.version("tensorgrade"),
    }


def default_start(device: str = "sim") -> str:
    """How workers are started on this system. A process that was forked cannot use CUDA."""
    return "fork" if CAN_FORK and device != "cuda" else "spawn"


def _keep(inputs: Path, submitted: Path) -> tuple[Path, str, str]:
    """Where inputs are kept, and how that and the student's folder are typed, each from where the student is."""
    folder = submitted.resolve().parent
    return inputs, Path(os.path.relpath(inputs, folder)).as_posix(), Path(os.path.relpath(folder)).as_posix()


def _graded(
    exercise: Exercise, checks: Sequence[Check], outcomes: Sequence[Outcome], output: str = ""
) -> GradedExercise:
    rows, withheld = score(exercise.points, checks, outcomes, exercise.withheld.shares)
    total = sum((row.score for row in rows), Score(0, 0)) + Score(0, withheld, withheld)
    decided = [row.outcome.verdict for row in rows if row.outcome.verdict.decided]
    all_passed = bool(decided) and all(verdict is Verdict.PASSED for verdict in decided)
    return GradedExercise(exercise, "done" if all_passed else "started", tuple(rows), total, withheld, output)


def _earning_nothing(graded: GradedExercise) -> GradedExercise:
    """The same for an untouched starter, which earns exactly 0 whatever its given code does."""
    rows = tuple(replace(row, score=replace(row.score, earned=0)) for row in graded.checks)
    return replace(graded, checks=rows, score=replace(graded.score, earned=0), state="not_started")


def _without_file(exercise: Exercise, checks: Sequence[Check], reason: str) -> GradedExercise:
    outcomes = [Outcome(check.id, Verdict.SKIPPED, reason) for check in checks]
    return replace(_earning_nothing(_graded(exercise, checks, outcomes)), state="not_started")


def _broken(exercise: Exercise, problem: str) -> GradedExercise:
    check = Check("collection", exercise.id, "The checks of this exercise can be read", category="error")
    message = "the checks of this exercise are broken; that is not your fault and costs you nothing"
    return _graded(exercise, [check], [Outcome(check.id, Verdict.BROKEN, message, problem)])
