"""Seeds of checks and of workers, derived from the run's."""

from __future__ import annotations

import hashlib

from grader.model import Check


def derived_seed(seed: int, check: Check) -> int:
    """The seed of one check in one run."""
    # From the names and not from the order of the checks: a check that is added leaves the others' inputs alone.
    digest = hashlib.sha256(f"{seed}/{check.exercise}/{check.id}".encode()).digest()
    return int.from_bytes(digest[:6], "big")
