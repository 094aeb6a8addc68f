"""What is graded of each submission, and how; one exercise of one submission as work, and what comes back of it.

Outcomes become a graded exercise with its points, which come from the course: they are saved without points. Places are
named in the words of who handed it in: where a file came from, and lines as those of a notebook's cells.

A plan is packed with its files for other machines, which trust the sender and which the sender trusts.
"""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.layout import closed_folders, staff_root
from grader.model import (
    Check,
    Course,
    Exercise,
    GradedCheck,
    GradedExercise,
    Mistake,
    Outcome,
    Score,
    Submission,
    Verdict,
)
from grader.model.messages import Setup
from grader.model.report import PASSES_HERE
from grader.model.score import hold_back, is_void, score

VOID = "this check is void: everybody gets its points"


@dataclass(frozen=True)
class RunPlan:
    """What is graded of each submission, and how. It is the same for all submissions of a run.

    Attributes:
        course: the course.
        exercises: those of it that count, in order.
        setup: how the run is set up.
        handin: the hand-in whose exercises these are, or None.
        runs_untouched: whether an untouched starter is run, for its messages. It earns 0 in any case.
        has_folder: whether the reader of the report has the files in the folder that they were read from.
        rules: the contract lines whose checks are run; none for all. The other checks are reported as left out.
        checks: the ids of the checks that are run, without parameters, in the same way.
        stops: whether everything after the first check that loses points is left out, too.
        compiles: whether a file that is not Python gets one row at once, and no check is run.
        with_tries: whether somebody reads the lines to try: for these, code runs once more for each check that fails.
    """

    course: Course
    exercises: Sequence[Exercise]
    setup: Setup
    handin: str | None = None
    runs_untouched: bool = False
    has_folder: bool = False
    rules: Collection[str] = ()
    checks: Collection[str] = ()
    stops: bool = False
    compiles: bool = False
    with_tries: bool = True

    def to_run(self, submission: Submission) -> list[Exercise]:
        """The exercises of which checks are run."""
        return [exercise for exercise in self.exercises if not_run(self, exercise, submission) is None]


def not_run(plan: RunPlan, exercise: Exercise, submission: Submission) -> GradedExercise | None:
    """The exercise if no check of it is run, as its file is the untouched starter, or is not Python; else None."""
    if not plan.runs_untouched and submission.of(exercise).untouched:
        return as_handed_in(GradedExercise.untouched(exercise), submission)
    if plan.compiles and (why := submission.of(exercise).error):
        blank = as_handed_in(GradedExercise.untouched(exercise), submission)
        check = Check("load", exercise.id, "The file loads", category="error")
        outcome = Outcome(check.id, Verdict.ERROR, why, cause="load")
        row = GradedCheck(check, outcome, Score(0, exercise.points - exercise.withheld.points))
        return replace(blank, state="started", checks=(row,))
    return None


@dataclass(frozen=True, eq=False)
class Work:
    """One exercise of one submission that is to be graded.

    Attributes:
        plan: of the run; a cluster takes works of one plan only.
        exercise: the exercise.
        submission: whose files are graded.
        before: the exercise as it was graded before, if only its inconclusive checks are to be repeated.
    """

    plan: RunPlan
    exercise: Exercise
    submission: Submission
    before: GradedExercise | None = None


@dataclass(frozen=True)
class Finished:
    """What came of a work.

    Attributes:
        work: what was to be graded.
        graded: the exercise.
        confinement: the level that was reached, in a word; None if no student code was run.
        late: whether the lane's deadline ended it, and the kernel says that it waited for a core before.
        final: whether nothing of it is repeated later.
        saved: whether an earlier run found it, and nothing was run now.
        id: its number in the store, if it is there.
    """

    work: Work
    graded: GradedExercise
    confinement: str | None = None
    late: bool = False
    final: bool = True
    saved: bool = False
    id: int | None = None


# -- outcomes and points -----------------------------------------------------------------------------------------------


