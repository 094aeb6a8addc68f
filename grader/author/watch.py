"""`grade verify --watch`: an exercise is proved again each time one of its files is saved, in lanes that stay warm.

Checks are read anew by the same process, and only what a saved file changes is run: a wrong answer alone, or all of an
exercise whose checks or reference are others. What the known answers show is told first. Odd answers and a busy machine
take longer; whoever saves again meanwhile does not wait for them.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.author.proof import Proof
from grader.author.run import prove, read_checks
from grader.author.runs import Runs
from grader.author.table import first_lines, later_lines, proof_lines
from grader.course.load import load_course
from grader.course.saves import saves
from grader.grading.lanes import Lanes, open_lanes
from grader.grading.store import Store
from grader.model import Course, Exercise
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.model.score import counted
from grader.runner.pool import cores

SEEDS = 2
"""How many seeds are tried on each save, if nothing is said: one in quiet, one while all cores are busy."""

_KINDS = (".py", ".yaml", ".md")


class Watch:
    """An author at work.

    Args:
        course: theirs.
        named: ids of the exercises that are watched, and proved at once; none for whichever is saved.
        setup: how runs are set up.
        seeds: how many seeds right answers must pass with.
        say: prints lines.
        store: of results.
        fresh: whether also that is run which has not changed since an earlier command.
    """

    def __init__(
        self,
        course: Course,
        named: Sequence[str],
        setup: Setup,
        seeds: int,
        say: Callable[..., None],
        store: Store,
        *,
        fresh: bool = False,
    ) -> None:
        self._course = course
        self._named = named
        self._seeds = seeds
        self._say = say
        self._setup = setup
        self._runs = Runs(course, setup, store, fresh=fresh)
        self._saved: queue.Queue[set[Path]] = queue.Queue()
        self._fresh = True

    def run(self, *, poll: bool = False) -> None:
        """Prove what is named, then whatever is saved, until Ctrl-C.

        Raises:
            GraderError: no process of ours can be had, or the folder cannot be watched.
        """
        exercises = [item for item in self._course.exercises if not self._named or item.id in self._named]
        with (
            saves(self._course.root, self._saved.put, poll=poll, kinds=_KINDS),
            open_lanes(exercises, self._setup, min(2, len(cores()))) as lanes,
        ):
            # At once, so that PyTorch is imported while the first line is typed.
            lanes.warm_up()
            if self._named:
                self._prove(lanes, self._named)
            else:
                self._say("Save a file of an exercise, and it is verified.")
            while True:
                paths = self._saved.get()
                while not self._saved.empty():  # what was saved meanwhile belongs to the same moment
                    paths |= self._saved.get()
                if ids := self._touched(paths):
                    self._prove(lanes, ids)

    def _touched(self, paths: set[Path]) -> list[str]:
        """The exercises that saved files are of; those that are watched, where a file is of all of them."""
        root = self._course.root.resolve()
        inside = [path.resolve().relative_to(root) for path in paths if path.resolve().is_relative_to(root)]
        known = [item.id for item in self._course.exercises] + [item.id for item in self._course.broken]
        found = {part for path in inside for part in path.parts if part in known}
        if any(len(path.parts) == 1 and path.suffix == ".yaml" for path in inside):
            found |= set(self._named)
        return [id for id in known if id in found and (not self._named or id in self._named)]

    def _prove(self, lanes: Lanes, ids: Sequence[str]) -> None:
        """Read the course anew, and prove these exercises of it."""
        started = time.monotonic()
        self._say("", f"{time.strftime('%H:%M:%S')}  verifying {', '.join(ids)} ...")
        try:
            self._course = self._runs.course = load_course(self._course.root, whole=False)
        except CourseError as error:
            self._say(*error.problems)
            return
        broken = [problem for item in self._course.broken if item.id in ids for problem in item.problems]
        exercises = [item for item in self._course.exercises if item.id in ids]
        self._runs.read_again(exercises, lanes)
        before: list[Proof] | None = None

        def first(proofs: list[Proof]) -> None:
            nonlocal before
            before = proofs
            rest = "now odd answers, and a busy machine ..."
            self._say(*first_lines(proofs, broken), f"So far ({time.monotonic() - started:.2f} s); {rest}")

        def stops() -> bool:
            return not self._saved.empty()

        ready, proofs = read_checks(exercises)
        if ready:
            runs = self._runs
            proofs += prove(lanes, ready, runs, self._seeds, lambda line: None, first=first, stops=stops)
        self._runs.settle(exercises)
        if stops():
            return  # what was saved meanwhile is told in a moment
        lines = proof_lines(proofs, broken) if before is None else later_lines(proofs, broken, before)
        self._say(*lines, *self._runs.saved_lines(), f"({time.monotonic() - started:.2f} s)")
        self._warn(exercises)

    def _warn(self, exercises: Sequence[Exercise]) -> None:
        """Say once that this is not the whole proof."""
        if self._fresh and exercises:
            self._fresh = False
            few = counted(self._seeds, "seed")
            self._say(f"With {few}; before you give it out, run  grade verify  without --watch.")
