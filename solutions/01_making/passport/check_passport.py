import pytest
import torch

from grader.check import check, is_instance, require, same_values, unchanged, uses_at_most

SHAPES = "passport(torch.tensor(5.0)), passport(torch.zeros(0, 3)), passport(torch.zeros(4, 1))"
DTYPES = "[passport(torch.zeros(1, dtype=d))['dtype'] for d in (torch.int64, torch.bool, torch.bfloat16)]"
BYTES = "t = torch.zeros(100, 100, dtype=torch.int16); passport(t[0])['bytes'], passport(t[:, :1])['bytes']"
PRINTS = "for t in (torch.tensor(1), torch.zeros(0), torch.zeros(1, 1, 1)): print(t, brackets(t))"
NAMES = "for t in (torch.zeros(0, 2), torch.tensor(1).byte(), torch.zeros(0).long()): print(t, shown(t))"
DTYPE_LIST = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.uint8, torch.int8, torch.int16]
DTYPE_LIST += [torch.int32, torch.int64, torch.bool]


def tensors(rng):
    """Tensors of 0 to 5 dims, with and without numbers, and windows on others."""
    a, b, c = rng.sizes(3)
    base = rng.normal(a, b, c)
    made = [torch.zeros(()), torch.zeros(a), torch.zeros(0), torch.zeros(a, 0), torch.zeros(0, b, 1), base, base[0]]
    return [*made, base[:, 0, ::2], base.transpose(0, 2), base[:1].expand(9, b, c), torch.zeros(1, 1, a, 1, 1)]


def printed(t):
    """What a print of t shows: how many brackets open it, and what it names."""
    text = repr(t).removeprefix("tensor(")
    return len(text) - len(text.lstrip("[")), {name for name in ("dtype", "size") if f"{name}=" in text}


@check("C1", share=6, try_this=SHAPES)
def check_shapes(student, rng):
    """Shapes of 0 to 5 dims"""
    for t in tensors(rng):
        result = student.passport(t)
        shape = result["shape"]
        is_instance(shape, tuple, "the shape")
        same_values(shape, tuple(t.shape), "the shape")
        for key, expected in (("dims", t.dim()), ("numbers", t.numel())):
            is_instance(result[key], int, f'the item "{key}"')
            same_values(result[key], expected, f'the item "{key}"')


@check("C2", category="dtype", share=2, try_this=DTYPES)
def check_dtypes(student):
    """Every dtype"""
    for dtype in DTYPE_LIST:
        result = student.passport(torch.zeros(2, dtype=dtype))["dtype"]
        require(result is dtype, "the value of dtype is not the dtype of the numbers, such as torch.int64")


@check("C3", category="memory", share=6, try_this=BYTES)
def check_bytes(student, rng):
    """The bytes of tensors, windows and numbers"""
    for t in tensors(rng):
        for dtype in (torch.float32, torch.float64, torch.int16, torch.bool):
            numbers = t.to(dtype)
            result = student.passport(numbers)["bytes"]
            is_instance(result, int, "the number of bytes")
            same_values(result, t.numel() * numbers.element_size(), "the number of bytes")
        same_values(student.passport(t)["bytes"], 4 * t.numel(), "the number of bytes of a window")


@check("C4", share=6, try_this=PRINTS)
def check_brackets(student, rng):
    """The brackets of 0 to 5 dims, and of none"""
    for t in tensors(rng):
        result = student.brackets(t)
        is_instance(result, int, "the number of brackets")
        same_values(result, printed(t)[0], "the number of brackets")


@check("C5", share=4, try_this=NAMES)
@pytest.mark.parametrize("numbers", [True, False], ids=["of tensors with numbers", "of tensors without numbers"])
def check_shown(student, numbers):
    """What the print names"""
    for dtype in DTYPE_LIST:
        for shape in ((), (2,), (1, 2)) if numbers else ((0,), (2, 0), (0, 1, 3)):
            t = torch.zeros(shape, dtype=dtype)
            result = student.shown(t)
            is_instance(result, set, "the result of `shown`")
            same_values(result, printed(t)[1], "the result of `shown`")


@check("C2", category="device", share=2, device="sim", try_this='passport(torch.zeros(2, device="meta"))["device"]')
def check_device(student, accelerator, rng):
    """Names devices with their index"""
    for index in (0, 1):
        t = accelerator.put(rng.normal(2, 3), index)
        result = student.passport(t)["device"]
        is_instance(result, str, "the device")
        require(result == accelerator.device(index), "the device is not named with its index")


@check("C5", category="device", share=3, device="sim", try_this='with a GPU: shown(torch.zeros(2, device="cuda"))')
def check_device_shown(student, accelerator, rng):
    """A device other than the CPU is shown"""
    for t, expected in ((rng.normal(2), {"device"}), (torch.ones(2).double(), {"device", "dtype"})):
        same_values(student.shown(accelerator.put(t, 1)), expected, "the result of `shown`")


@check("C6", category="performance", share=4, device="sim", try_this="look for print, repr, tolist and item")
def check_metadata(student, accelerator, rng):
    """Reads no numbers"""
    for t in (rng.normal(30, 4), rng.normal(0, 4)):
        there = accelerator.put(t)
        for function in (student.passport, student.brackets, student.shown):
            uses_at_most(function, (there,), transfers=0, syncs=0)
            with unchanged(t, what="t"):
                function(t)
