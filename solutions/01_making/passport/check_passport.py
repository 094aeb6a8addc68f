import torch

from grader.check import assert_costs_at_most, assert_isinstance, assert_true, assert_unchanged, assert_values, check

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.uint8, torch.int8, torch.int16]
DTYPES += [torch.int32, torch.int64, torch.bool]


def tensors(rng):
    """Tensors of 0 to 5 dims, with and without numbers, and views of others."""
    a, b, c = rng.sizes(3)
    base = rng.normal(a, b, c)
    made = [torch.zeros(()), torch.zeros(a), torch.zeros(0), torch.zeros(a, 0), torch.zeros(0, b, 1), base, base[0]]
    return [*made, base[:, 0, ::2], base.transpose(0, 2), base[:1].expand(9, b, c), torch.zeros(1, 1, a, 1, 1)]


def is_int(value, expected, what):
    assert_isinstance(value, int, what)
    assert_values(value, expected, what)


@check("C1", share=6, try_this="passport(torch.tensor(5.0)), passport(torch.zeros(0, 3))")
def check_shapes(student, rng):
    """Shapes of 0 to 5 dims"""
    for t in tensors(rng):
        result = student.passport(t)
        assert_isinstance(result["shape"], tuple, "the shape")
        assert_values(result["shape"], tuple(t.shape), "the shape")
        is_int(result["dims"], t.dim(), 'the item "dims"')
        is_int(result["numbers"], t.numel(), 'the item "numbers"')


@check("C2", category="dtype", share=2, try_this="passport(torch.zeros(1, dtype=torch.bfloat16))['dtype']")
def check_dtypes(student):
    """Every dtype"""
    for dtype in DTYPES:
        result = student.passport(torch.zeros(2, dtype=dtype))["dtype"]
        assert_true(result is dtype, "the value of dtype is not the dtype of the numbers, such as torch.int64")


@check("C3", category="memory", share=6, try_this="passport(torch.zeros(100, 100, dtype=torch.int16)[0])['bytes']")
def check_bytes(student, rng):
    """The bytes of tensors, views and numbers"""
    for t in tensors(rng):
        for numbers in (t, t.double(), t.short(), t.bool()):
            expected = t.numel() * numbers.element_size()
            is_int(student.passport(numbers)["bytes"], expected, "the number of bytes")


@check("C4", share=6, try_this="for t in (torch.tensor(1), torch.zeros(1, 1, 1)): print(t, brackets(t))")
def check_brackets(student, rng):
    """The brackets of 0 to 5 dims, and of none"""
    for t in tensors(rng):
        printed = repr(t).removeprefix("tensor(")
        is_int(student.brackets(t), len(printed) - len(printed.lstrip("[")), "the number of brackets")


@check("C5", share=8, try_this="for t in (torch.tensor(1).byte(), torch.zeros(2, 1).long()): print(t, shown(t))")
def check_shown(student):
    """What the print names"""
    for dtype in DTYPES:
        for t in (torch.zeros((), dtype=dtype), torch.zeros(2, dtype=dtype), torch.zeros(1, 2, dtype=dtype)):
            result = student.shown(t)
            assert_isinstance(result, set, "the result of `shown`")
            assert_values(result, {"dtype"} if "dtype=" in repr(t) else set(), "the result of `shown`")


@check("C2", category="device", share=2, device="sim", try_this='passport(torch.zeros(2, device="meta"))["device"]')
def check_device(student, accelerator, rng):
    """Names devices with their index"""
    for index in (0, 1):
        result = student.passport(accelerator.put(rng.normal(2, 3), index))["device"]
        assert_isinstance(result, str, "the device")
        assert_true(result == accelerator.device(index), "the device is not named with its index")


@check("C5", category="device", share=3, device="sim", try_this='with a GPU: shown(torch.zeros(2, device="cuda"))')
def check_device_shown(student, accelerator, rng):
    """A device other than the CPU is shown"""
    for t, expected in ((rng.normal(2), {"device"}), (torch.ones(2).double(), {"device", "dtype"})):
        assert_values(student.shown(accelerator.put(t, 1)), expected, "the result of `shown`")


@check("C6", category="performance", share=4, device="sim", try_this="look for print, repr, tolist, item and flatten")
def check_metadata(student, accelerator, rng):
    """Reads no numbers"""
    for numbers in (rng.normal(30, 4), rng.normal(30, 4).T):  # who flattens the second copies it
        there = accelerator.put(numbers)
        for function in (student.passport, student.brackets, student.shown):
            cost = assert_costs_at_most(function, (there,), transfers=0, syncs=0)
            assert_true(cost.bytes < there.nbytes, "the numbers of t are copied on the GPU; metadata are enough")
            with assert_unchanged(there, what="t"):
                function(there)
