import math

import pytest
import torch

from grader.check import (
    accepts,
    check,
    does_not_call,
    is_tensor,
    no_loop,
    raises,
    require,
    same_dtype,
    same_shape,
    same_values,
    unchanged,
)

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
MODES = {"trunc": math.trunc, "round": round, "floor": math.floor, "ceil": math.ceil}
EDGES = "x = torch.tensor([-2.5, -0.5, 0.5, 2.5]); [to_int(x, mode) for mode in ('trunc', 'round', 'floor', 'ceil')]"
LIMITS = "safe_cast(torch.tensor([-128, 127]), torch.int8), safe_cast(torch.empty(0).long(), torch.uint8)"
BEYOND = "safe_cast(torch.tensor([-1]), torch.uint8), safe_cast(torch.tensor([-129]), torch.int8)"
HALVES = "to_half(torch.tensor([-1e9, 65504.0, 65519.0, 70000.0, float('inf'), float('nan')]))"


@check("C1", share=1, try_this=EDGES)
@pytest.mark.parametrize("mode", MODES)
def check_to_int(student, rng, mode):
    """Converts halves, negative and large numbers"""
    for dtype in (torch.float32, torch.float64):
        a, b, _ = rng.sizes(3)
        halves = rng.whole(-40, 40, a, b, dtype=dtype) / 4
        large = rng.whole(2**20, 2**21, a, dtype=dtype) + 0.5
        tiny = torch.tensor([2.0**-30, -(2.0**-30)], dtype=dtype)
        huge = torch.tensor([2**40, 2**51 + 0.5, -(2**52) - 1], dtype=dtype)  # beyond int32, and exact in float64 only
        for x in (halves, halves.T, halves[:, ::2], large, -large, tiny, huge, halves[:0], halves[0, 0].clone()):
            expected = torch.tensor([MODES[mode](number) for number in x.flatten().tolist()], dtype=torch.int64)
            yours = student.to_int(x, mode)
            is_tensor(yours, "the result of `to_int`")
            same_shape(yours, x, "the result of `to_int`")
            same_values(yours, expected.reshape(x.shape), "the result of `to_int`")


@check("C1", category="dtype", share=1, try_this="to_int(torch.tensor([1.5]), 'floor').dtype")
def check_int64(student):
    """Gives int64"""
    for mode in MODES:
        same_dtype(student.to_int(torch.tensor([1.5, -1.5]), mode), torch.int64, "the result of `to_int`")


@check(
    "C2", category="error", share=1, try_this="to_int(torch.tensor([1.0]), 'Round'), to_int(torch.tensor([1.0]), '')"
)
def check_modes(student, rng):
    """Refuses all other modes"""
    for mode in ("Round", "", "nearest", " floor", "abs", "half"):
        raises(student.to_int, torch.tensor([1.0]), mode, error=ValueError, case="a mode that is not one of the four")


@check("C3", share=3, try_this=LIMITS)
def check_safe_cast(student, rng):
    """Casts numbers up to both limits, between all integer dtypes"""
    for source in INTEGERS:
        for target in INTEGERS:
            pair = torch.iinfo(source), torch.iinfo(target)
            low, high = max(each.min for each in pair), min(each.max for each in pair)
            x = torch.tensor([[low, high], [rng.integer(0, 100), 0]], dtype=source)
            for case in (x, x.T, x[:0]):
                yours = accepts(student.safe_cast, case, target, error=OverflowError, case="numbers that fit")
                is_tensor(yours, "the result of `safe_cast`")
                same_dtype(yours, target, "the result of `safe_cast`")
                require(yours.tolist() == case.tolist(), "the result of `safe_cast` has other numbers than x")


@check("C4", category="error", share=3, try_this=BEYOND)
def check_refuses(student, rng):
    """Refuses numbers just beyond either limit, of all integer dtypes"""
    for target in INTEGERS[:-1]:
        limits = torch.iinfo(target)
        for number in (limits.min - 1, limits.max + 1, limits.max + 1 + rng.integer(1, 99), -(2**62)):
            x = torch.tensor([[0, 1], [number, 2]])
            raises(student.safe_cast, x, target, error=OverflowError, case="a number beyond the range")
        for source in INTEGERS:
            pair = torch.iinfo(source)
            for number in {pair.min, pair.max} - {limits.min, limits.max}:
                if not limits.min <= number <= limits.max:
                    x, case = torch.tensor([0, number], dtype=source), "a number of another dtype beyond the range"
                    raises(student.safe_cast, x, target, error=OverflowError, case=case)


@check("C5", category="memory", share=1, try_this="x = torch.tensor([1]).to(torch.int8); safe_cast(x, torch.int8) is x")
def check_itself(student, rng):
    """Returns x itself if it has the dtype, for all integer dtypes"""
    for dtype in INTEGERS:
        x = rng.whole(0, 99, 3, dtype=dtype)
        require(student.safe_cast(x, dtype) is x, "the result is another tensor than x, which has the dtype already")


@check("C6", share=3, try_this=HALVES)
def check_to_half(student, rng):
    """Converts numbers within and beyond the range, infinities and NaN"""
    inside, beyond = rng.normal(5) * 100, torch.tensor([65504.0, 65600.0, 70000.0, 1e9, 3e38, math.inf])
    expected = torch.cat([inside, torch.full((6,), 65504.0), torch.full((6,), -65504.0), torch.tensor([math.nan, 0.0])])
    x = torch.cat([inside, beyond, -beyond, torch.tensor([math.nan, 0.0])])
    for case, right in ((x, expected), (x.reshape(1, -1).T, expected.reshape(-1, 1)), (x[:0], expected[:0])):
        yours = student.to_half(case)
        is_tensor(yours, "the result of `to_half`")
        same_shape(yours, right, "the result of `to_half`")
        same_values(yours, right, "the result of `to_half`", rtol=1e-3, atol=1e-3)


@check("C6", category="dtype", share=1, try_this="to_half(torch.ones(2)).dtype")
def check_float16(student):
    """Gives float16"""
    same_dtype(student.to_half(torch.tensor([1.0, 1e9])), torch.float16, "the result of `to_half`")


@check("C7", category="memory", share=1, try_this="x = torch.tensor([1e9]); to_half(x); print(x)")
def check_arguments_stay(student, rng):
    """Leaves the arguments as they are"""
    x, whole = rng.normal(4, 3) * 1e6, rng.whole(1, 99, 4, 3)
    wide = rng.normal(4, 3, dtype=torch.float64) * 1e6
    with unchanged(x, wide, whole, what="x"):
        results = student.to_int(x, "floor"), student.safe_cast(whole, torch.uint8), student.to_half(x)
        results = *results, student.to_int(wide, "floor")
    require(None not in results, "a result is None (is a `return` missing?)")


@check("C7", category="performance", share=1, try_this="look for a `for` over elements")
def check_no_loop(student, rng):
    """No loop over elements"""
    few, many = rng.uniform(4), rng.uniform(40_000)
    does_not_call(student.to_int, "tolist", "item", "unbind")
    for function in (student.safe_cast, student.to_half):
        does_not_call(function, "tolist", "unbind")
    no_loop(student.to_int, (few, "round"), (many, "round"))
    no_loop(student.to_half, (few,), (many,))
    no_loop(student.safe_cast, (rng.whole(1, 99, 4), torch.int8), (rng.whole(1, 99, 40_000), torch.int8))
