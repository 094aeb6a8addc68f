"""What CUDA has and the simulated device lacks: an error with a sentence, and a record of those that there were."""

from __future__ import annotations

from collections import Counter

REFUSED: Counter[str] = Counter()
"""How often each sentence was said in this process."""


def refusal(text: str) -> NotImplementedError:
    """Count a call that the simulated device refuses, and return the `NotImplementedError` to raise."""
    REFUSED[text] += 1
    return NotImplementedError(text)