_KEPT = ("output", "mistakes", "behaviour", "handed_in", "notes")
"""What of a graded exercise is saved as it is."""


@dataclass(frozen=True)
class Outcomes:
    """What one exercise of one submission came to, as it is saved: without points, which come from the course.

    Attributes:
        state: not_started, started, shown_pass or done.
        checks: those that ran, in order.
        outcomes: one for each of these checks.
        output: what the student printed.
        mistakes: the known mistakes that lost checks show.
        behaviour: see `GradedExercise`.
        handed_in: whether there was a file of the exercise.
        notes: what staff should know of where the file came from.
    """

    state: str
    checks: tuple[Check, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    output: str = ""
    mistakes: tuple[Mistake, ...] = ()
    behaviour: str = ""
    handed_in: bool = True
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, graded: GradedExercise) -> Outcomes:
        """Those of a graded exercise of which no check was left out."""
        checks, outcomes = (tuple(getattr(row, part) for row in graded.checks) for part in ("check", "outcome"))
        return cls(graded.state, checks, outcomes, **{name: getattr(graded, name) for name in _KEPT})

    def graded(self, exercise: Exercise) -> GradedExercise:
        """The graded exercise, with the points that the course gives now."""
        graded = GradedExercise.untouched(exercise)
        if self.checks:
            graded = graded_from(exercise, self.checks, self.outcomes)
        if self.state == "not_started":
            graded = graded.not_started()
        return replace(graded, state=self.state, **{name: getattr(self, name) for name in _KEPT})


def graded_from(
    exercise: Exercise, checks: Sequence[Check], outcomes: Sequence[Outcome], output: str = ""
) -> GradedExercise:
    """An exercise of which these outcomes are known; checks without one were left out."""
    ran = {outcome.check: outcome for outcome in outcomes}
    # Points are divided among all checks, whichever ran: those of a check are the same every time.
    every = [ran.get(check.id) or Outcome(check.id, Verdict.NOT_RUN) for check in checks]
    rows, withheld = score(exercise.points, checks, every, exercise.withheld.shares)
    # A void check says nothing: neither that a value is right, nor that it is wrong.
    void = {
        row.check.id: replace(row, score=Score(row.score.possible, row.score.possible), set_by=VOID)
        for row in rows
        if is_void(row.check.id, exercise.void)
    }
    judged = [row for row in rows if row.check.id not in void]
    judged, held_by = hold_back(judged, exercise.values, exercise.caps, withheld=exercise.withheld.checks > 0)
    by_id = {row.check.id: row for row in judged} | void
    rows = [by_id[row.check.id] for row in rows]
    total = sum((row.score for row in rows), Score(0, 0)) + Score(0, withheld, withheld)
    left_out = tuple(row for row in rows if row.check.id not in ran)
    rows = [row for row in rows if row.check.id in ran]
    verdicts = {row.verdict for row in rows}
    # Of what is broken nobody knows; what needs hardware that is not here is nothing that the student could do.
    all_passed = not left_out and Verdict.PASSED in verdicts and verdicts <= {Verdict.PASSED, Verdict.NOT_RUN}
    full = PASSES_HERE if exercise.withheld.checks else "done"
    state = full if all_passed else "started"
    return GradedExercise(exercise, state, tuple(rows), total, withheld, output, left_out=left_out, held_by=held_by)


def graded_so_far(
    exercise: Exercise, submission: Submission, checks: Sequence[Check], outcomes: Sequence[Outcome]
) -> GradedExercise:
    """An exercise of which some checks have ended: the points of the others are undecided."""
    graded = graded_from(exercise, checks, outcomes)
    return as_handed_in(replace(graded, state="started", left_out=()), submission)


def broken(exercise: Exercise, problem: str) -> GradedExercise:
    """An exercise whose checks cannot be read."""
    check = Check("collection", exercise.id, "The checks of this exercise can be read", category="error")
    return _our_fault(exercise, check, "the checks of this exercise are broken", problem)


