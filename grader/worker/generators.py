"""The generators that student code draws from."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch


def seed(number: int, *, devices: bool) -> None:
    """Seed all of them; those of accelerators only where student code sees one."""
    random.seed(number)
    np.random.seed(number % 2**32)
    _seed_torch(number, devices=devices)


def _seed_torch(number: int, *, devices: bool) -> None:
    if devices:
        torch.manual_seed(number)
    else:
        # The function above writes the lines of the stack down for a CUDA that may come: milliseconds in a new process.
        torch.default_generator.manual_seed(number)


def restore(states: Mapping[str, Any], *, devices: bool) -> None:
    """Let some go on from where those of the check are."""
    for name, state in states.items():
        match name, state:
            case "torch", [number, text]:
                _seed_torch(number, devices=devices)
                torch.set_rng_state(torch.frombuffer(bytearray(text, "latin-1"), dtype=torch.uint8))
            case "random", [version, numbers, rest]:
                random.setstate((version, tuple(numbers), rest))
            case "numpy", [kind, keys, *rest]:
                np.random.set_state((kind, np.array(keys, dtype=np.uint32), *rest))
