"""Checks of speed that were inconclusive on a busy machine, run again when nothing else of ours runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.lane import Lane
from grader.model import Exercise, Outcome, Verdict

REPEATS = 2


def settle(
    lane: Lane,
    exercise: Exercise,
    files: Mapping[str, bytes],
    seed: int,
    outcomes: Sequence[Outcome],
    keep: tuple[Path, str, str] | None = None,
) -> list[Outcome]:
    """The same outcomes, with what was inconclusive repeated, at most twice. All other lanes are to rest meanwhile.

    The repeated checks get the same seed, and so the same inputs.

    Args:
        lane: where they are run.
        exercise: whose checks they are.
        files: the submission's files by name.
        seed: the run's seed.
        outcomes: of all checks that were run.
        keep: as for `Lane.run`.

    Raises:
        StartError: no check process can be had.
    """
    settled = list(outcomes)
    for _ in range(REPEATS):
        open_ = {outcome.check for outcome in settled if outcome.verdict is Verdict.INCONCLUSIVE}
        if not open_:
            break
        again = {outcome.check: outcome for outcome in lane.run(exercise, files, seed, keep, only=open_).outcomes}
        settled = [_later(outcome, again.get(outcome.check)) for outcome in settled]
    return settled


def _later(first: Outcome, second: Outcome | None) -> Outcome:
    return first if second is None else replace(second, seconds=round(first.seconds + second.seconds, 4))
