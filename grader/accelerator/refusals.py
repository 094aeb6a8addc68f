"""The error for what CUDA has and the simulated device lacks, and a count of these errors."""

from __future__ import annotations

from collections import Counter

REFUSED: Counter[str] = Counter()
"""How often each sentence was said in this process."""


def refusal(text: str) -> NotImplementedError:
    """Count a call that the simulated device refuses, and return the `NotImplementedError` to raise."""
    REFUSED[text] += 1
    return NotImplementedError(text)
