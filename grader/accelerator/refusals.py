"""The error for what CUDA has and the simulated device lacks, and a count of these errors."""

from __future__ import annotations

from collections import Counter
from typing import Any

REFUSED: Counter[str] = Counter()
"""How often each sentence was said in this process."""


def refusal(text: str) -> NotImplementedError:
    """Return the `NotImplementedError` to raise for a call that the device refuses.

    The refused call is counted.
    """
    REFUSED[text] += 1
    return NotImplementedError(text)


def refusing_function(why: str) -> Any:
    """Return a function that takes any arguments and raises `NotImplementedError`.

    The message of the error is `why`.
    """

    def refuse(*args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        raise refusal(why)

    return refuse
