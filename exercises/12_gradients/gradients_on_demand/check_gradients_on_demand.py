from contextlib import suppress

import torch

from grader.check import as_tuples, assert_close, assert_isinstance, assert_true, assert_values, check


@check("C1", share=2)
def check_example(student, probe):
    """The gradient of x² y² at (3, 2)"""
    found = as_tuples(student.grad_of(probe.function("x**2 * y**2"), torch.tensor(3.0), torch.tensor(2.0)))
    assert_isinstance(found, tuple)
    for gradient, expected in zip(found, (24.0, 36.0), strict=True):
        assert_close(gradient, torch.tensor(expected), "a gradient")


@check("C1", category="error", share=1)
def check_tuple(student, probe):
    """Returns a tuple"""
    assert_isinstance(student.grad_of(probe.function("x**2 * y**2"), torch.tensor(3.0), torch.tensor(2.0)), tuple)


@check("C4", category="performance", share=1)
def check_one_call(student, probe):
    """Calls f once, also if it does not use y, and in `steeper`"""
    for term, numbers in (("x**2 * y**2", (3.0, 2.0)), ("x**2", (3.0, 2.0)), ("x**2", ([1.0, 2.0],))):
        f, function = probe.function(term), student.grad_of if len(numbers) == 2 else student.steeper
        with suppress(RuntimeError):  # whether it works without y is for C3
            function(f, *map(torch.tensor, numbers))
        assert_true(f.calls == 1, f"expected f, the sum of {term}, to be called once; got {f.calls} calls")


@check("C7", share=1)
def check_words(student, probe):
    """Says up, down or flat for 2 x² - x⁴ at 0.5, 2, 0, 1 and -0.5"""
    f = probe.function("2 * x**2 - x**4")  # its gradient is 4 x - 4 x³
    words = student.steeper(f, torch.tensor([0.5, 2.0, 0.0, 1.0, -0.5]))
    assert_values(words, ["up", "down", "flat", "flat", "down"], "the list")
