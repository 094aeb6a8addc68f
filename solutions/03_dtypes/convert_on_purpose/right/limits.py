"""aminmax for the limits; nan_to_num for infinities after the cast."""

import torch


def to_int(x, mode):
    functions = {"trunc": torch.trunc, "round": torch.round, "floor": torch.floor, "ceil": torch.ceil}
    if (function := functions.get(mode)) is None:
        raise ValueError(mode)
    return function(x).type(torch.int64)


def safe_cast(x, dtype):
    if x.numel():
        low, high = (int(number) for number in torch.aminmax(x))
        limits = torch.iinfo(dtype)
        if low < limits.min or high > limits.max:
            raise OverflowError(f"{low} to {high} is too much for {dtype}")
    return x.to(dtype)


def to_half(x):
    return torch.nan_to_num(x.half(), nan=float("nan"))
