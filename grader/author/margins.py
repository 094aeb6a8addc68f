"""Whether limits of speed checks stand far from our own answer: then one pair of workers decides, whatever runs."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence

from grader.author.cases import Case
from grader.course.layout import Places
from grader.model import Exercise, Outcome, Speed

LEAST = 3.3
"""So many times the ratio of our own answer is the least that a limit may be; see `grader.connection.ratio` for why."""


def margin_problems(exercise: Exercise, found: Sequence[tuple[Case, Sequence[Outcome]]]) -> Iterator[str]:
    """A sentence for each comparison whose limit is too near to the reference.

    Args:
        exercise: the exercise.
        found: its runs, with the outcomes of all checks; those of the reference are looked at.
    """
    rows: dict[tuple[str, int], list[Speed]] = defaultdict(list)
    for case, outcomes in found:
        if case.kind == "reference":
            for outcome in outcomes:
                for place, row in enumerate(outcome.speed):
                    rows[outcome.check, place].append(row)
    for (check, _), runs in rows.items():
        own, limit = _own(runs), runs[0].at_most
        if limit < LEAST * own:
            yield f"{Places.of(exercise).staff.as_posix()}: check_{check}: {_told(runs[0], own, len(runs))}"


def _own(runs: Sequence[Speed]) -> float:
    """The ratio of our own answer, as it lies at least: load makes a ratio uncertain, and must not refuse a limit."""
    least = statistics.median(row.low for row in runs)
    # Whoever asks for a multiple of the reference's time compares it with itself here. That is 1, whatever is measured.
    return max(1.0, least) if runs[0].at_most >= 1 else least


def _told(row: Speed, own: float, runs: int) -> str:
    margin = f"only {row.at_most / own:.2g} times from the limit, and {LEAST:g} is needed"
    many = f"the median of {runs} run{'s' * (runs > 1)}"
    if row.at_most >= 1:
        what = f"our own answer takes {own:.2g} times as long as {row.against}, at most {row.at_most:g} is asked"
        return f"{what}; that is {margin} ({many}): ask for at_most={LEAST * own:.2g} or more"
    what = f"our own answer is {1 / own:,.3g} times as fast as {row.against}, at least {1 / row.at_most:.3g} is asked"
    return f"{what}; that is {margin} ({many}): ask for at_least={1 / (LEAST * own):.3g} or less"
