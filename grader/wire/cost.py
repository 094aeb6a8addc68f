"""What one call cost, as a worker tells it: the names that the counting in a worker and its reader agree on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """The counts of one call. What each means is told in `grader.check.counts.Counts`; the names are the report's.

    Attributes:
        spans: the first things that took virtual time: name, place, start and end in seconds.
        span_count: how many there were.
    """

    ops: dict[str, int]
    uses: int
    escapes: dict[str, int]
    bytes: int
    peak: int
    transfers: int
    transferred: int
    syncs: int
    collectives: dict[str, int]
    sent: int
    versions: int
    spans: list[list[str | float]]
    span_count: int
