"""What CUDA has and the simulated device lacks: an error with a sentence, and a record of those that there were."""

from __future__ import annotations

from collections import Counter

REFUSED: Counter[str] = Counter()
"""How often each sentence was said in this process."""


def refusal(text: str) -> NotImplementedError:
    """Note a call that the device refuses, and return the error to raise."""
    REFUSED[text] += 1
    return NotImplementedError(text)
