"""`grade verify --watch`: an exercise is proved again each time one of its files is saved, in lanes that stay warm.

The same process reads the checks again, and only what a saved file changes is run: a wrong answer alone, or all of an
exercise whose checks or reference have changed. Only the files of the exercise are run: unusual answers and a busy
machine take longer, and are left to `grade verify` without `--watch`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.author.table import proof_lines
from grader.author.verify import Prover, read_checks
from grader.course.layout import COURSE_FILE
from grader.course.load import load_course
from grader.course.saves import saves
from grader.grading.lanes import Lanes, lanes_here, open_lanes
from grader.grading.store import Keys
from grader.model import Course
from grader.model.errors import CourseError

SEEDS = 2
"""How many seeds are tried on each save by default."""

_KINDS = (".py", ".yaml", ".md")


def watch(prover: Prover, named: Sequence[str], say: Callable[..., None]) -> None:
    """Prove the named exercises, then each that is saved, until Ctrl-C.

    Args:
        prover: for the course.
        named: ids of the exercises that are watched, and proved at once; without any, each that is saved.
        say: prints lines.

    Raises:
        GraderError: no process of ours can be had, or the folder cannot be watched.
    """
    exercises = [item for item in prover.course.exercises if not named or item.id in named]
    with open_lanes(exercises, prover.setup, min(2, lanes_here())) as lanes:
        # At once, so that PyTorch is imported while the first line is typed.
        lanes.warm_up()
        if not named:
            say("Save a file of an exercise, and it is verified.")
        ids = [*named]
        for paths in saves(prover.course.root, kinds=_KINDS):
            ids += _touched(prover.course, named, paths)
            if ids:
                _prove(prover, lanes, ids, say)
            ids = []


def _touched(course: Course, named: Sequence[str], paths: set[Path]) -> list[str]:
    """The exercises that saved files are of; those that are watched, where the file is course.yaml."""
    saved = {part for path in paths for part in path.parts}
    if COURSE_FILE in saved:
        saved |= set(named)
    known = [*(item.id for item in course.exercises), *(item.id for item in course.broken)]
    return [id for id in known if id in saved and (not named or id in named)]


def _prove(prover: Prover, lanes: Lanes, ids: Sequence[str], say: Callable[..., None]) -> None:
    """Read the course again, and prove these exercises of it."""
    started = time.monotonic()
    say("", f"{time.strftime('%H:%M:%S')}  verifying {', '.join(ids)} ...")
    try:
        course = prover.course = load_course(prover.course.root, whole=False)
    except CourseError as error:
        say(*error.problems)
        return
    broken = [problem for item in course.broken if item.id in ids for problem in item.problems]
    exercises = [item for item in course.exercises if item.id in ids]
    prover.store.keys = Keys()
    lanes.files_changed(exercises)
    ready, proofs = read_checks(exercises)
    if ready:
        proofs += prover.prove(lanes, ready)
    say(*proof_lines(proofs, broken), f"({time.monotonic() - started:.2f} s)")
