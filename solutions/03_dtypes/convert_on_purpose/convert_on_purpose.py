"""also right: detached, right_in_float64"""

import torch

MODES = {"trunc": torch.trunc, "round": torch.round, "floor": torch.floor, "ceil": torch.ceil}


def to_int(x, mode):
    if mode not in MODES:
        raise ValueError(f"there is no mode {mode!r}")
    return MODES[mode](x).to(torch.int64)


def safe_cast(x, dtype):
    # Compared in int64: next to a uint8 tensor a limit such as -128 would be converted to uint8 itself, and be 128.
    limits, wide = torch.iinfo(dtype), x.to(torch.int64)
    if bool(((wide < limits.min) | (wide > limits.max)).any()):
        raise OverflowError(f"a number does not fit into {dtype}")
    return x.to(dtype)


def to_half(x):
    largest = torch.finfo(torch.float16).max
    return x.clamp(-largest, largest).to(torch.float16)
