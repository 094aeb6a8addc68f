"""The nouns: frozen data without I/O, shared by the host and the check process. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Verdict(StrEnum):
    """What became of one check."""

    PASSED = "passed"
    FAILED = "failed"
    CRASHED = "crashed"
    """The worker died, or student code raised where it must not."""
    TIMED_OUT = "timed_out"
    OVER_LIMIT = "over_limit"
    """Memory, output, processes or disk."""
    SKIPPED = "skipped"
    """Cannot be judged: does not load, no such function, wrong shape."""
    NOT_RUN = "not_run"
    """Needs hardware or files that are not here."""
    INCONCLUSIVE = "inconclusive"
    """The machine is too busy to judge speed."""
    BROKEN = "broken"
    """Our fault, never the student's."""

    @property
    def decided(self) -> bool:
        """Whether the points of the check are won or lost; else they are undecided."""
        return self not in (Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN)


BROKEN_MESSAGE = "this check is broken; that is not your fault and costs you nothing"
"""What a student is told of a check that is at fault itself."""

CATEGORIES = ("correctness", "shape", "dtype", "device", "memory", "gradient", "performance", "error")
"""What a check can be about."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use.

    Attributes:
        load_s: CPU seconds to import the student's module.
        call_s: CPU seconds of one call.
        check_s: seconds of a check's own code, without the calls.
        exercise_s: wall seconds for all checks of an exercise; the host ends what takes longer.
        wall_factor: wall seconds allowed for each CPU second: loose, so that a busy machine ends nothing.
        memory_mb: MiB of memory of one process beyond a warm interpreter.
        output_kb: KiB of prints; the worker is ended beyond that.
        shown_output_kb: KiB of prints kept for the report.
        file_mb: MiB of any one file.
        processes: how many processes a submission may be; with 1 it cannot start any.
    """

    load_s: float = 10.0
    call_s: float = 5.0
    check_s: float = 20.0
    exercise_s: float = 240.0
    wall_factor: float = 4.0
    memory_mb: int = 2048
    output_kb: int = 16 * 1024
    shown_output_kb: int = 16
    file_mb: int = 64
    processes: int = 1


@dataclass(frozen=True)
class Check:
    """One graded pytest function.

    Attributes:
        id: its name without `check_`, with the parameters that pytest adds.
        exercise: the exercise's id.
        title: its docstring's first line.
        contract: the contract line it examines, such as "C2", or "".
        category: one of `CATEGORIES`.
        share: its share of the exercise's points.
        shown: whether students have it.
        try_this: an example to try, for a hidden check, or "".
        device: "none", "sim" or "cuda".
    """

    id: str
    exercise: str
    title: str
    contract: str = ""
    category: str = "correctness"
    share: int = 1
    shown: bool = True
    try_this: str = ""
    device: str = "none"


