"""Inconclusive checks are repeated, and no others."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from grader.lanes.lane import Lane, Run
from grader.model import Course, Outcome, Verdict
from ?grader.quiet[] import settle


class PretendLane:
    """Gives the next of some verdicts for each check that it is asked for."""

    def __init__(self, *verdicts: Verdict) -> None:
        self._verdicts = list(verdicts)
        self.asked: list[set[str]] = []

    def run(self, exercise: Any, files: Any, seed: int, keep: Any, only: Collection[str]) -> Run:
        del exercise, files, seed, keep
        self.asked.append(set(only))
        verdict = self._verdicts.pop(0)
        return Run([Outcome(id, verdict, seconds=1.0) for id in sorted(only)], "")


def settled(lane: PretendLane, outcomes: list[Outcome]) -> list[Outcome]:
    return settle(lane, None, {}, 0, outcomes)  # type: ignore[arg-type]


FIRST = [Outcome("a", Verdict.PASSED), Outcome("b", Verdict.INCONCLUSIVE, seconds=2.0), Outcome("c", Verdict.FAILED)]


def test_nothing_is_repeated_without_need() -> None:
    """Decided outcomes stay as they are."""
    lane = PretendLane()
    assert settled(lane, [FIRST[0], FIRST[2]]) == [FIRST[0], FIRST[2]]
    assert lane.asked == []


def test_an_inconclusive_check_gets_its_later_verdict() -> None:
    """Its seconds are those of all its runs; the order stays."""
    lane = PretendLane(Verdict.PASSED)
    again = Outcome("b", Verdict.PASSED, seconds=3.0)
    assert settled(lane, FIRST) == [FIRST[0], again, FIRST[2]]
    assert lane.asked == [{"b"}]


def test_two_repeats_are_enough() -> None:
    """What is inconclusive three times stays so."""
    lane = PretendLane(Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE)
    assert [outcome.verdict for outcome in settled(lane, FIRST)] == [outcome.verdict for outcome in FIRST]
    assert lane.asked == [{"b"}, {"b"}]


def test_a_lane_runs_only_what_is_asked(tiny: Course, fork_lane: Lane) -> None:
    """A job can name its checks; the others are not run and have no outcome."""
    exercise = tiny.exercises[0]
    files = {f"{exercise.id}.py": b"def double(x):\n    return 2 * x\n"}
    run = fork_lane.run(exercise, files, 0, only=["small", "dtype"])
    assert [outcome.check for outcome in run.outcomes] == ["small", "dtype"]
    assert len(fork_lane.run(exercise, files, 0).outcomes) == 4
