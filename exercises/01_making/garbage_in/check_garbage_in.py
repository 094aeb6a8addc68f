import torch

from grader.check import (
    allclose,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_values,
    call_with_poisoned_memory,
    check,
)


@check("C2", share=4)
def check_unset_memory(student):
    """The same totals where memory was full of NaN"""
    rain = torch.tensor([[1.0, 0.0], [2.0, 0.5], [0.0, 3.0]])
    # Each gets rain of its own: what is changed in it is for the rule on that.
    once = student.running_totals(rain.clone())
    assert_tensor(once)
    again = call_with_poisoned_memory(student.running_totals, rain.clone())
    text = "the result depends on uninitialized memory"
    # What is right only with NaN in memory is for the hidden checks: here luck would decide.
    steady = allclose(again, once) or allclose(again, rain.cumsum(0))
    assert_true(steady, text, f"{text}\nthis time            {once}\nwith NaN in memory   {again}")


@check("C1", share=1)
def check_small(student, probe):
    """Adds up three hours of two gauges"""
    # Uninitialized memory is 0 here: what an answer takes from it is for the rule on that, not for luck.
    totals = probe.with_luck(student.running_totals, torch.tensor([[1.0, 0.0], [2.0, 0.5], [0.0, 3.0]]))
    assert_tensor(totals)
    assert_shape(totals, (3, 2))
    assert_values(totals, torch.tensor([[1.0, 0.0], [3.0, 0.5], [3.0, 3.5]]))