def lost(exercise: Exercise, why: str) -> GradedExercise:
    """An exercise of a submission that no machine could grade."""
    check = Check("machine", exercise.id, "A machine grades this exercise", category="error")
    return _our_fault(exercise, check, "the machines that graded this exercise were lost", why)


def _our_fault(exercise: Exercise, check: Check, what: str, detail: str) -> GradedExercise:
    message = f"{what}; that is not your fault and costs you nothing"
    return graded_from(exercise, [check], [Outcome(check.id, Verdict.BROKEN, message, detail)])


def is_inconclusive(graded: GradedExercise) -> bool:
    """Whether a check was inconclusive, so that to repeat it may decide it."""
    return any(row.verdict is Verdict.INCONCLUSIVE for row in graded.checks)


def is_broken(graded: GradedExercise) -> bool:
    """Whether a check is broken, which is not its author's fault, and staff has not decided on its points."""
    return any(row.verdict is Verdict.BROKEN for row in graded.checks)


def lost_points(graded: GradedExercise) -> bool:
    """Whether a check that ran lost points."""
    return any(row.score.earned + row.score.undecided < row.score.possible for row in graded.checks)


def as_handed_in(graded: GradedExercise, submission: Submission) -> GradedExercise:
    """The exercise with where its file came from, and with lines of a notebook's cells, where it is one."""
    own, name = submission.of(graded.exercise), graded.exercise.file_name
    graded = replace(graded, notes=own.notes, place=own.place)
    if not own.cells:
        return graded

    def named(row: GradedCheck) -> GradedCheck:
        message, detail = (in_cells(text, name, own.cells) for text in (row.outcome.message, row.outcome.detail))
        return replace(row, outcome=replace(row.outcome, message=message, detail=detail))

    return replace(graded, checks=tuple(map(named, graded.checks)))


def in_cells(text: str, file_name: str, origins: Sequence[tuple[int, int]], label: str = "code cell {}") -> str:
    """A text in which lines of a module are named as lines of the notebook's cells."""

    def named(match: re.Match[str]) -> str:
        line = int(match[1])
        if not 0 < line <= len(origins):
            return match[0]
        cell, inner = origins[line - 1]
        if not cell:  # of a script that was a notebook
            return f"{file_name}, line {inner}"
        return f"{label.format(cell)}, line {inner}"

    return re.sub(rf"\"?(?:[^\s\"']{{0,200}}/)?{re.escape(file_name)}\"?, line (\d{{1,7}})", named, text)


# -- for other machines ------------------------------------------------------------------------------------------------


def pack(plan: RunPlan) -> bytes:
    """A run plan in which the content of each file stands beside its path."""
    roots = (plan.course.root, staff_root(plan.course.root))

    class Packer(pickle.Pickler):
        def persistent_id(self, value: object) -> tuple[str, bytes | None] | None:
            if not isinstance(value, Path):
                return None
            # Staff's files may lie in the package; the two folders mirror each other, so that no names collide.
            own = next(value.relative_to(root) for root in roots if value.is_relative_to(root))
            return own.as_posix(), value.read_bytes() if value.is_file() else None

    exercises = [replace(exercise, closed=(), right=(), mistakes=None) for exercise in plan.exercises]
    course = replace(plan.course, modules=(), handins=(), broken=())
    Packer(packed := io.BytesIO()).dump(replace(plan, course=course, exercises=exercises))
    return packed.getvalue()


def unpack(packed: bytes, folder: Path) -> RunPlan:
    """The run plan, with its files in a folder."""

    class Unpacker(pickle.Unpickler):
        def persistent_load(self, file: tuple[str, bytes | None]) -> Path:
            path = folder / file[0]
            if file[1] is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file[1])
            return path

    plan: RunPlan = Unpacker(io.BytesIO(packed)).load()
    closed = (folder, *closed_folders(folder))
    return replace(plan, exercises=[replace(exercise, closed=closed) for exercise in plan.exercises])
