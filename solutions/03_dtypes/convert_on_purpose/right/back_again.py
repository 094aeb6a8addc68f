"""Casts and compares with what it was; where for the limits of float16."""

import torch


def to_int(x, mode):
    match mode:
        case "trunc":
            whole = x.fix()
        case "round":
            whole = x.round()
        case "floor":
            whole = x.floor()
        case "ceil":
            whole = -((-x).floor())
        case _:
            raise ValueError("no such mode")
    return whole.long()


def safe_cast(x, dtype):
    if x.dtype == dtype:
        return x
    result = x.to(dtype)
    if not torch.equal(result.to(torch.int64), x.to(torch.int64)):
        raise OverflowError("it does not fit")
    return result


def to_half(x):
    half = x.half()
    largest = torch.full_like(half, 65504.0)
    return torch.where(half.isinf(), largest.copysign(half), half)
