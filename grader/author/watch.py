"""`grade verify --watch`: an exercise is proved again each time one of its files is saved, in lanes that stay warm.

The same process reads the checks again, and only what a saved file changes is run: a wrong answer alone, or all of an
exercise whose checks or reference have changed. Only the files of the exercise are run: unusual answers and a busy
machine take longer, and are left to `grade verify` without `--watch`.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.author.table import proof_lines
from grader.author.verify import Prover, read_checks
from grader.course.load import load_course
from grader.course.saves import saves
from grader.grading.lanes import Lanes, lanes_here, open_lanes
from grader.grading.store import Keys, Store
from grader.model import Course
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.model.score import counted

SEEDS = 2
"""How many seeds are tried on each save by default."""

_KINDS = (".py", ".yaml", ".md")


class Watch:
    """An author at work.

    Args:
        course: that they belong to.
        named: ids of the exercises that are watched, and proved at once; without any, each that is saved.
        setup: how runs are set up.
        seeds: how many seeds right answers must pass with.
        say: prints lines.
        store: has what earlier commands ran, and gets what is run now.
    """

    def __init__(
        self,
        course: Course,
        named: Sequence[str],
        setup: Setup,
        seeds: int,
        say: Callable[..., None],
        store: Store,
    ) -> None:
        self._named = named
        self._say = say
        self._prover = Prover(course, setup, store, seeds, known_only=True)
        self._saved: queue.Queue[set[Path]] = queue.Queue()
        tried = f"These are the exercise's own files, with {counted(seeds, 'seed')}"
        self._warning = [f"{tried}; before you release it, run  grade verify  without --watch."]

    def run(self, *, poll: bool = False) -> None:
        """Prove the named exercises, then each that is saved, until Ctrl-C.

        Raises:
            GraderError: no process of ours can be had, or the folder cannot be watched.
        """
        exercises = [item for item in self._prover.course.exercises if not self._named or item.id in self._named]
        with (
            saves(self._prover.course.root, self._saved.put, poll=poll, kinds=_KINDS),
            open_lanes(exercises, self._prover.setup, min(2, lanes_here())) as lanes,
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
        root = self._prover.course.root.resolve()
        inside = [path.resolve().relative_to(root) for path in paths if path.resolve().is_relative_to(root)]
        known = [item.id for item in self._prover.course.exercises] + [item.id for item in self._prover.course.broken]
        saved = {part for path in inside for part in path.parts}
        if any(len(path.parts) == 1 and path.suffix == ".yaml" for path in inside):
            saved |= set(self._named)
        return [id for id in known if id in saved and (not self._named or id in self._named)]

    def _prove(self, lanes: Lanes, ids: Sequence[str]) -> None:
        """Read the course again, and prove these exercises of it."""
        started = time.monotonic()
        self._say("", f"{time.strftime('%H:%M:%S')}  verifying {', '.join(ids)} ...")
        try:
            self._prover.course = load_course(self._prover.course.root, whole=False)
        except CourseError as error:
            self._say(*error.problems)
            return
        broken = [problem for item in self._prover.course.broken if item.id in ids for problem in item.problems]
        exercises = [item for item in self._prover.course.exercises if item.id in ids]
        self._prover.store.keys = Keys()
        lanes.files_changed(exercises)
        ready, proofs = read_checks(exercises)
        if ready:
            proofs += self._prover.prove(lanes, ready)
        self._say(*proof_lines(proofs, broken), f"({time.monotonic() - started:.2f} s)")
        if exercises and self._warning:
            self._say(self._warning.pop())
