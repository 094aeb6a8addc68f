"""The device "sim" in a check process: it has a name here, so that a check can say it, and there is none of it."""

from __future__ import annotations

import contextlib
import types
from typing import Any

import torch
from torch.utils.backend_registration import rename_privateuse1_backend

_NONE_HERE = "there is no accelerator in the process of a check; `accelerator.put` makes a tensor for a worker's"


def name_the_device() -> None:
    """Give the simulated accelerator its name in this process.

    A name alone would break whatever of PyTorch's asks its accelerator something: optimizers, checkpointing, the random
    state, `torch.accelerator`. So a module says that there are no such devices.
    """
    rename_privateuse1_backend("sim")
    torch._register_device_module("sim", _module())


def _module() -> types.ModuleType:
    module = types.ModuleType("torch.sim")
    answers: dict[str, Any] = {
        **dict.fromkeys(("is_available", "is_initialized", "_is_in_bad_fork"), lambda: False),
        **dict.fromkeys(("device_count", "current_device"), lambda: 0),
        **dict.fromkeys(("manual_seed", "manual_seed_all", "synchronize"), lambda *_: None),
        **dict.fromkeys(("_lazy_init", "set_device", "get_rng_state", "set_rng_state"), _refuse),
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
        "device": lambda device: contextlib.nullcontext(),
    }
    vars(module).update(answers)
    return module


def _refuse(*_: Any, **__: Any) -> None:
    raise RuntimeError(_NONE_HERE)
