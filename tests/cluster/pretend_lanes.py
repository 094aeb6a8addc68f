"""Loaded by each process of a cluster in a test: its lanes are pretended ones, which take a moment and no torch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from unittest import mock

from batch.pretend import PretendLane

from grader.model import Exercise
from grader.runner import pool

SECONDS = 0.05


def dask_setup(worker: object) -> None:
    """Put pretended lanes in the place of real ones; Dask calls this when a worker starts."""
    del worker

    def pretended(exercises: Sequence[Exercise], *rest: object) -> PretendLane:
        return PretendLane(exercises, seconds=SECONDS)

    mock.patch.object(pool, "Lane", pretended).start()
    mock.patch.object(pool, "workers_for", lambda *rest: nullcontext(mock.Mock())).start()
