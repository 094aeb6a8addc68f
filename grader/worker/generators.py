"""The generators that student code draws from."""

from __future__ import annotations

import random

import numpy as np
import torch


def seed(number: int, *, devices: bool) -> None:
    """Seed all of them; those of accelerators only where student code sees one."""
    random.seed(number)
    np.random.seed(number % 2**32)
    if devices:
        torch.manual_seed(number)
    else:
        # The function above writes the lines of the stack down for a CUDA that may come: milliseconds in a new process.
        torch.default_generator.manual_seed(number)
