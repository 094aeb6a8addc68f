"""One check: its declaration, its outcome, and what was measured. Frozen data, standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from grader.model.picture import Moment, Picture


class Verdict(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    CRASHED = "crashed"
    """The worker died, or student code raised an exception where it must not."""
    TIMED_OUT = "timed_out"
    OVER_LIMIT = "over_limit"
    """Memory, output, processes or disk."""
    ERROR = "error"
    """The submission does not load, or lacks the function."""
    SKIPPED = "skipped"
    """The function is not written yet, or a check that this one requires did not pass."""
    NOT_RUN = "not_run"
    """Needs hardware or files that are not available."""
    INCONCLUSIVE = "inconclusive"
    """The machine is too busy to judge speed."""
    BROKEN = "broken"
    """Our fault, never the student's."""

    @property
    def is_decided(self) -> bool:
        """Whether the points of the check are won or lost; else they are undecided."""
        return self not in (Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN)

    @property
    def is_lost(self) -> bool:
        """Whether the points of the check are lost."""
        return self.is_decided and self is not Verdict.PASSED

    @property
    def is_repeatable(self) -> bool:
        """Whether another run would end with the same verdict.

        A timeout or an exceeded limit may not occur again.
        """
        return self not in (Verdict.TIMED_OUT, Verdict.OVER_LIMIT, Verdict.INCONCLUSIVE, Verdict.BROKEN)


BROKEN_MESSAGE = "this check is broken; that is not your fault and costs you nothing"
"""The message of a check that is at fault itself."""

WITHHELD = "not shown to the student, because not all of it was known before the run"
"""In a detail, before a text of a hidden check that could have carried something out."""

LINES_TO_TRY = "To see it in plain Python"
"""What the heading of the lines begins with that repeat the calls of a shown check, in a message."""

EXAMPLE_TO_TRY = "Try this:"
"""What stands before a hidden check's example, in a message."""

ITEM = "|"
"""In `Outcome.results`, between the digests of a result and those of its items."""

ENDED = "ended"
"""In `Outcome.results`, in place of the digests of a call in which student code ended its process or called exit()."""

CATEGORIES = ("correctness", "shape", "dtype", "device", "memory", "gradient", "performance", "error")
"""What a check can be about."""


CAUSES = (
    *("load", "name", "signature", "raised", "kind", "shape", "dtype", "device"),
    *("values", "memory", "gradient", "performance"),
)
"""What can end a check, the likeliest cause of the others first: a wrong kind makes wrong values, not the reverse."""


class DeviceKind(StrEnum):
    """The accelerator that code in a worker sees. It is set before the submission is loaded, and never changes."""

    NONE = "none"
    """None: a real one is hidden."""
    SIM = "sim"
    """A simulated one, the same on every machine."""
    SIM_CUDA = "sim-cuda"
    """The same under the name cuda, for a task that says `.cuda()` or `torch.cuda.is_available()`."""
    CUDA = "cuda"
    """CUDA as this machine has it."""

    @property
    def is_simulated(self) -> bool:
        """Whether the worker simulates this accelerator."""
        return self in (DeviceKind.SIM, DeviceKind.SIM_CUDA)

    @property
    def type_name(self) -> str:
        """The type of its devices in PyTorch, such as "cuda"; "none" without an accelerator."""
        return "cuda" if self is DeviceKind.SIM_CUDA else self.value

    @property
    def lines_to_simulate(self) -> tuple[str, ...]:
        """The lines of Python that switch on this simulated accelerator; () if nothing is simulated."""
        if not self.is_simulated:
            return ()
        return ("from grader import accelerator", f'accelerator.enable("{self.type_name}")')


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
        shown: True if students have it.
        try_this: an example to try, for a hidden check, or "".
        device: the accelerator that its worker sees.
    """

    id: str
    exercise: str
    title: str
    contract: str = ""
    category: str = "correctness"
    share: int = 1
    shown: bool = True
    try_this: str = ""
    device: DeviceKind = DeviceKind.NONE


@dataclass(frozen=True)
class Speed:
    """One comparison of CPU times, for a report.

    Attributes:
        told: the comparison in a sentence.
        against: the name of what the student's call was compared with.
        ratio: CPU time of the student's call as a multiple of the other's.
        low: the lower bound of the ratio, by the scatter of the samples.
        high: the upper bound; None if a call was stopped.
        at_most: the largest ratio that passes.
        yours_ms: CPU milliseconds of one call of the student's.
        theirs_ms: the same of the other side.
        calls: the number of samples: a call of each side, of short ones the mean of several.
        pairs: the number of pairs of workers.
    """

    told: str
    against: str
    ratio: float
    low: float
    high: float | None
    at_most: float
    yours_ms: float
    theirs_ms: float
    calls: int
    pairs: int


@dataclass(frozen=True)
class Outcome:
    """The verdict of one check, with its message and what was measured.

    Attributes:
        check: the check's id.
        verdict: the verdict, in one word.
        message: the text for the student; that of a hidden check names the property only.
        detail: the text for staff.
        seconds: wall seconds.
        counters: counts that a probe reported, by name.
        speed: the measurements, one row for each comparison.
        device: the device that student code saw, or None if nothing was run.
        cause: one of `CAUSES`, or "" if it passed; of a hidden check its verdict and category decide it.
        picture: the facts of a picture; of a hidden check always None.
        moments: the spans of virtual time, if `grade trace` runs.
        line: the line of the check file at which it ended without passing, for authors; or 0.
        called: the student's functions and classes that the check called, by name, that of its last call at the end.
        same_for_all: True if the check drew no number, so that its inputs are those of all authors; or called a
            function that hangs on a rank, which is not tried with other inputs. Where a check passes in the first run,
            this is not examined.
        from_text: True if it follows from the text of the submission alone, and so from no input.
        got_none: True if it failed as the function that it called last returned None.
        calls: the number of calls of student code that the check made.
        at_weak_input: True if it failed at its first call, with tensors that are all empty or constant.
        results: digests of what each call returned, by function, where a diagnosis compares answers.
        stopped_at: the files and lines of student code, outermost first, at which an exception or the end of its
            process stopped the check.
        ended_process: True if student code ended its process or called exit().
    """

    check: str
    verdict: Verdict
    message: str = ""
    detail: str = ""
    seconds: float = 0.0
    counters: Mapping[str, int] = field(default_factory=dict)
    speed: tuple[Speed, ...] = ()
    device: DeviceKind | None = None
    cause: str = ""
    picture: Picture | None = None
    moments: tuple[Moment, ...] = ()
    line: int = 0
    called: tuple[str, ...] = ()
    same_for_all: bool = False
    from_text: bool = False
    got_none: bool = False
    calls: int = 0
    at_weak_input: bool = False
    results: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stopped_at: tuple[tuple[str, int], ...] = ()
    ended_process: bool = False
