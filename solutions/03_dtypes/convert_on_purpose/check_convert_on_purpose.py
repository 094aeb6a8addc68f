import math

import torch

from grader.check import (
    assert_close,
    assert_does_not_mutate,
    assert_does_not_use,
    assert_dtype,
    assert_no_loop,
    assert_values,
    check,
    raises,
)

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
MODES = {"trunc": math.trunc, "round": round, "floor": math.floor, "ceil": math.ceil}


@check("C1", share=4, try_this="x = torch.tensor([-2.5, -0.5, 0.5, 2.5]); to_int(x, 'round'), to_int(x, 'floor')")
def check_to_int(student, rng):
    """Converts halves, negative and large numbers"""
    for dtype in (torch.float32, torch.float64):
        halves = rng.whole(-40, 40, *rng.sizes(2), dtype=dtype) / 4
        large = rng.whole(2**20, 2**21, 5, dtype=dtype) + 0.5
        others = torch.tensor([2.0**-30, -(2.0**-30), 2**40, 2**51 + 0.5, -(2**52) - 1], dtype=dtype)  # beyond int32
        for x in (halves, halves.T, halves[:, ::2], large, -large, others, halves[:0], halves[0, 0].clone()):
            for mode, whole in MODES.items():
                expected = torch.tensor([whole(number) for number in x.flatten().tolist()], dtype=torch.int64)
                assert_values(
                    student.to_int(x, mode), expected.reshape(x.shape), f'the result of `to_int` for "{mode}"'
                )


@check("C1", category="dtype", share=1, try_this="to_int(torch.tensor([1.5]), 'floor').dtype")
def check_int64(student):
    """Gives int64"""
    for mode in MODES:
        assert_dtype(student.to_int(torch.tensor([1.5, -1.5]), mode), torch.int64, "the result of `to_int`")


@check(
    "C3", share=3, try_this="safe_cast(torch.tensor([-128]), torch.int8), safe_cast(torch.empty(0).int(), torch.int8)"
)
def check_safe_cast(student, rng):
    """Casts numbers up to both limits, between all integer dtypes"""
    for source in INTEGERS:
        for target in INTEGERS:
            pair = torch.iinfo(source), torch.iinfo(target)
            low, high = max(each.min for each in pair), min(each.max for each in pair)
            x = torch.tensor([[low, high], [rng.integer(0, 100), 0]], dtype=source)
            for case in (x, x.T, x[:0]):
                assert_close(student.safe_cast(case, target), case.to(target), "the result of `safe_cast`")


@check("C4", category="error", share=3, try_this="safe_cast(torch.tensor([-1], dtype=torch.int8), torch.uint8)")
def check_refuses(student, rng):
    """Refuses numbers just beyond either limit, of all integer dtypes"""
    for target in INTEGERS[:-1]:
        low, high = torch.iinfo(target).min, torch.iinfo(target).max
        for source in reversed(INTEGERS):  # from wide to narrow
            limits = torch.iinfo(source)
            # Of a dtype as wide, a number that became another one comes back unharmed.
            as_wide = source.itemsize == target.itemsize
            case = "a number beyond the range, of a dtype as wide" if as_wide else "a number beyond the range"
            for number in (low - 1, high + 1, high + rng.integer(2, 100), limits.min, limits.max):
                if limits.min <= number <= limits.max and not low <= number <= high:
                    x = torch.tensor([[0, 1], [number, 2]], dtype=source)
                    raises(student.safe_cast, x, target, error=OverflowError, case=case)


@check("C6", share=3, try_this="to_half(torch.tensor([-1e9, 65519.0, float('inf'), float('nan')]))")
def check_to_half(student, rng):
    """Converts numbers within and beyond the range, infinities and NaN"""
    beyond = torch.tensor([65504.0, 65600.0, 70000.0, 1e9, 3e38, math.inf, math.nan, 0.0])
    x = torch.cat([100 * rng.normal(5), beyond, -beyond])
    for case in (x, x.reshape(1, -1).T, x[:0]):
        expected = case.clamp(-65504.0, 65504.0)
        assert_values(student.to_half(case), expected, "the result of `to_half`", rtol=1e-3, atol=1e-3)


@check("C6", category="dtype", share=1, try_this="to_half(torch.ones(2)).dtype")
def check_float16(student):
    """Gives float16"""
    assert_dtype(student.to_half(torch.tensor([1.0, 1e9])), torch.float16, "the result of `to_half`")


@check("C7", category="memory", share=1, try_this="x = torch.tensor([1e9]); to_half(x); print(x)")
def check_arguments_stay(student, rng):
    """Leaves the arguments as they are"""
    x, whole = rng.normal(4, 3, dtype=torch.float64) * 1e6, rng.whole(1, 99, 4, 3)
    for given in (x, x.float()):
        assert_does_not_mutate(student.to_int, given, "floor", what="x", requiring=False)
    assert_does_not_mutate(student.safe_cast, whole, torch.uint8, what="x", requiring=False)
    assert_does_not_mutate(student.to_half, x.float(), what="x", requiring=False)


@check("C7", category="performance", share=1, try_this="look for a `for` over elements")
def check_no_loop(student, rng):
    """No loop over elements"""
    few, many = rng.whole(0, 98, 4) + 0.75, rng.whole(0, 98, 40_000) + 0.75
    for function in (student.to_int, student.safe_cast, student.to_half):
        assert_does_not_use(function, "tolist", "unbind")
    assert_no_loop(student.to_int, (few, "round"), (many, "round"))
    assert_no_loop(student.safe_cast, (few.int(), torch.int8), (many.int(), torch.int8))
    assert_no_loop(student.to_half, (few,), (many,))
