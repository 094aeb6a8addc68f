"""Lanes for exercises, all with one source of workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from grader.model import Device, Exercise
from grader.model.errors import StartError
from grader.model.messages import Setup, Start
from grader.runner.lane import Lane
from grader.runner.source import open_source
from grader.runner.supply import Source
from grader.runner.walls import WallPlan


@contextmanager
def workers_for(exercises: Sequence[Exercise], setup: Setup, hidden: Sequence[Path] = ()) -> Iterator[Source]:
    """Where workers for exercises come from; the arguments and errors are those of `open_lanes`."""
    if (setup.accelerator, setup.start) == (Device.CUDA, Start.FORK):
        raise StartError("a forked worker cannot use CUDA; take --start spawn with --device cuda")
    own = {folder for exercise in exercises for folder in exercise.closed}
    # A real file of the course, for the probes: what workers must not read is tried with what they would like to.
    first = next((path for exercise in exercises if (path := exercise.hidden_checks or exercise.shown_checks)), None)
    plan = WallPlan.of(setup, (*hidden, *sorted(own)), first)
    with closing(open_source(setup.start, plan)) as source:
        yield source


@contextmanager
def open_lanes(
    exercises: Sequence[Exercise], setup: Setup, count: int = 1, hidden: Sequence[Path] = ()
) -> Iterator[list[Lane]]:
    """Lanes whose workers have one source.

    Args:
        exercises: whose checks are run.
        setup: how they are.
        count: of lanes.
        hidden: folders that no worker may see; those of the courses are hidden in any case.

    Raises:
        StartError: forked workers are asked for together with CUDA.
        ConfinementError: walls are asked for together with CUDA.
    """
    # Closed in the opposite order: the lanes before the source, from which their workers come.
    with workers_for(exercises, setup, hidden) as source, ExitStack() as stack:
        yield [
            stack.enter_context(closing(Lane(exercises, source, number, setup.accelerator))) for number in range(count)
        ]


@contextmanager
def open_lane(exercises: Sequence[Exercise], setup: Setup, hidden: Sequence[Path] = ()) -> Iterator[Lane]:
    """One lane; see `open_lanes`."""
    with open_lanes(exercises, setup, 1, hidden) as (lane,):
        yield lane
