from itertools import accumulate

import torch

from grader.check import (
    allclose,
    assert_does_not_mutate,
    assert_preserves_dtype,
    assert_shares_no_memory,
    assert_tensor,
    assert_true,
    assert_values,
    call_with_poisoned_memory,
    check,
)

CLOSE = {"rtol": 1e-5, "atol": 1e-5}  # float32 sums of a few dozen numbers, in any order
DTYPES = (torch.float32, torch.float64, torch.int32, torch.int64)


def exact(rain):
    """The totals by plain Python: exact for ints, in float64 for floats."""
    columns = [list(accumulate(column)) for column in rain.T.tolist()]
    dtype = torch.float64 if rain.is_floating_point() else torch.int64
    return torch.tensor(columns, dtype=dtype).reshape(rain.T.shape).T


def some_rain(rng, dtype):
    """Some hours and more gauges, with a correction below 0 here and there."""
    hours, gauges = rng.integer(3, 6), rng.integer(7, 9)
    return (20 * rng.normal(hours, gauges, dtype=torch.float64)).to(dtype)


# What an answer takes from unset memory is for the rule on it. Everywhere else such memory is 0.


@check("C1", share=7, try_this="running_totals(torch.tensor([[1, 2, 3], [10, 20, 30]]))")
def check_random(student, probe, rng):
    """Running totals of random rain, also of no hours and of no gauges"""
    rain = some_rain(rng, torch.float32)
    cases = {"hours and gauges": rain, "a transposed rain": rain.T, "no hours": torch.zeros(0, 3)}
    cases |= {"no gauges": torch.zeros(4, 0), "one hour": rng.normal(1, 5), "one gauge": rng.normal(5, 1)}
    for case, rain in cases.items():
        asked = exact(rain)
        totals = probe.with_luck(student.running_totals, rain)
        assert_tensor(totals)
        assert_values(totals, asked, f"the result for {case}", **CLOSE)


@check("C2", share=2, try_this="torch.use_deterministic_algorithms(True); running_totals(torch.ones(4, 3).int())")
def check_unset_memory_at_random(student, probe, rng):
    """The same totals with any contents of uninitialized memory"""
    for dtype in DTYPES:
        rain = some_rain(rng, dtype)
        try:
            with_luck = probe.with_luck(student.running_totals, rain.clone())
        except RuntimeError:
            if dtype == torch.float32:
                raise
            continue  # an answer that takes no other dtype is for the rule on those
        assert_tensor(with_luck)
        without = call_with_poisoned_memory(student.running_totals, rain.clone())
        assert_true(allclose(without, with_luck), f"the result for {dtype} depends on uninitialized memory")


@check("C3", category="dtype", share=2, try_this="running_totals(torch.ones(4, 3, dtype=torch.int32)).dtype")
def check_dtype(student, rng):
    """Keeps the dtype of rain"""
    assert_preserves_dtype(student.running_totals, some_rain(rng, torch.float64), dtypes=DTYPES)


@check("C3", category="dtype", share=2, try_this="running_totals(torch.tensor([[0.1], [0.2]]).double())")
def check_precise(student, probe, rng):
    """Is as precise as the dtype of rain"""
    for dtype, large in ((torch.float64, 0), (torch.int64, 2**54 + 1)):
        rain = some_rain(rng, dtype)
        rain[1] += large
        asked = exact(rain)
        totals = probe.with_luck(student.running_totals, rain)
        assert_tensor(totals)
        if allclose(totals.double(), asked.double(), rtol=1e-3, atol=1e-3):  # a wrong value is for other checks
            text = f"the result for {dtype} was rounded by another dtype on the way"
            assert_true(allclose(totals, asked, rtol=1e-12, atol=1e-12), text)


@check("C4", category="memory", share=2, try_this="rain = torch.ones(2, 3); running_totals(rain); print(rain)")
def check_kept(student, rng):
    """Leaves rain as it was, and shares nothing with it"""
    # A conversion to the dtype that rain has already gives rain itself.
    for rain in (*(some_rain(rng, dtype) for dtype in DTYPES), rng.normal(1, 4)):
        totals = assert_does_not_mutate(student.running_totals, rain, what="rain", requiring=False)
        assert_shares_no_memory(totals, rain, base_name="rain")
    for rain in (torch.zeros(0, 3), torch.zeros(4, 0)):  # no element shows whether memory is shared
        assert_true(student.running_totals(rain) is not rain, "the result is rain itself; it must be a new tensor")