@dataclass(frozen=True)
class Outcome:
    """One check's verdict.

    Attributes:
        check: the check's id.
        verdict: what became of it.
        message: for the student; of a hidden check it tells the property only.
        detail: for staff.
        seconds: wall seconds.
        counters: counts that a probe reported, by name.
        speed: what was measured, one row for each comparison: against, ratio, low, high, at_most, yours_ms, theirs_ms,
            calls, pairs.
        device: which accelerator student code saw: "none", "sim" or "cuda"; "" if nothing was run.
    """

    check: str
    verdict: Verdict
    message: str = ""
    detail: str = ""
    seconds: float = 0.0
    counters: Mapping[str, int] = field(default_factory=dict)
    speed: Sequence[Mapping[str, Any]] = ()
    device: str = ""

    def to_plain(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Outcome:
        """From JSON data."""
        return cls(**{**plain, "verdict": Verdict(plain["verdict"])})


@dataclass(frozen=True)
class Withheld:
    """Hidden checks that this copy of the course does not have."""

    checks: int = 0
    shares: int = 0


@dataclass(frozen=True)
class Exercise:
    """One task of a course.

    Attributes:
        id: its folder's name.
        number: such as "02-1".
        title: for people.
        module: the id of its module.
        kind: predict, implement, fix, vectorise or speed.
        difficulty: 1 to 4.
        points: hundredths of a point.
        topics: ids in topics.yaml.
        hints: three of them.
        folder: what a student sees.
        starter: the exercise module as students get it.
        starter_digest: digest of the untouched starter, or "" if the file in `folder` is it.
        shown_checks: the file of shown checks, or None.
        hidden_checks: the file of hidden checks, or None if this copy has none.
        probes: probe files; their source is sent to the worker.
        reference: the reference solution, or None if this copy has none.
        contract: contract lines by name.
        limits: what a submission may use.
        withheld: hidden checks that this copy does not have.
    """

    id: str
    number: str
    title: str
    module: str
    kind: str
    difficulty: int
    points: int
    topics: tuple[str, ...]
    hints: tuple[str, ...]
    folder: Path
    starter: Path
    starter_digest: str
    shown_checks: Path | None
    hidden_checks: Path | None
    probes: tuple[Path, ...]
    reference: Path | None
    contract: Mapping[str, str]
    limits: Limits
    withheld: Withheld


@dataclass(frozen=True)
class Module:
    """A chapter of a course."""

    id: str
    title: str
    exercises: tuple[Exercise, ...]


@dataclass(frozen=True)
class HandIn:
    """A named set of exercises with a due date, a weight and an LMS column."""

    id: str
    title: str
    exercises: tuple[str, ...]
    due: str | None
    weight: float
    column: str


@dataclass(frozen=True)
class Course:
    """A folder with a course.yaml."""

    title: str
    root: Path
    modules: tuple[Module, ...]
    handins: tuple[HandIn, ...]

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        """All exercises, in order."""
        return tuple(exercise for module in self.modules for exercise in module.exercises)


@dataclass(frozen=True)
class Submission:
    """The files of one author.

    Attributes:
        author: who handed it in.
        files: by exercise id, the bytes of its module and of the files beside it, by name.
        paths: where each exercise's module was read from.
        problems: by exercise id, why it has no files here.
        digest: of all files.
    """

    author: str
    files: Mapping[str, Mapping[str, bytes]]
    paths: Mapping[str, Path]
    problems: Mapping[str, str]
    digest: str


@dataclass(frozen=True)
class Score:
    """Hundredths of a point. What is neither earned nor undecided is lost."""

    earned: int
    possible: int
    undecided: int = 0

    def __add__(self, other: Score) -> Score:
        """Both together."""
        return Score(self.earned + other.earned, self.possible + other.possible, self.undecided + other.undecided)


@dataclass(frozen=True)
class GradedCheck:
    """A check with its outcome and points, in hundredths."""

    check: Check
    outcome: Outcome
    score: Score


@dataclass(frozen=True)
class GradedExercise:
    """One exercise of one submission, graded.

    Attributes:
        exercise: the exercise.
        state: not_started, started or done.
        checks: in the order in which they ran.
        score: of all checks, the withheld ones among them as undecided.
        withheld_points: hundredths of a point that withheld checks decide.
        output: what the student printed while shown checks ran.
        diagnosis: a sentence for a known mistake, or None.
    """

    exercise: Exercise
    state: str
    checks: tuple[GradedCheck, ...]
    score: Score
    withheld_points: int = 0
    output: str = ""
    diagnosis: str | None = None


@dataclass(frozen=True)
class Report:
    """One submission, graded."""

    course: str
    handin: str | None
    author: str
    digest: str
    graded_at: str
    exercises: tuple[GradedExercise, ...]
    environment: Mapping[str, Any]

    @property
    def score(self) -> Score:
        """Of all exercises together."""
        return sum((graded.score for graded in self.exercises), Score(0, 0))
