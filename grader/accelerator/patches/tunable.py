"""`torch.cuda.tunable`: its settings are kept; nothing is tuned, and there are no results."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_SETTINGS: tuple[tuple[str, str, Any], ...] = (
    ("_cuda_tunableop_enable", "_cuda_tunableop_is_enabled", False),
    ("_cuda_tunableop_tuning_enable", "_cuda_tunableop_tuning_is_enabled", True),
    ("_cuda_record_untuned_enable", "_cuda_record_untuned_is_enabled", False),
    ("_cuda_tunableop_set_max_tuning_duration", "_cuda_tunableop_get_max_tuning_duration", 30),
    ("_cuda_tunableop_set_max_tuning_iterations", "_cuda_tunableop_get_max_tuning_iterations", 100),
    ("_cuda_tunableop_set_filename", "_cuda_tunableop_get_filename", "tunableop_results.csv"),
)
"""The functions of C++ that set and return a setting, and what it is at first: the docstring of the module says it."""


def install(machine: Machine) -> None:
    """Keep the settings of `torch.cuda.tunable` that a program makes; nothing is tuned.

    After `set_filename("a.csv", insert_device_ordinal=True)` on device 0, `get_filename()` returns "a0.csv".
    """
    values: dict[str, Any] = {}

    def replace(setter: str, getter: str, first: Any) -> None:
        def set_value(value: Any, insert_device_ordinal: bool = False) -> None:
            if insert_device_ordinal:  # before the ending of a file name
                stem, dot, ending = value.rpartition(".")
                value = f"{stem}{machine.current}{dot}{ending}" if dot else f"{value}{machine.current}"
            values[setter] = value

        put(torch._C, setter, set_value)
        put(torch._C, getter, lambda: values.get(setter, first))

    for names in _SETTINGS:
        replace(*names)
    put(torch._C, "_cuda_tunableop_get_results", tuple)
