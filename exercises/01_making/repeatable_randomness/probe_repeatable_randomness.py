"""Whether the global generators are as before a call. Runs beside your code."""

import random

import numpy as np
import torch


def states():
    return torch.get_rng_state().tolist(), random.getstate(), str(np.random.get_state())


def leaves_generators(function, *arguments):
    """For global generators that were seeded once, and once more, and from which others have drawn since."""
    kept = []
    for start in (5, 6):
        torch.manual_seed(start), random.seed(start), np.random.seed(start)
        torch.rand(3), random.random(), np.random.rand()
        before = states()
        function(*arguments)
        kept.append(states() == before)
    return all(kept)
