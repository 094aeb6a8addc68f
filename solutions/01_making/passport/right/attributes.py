"""Attributes and len of the shape."""

import math

import torch


def passport(t):
    shape = tuple(int(size) for size in t.size())
    place = t.device.type if t.device.index is None else f"{t.device.type}:{t.device.index}"
    numbers = math.prod(shape)
    passport = {"shape": shape, "dims": t.ndim, "numbers": numbers}
    passport |= {"dtype": t.dtype, "device": place, "bytes": t.itemsize * numbers}
    return passport


def brackets(t):
    if 0 in t.shape:
        return 1
    return len(t.shape)


def shown(t):
    names = set()
    if 0 in t.shape:
        if len(t.shape) != 1:
            names.add("size")
        if t.dtype != torch.float32:
            names.add("dtype")
    elif t.dtype not in (torch.float, torch.long, torch.bool):
        names |= {"dtype"}
    if not t.is_cpu:
        names.add("device")
    return names
