import torch

from grader.check import check, is_instance, is_tensor, plain, require, same_values


@check("C1", share=2)
def check_example(student, probe):
    """The gradient of x² y² at (3, 2)"""
    found, _, _ = probe.gradients(student.grad_of, "product of squares", [], [torch.tensor(3.0), torch.tensor(2.0)])
    found = plain(found)  # that it is a tuple has a check of its own
    is_instance(found, tuple, "the result")
    for gradient in found:
        is_tensor(gradient, "a gradient")
    same_values(found, (torch.tensor(24.0), torch.tensor(36.0)), "the result")


@check("C1", category="error", share=1)
def check_tuple(student, probe):
    """Returns a tuple"""
    found, _, _ = probe.gradients(student.grad_of, "product of squares", [], [torch.tensor(3.0), torch.tensor(2.0)])
    is_instance(found, tuple, "the result")


@check("C4", category="performance", share=1)
def check_one_call(student, probe):
    """Calls f once"""
    _, calls, _ = probe.gradients(student.grad_of, "product of squares", [], [torch.tensor(3.0), torch.tensor(2.0)])
    require(calls == 1, f"expected f to be called once, got {calls} calls")


@check("C7", share=1)
def check_words(student, probe):
    """Says up, down or flat for each entry"""
    # f is the sum of 2 x² - x⁴: its gradient is 4 x - 4 x³.
    x = torch.tensor([0.5, 2.0, 0.0, 1.0, -0.5])
    same_values(probe.words(student.steeper, "wave", [2.0], x), ["up", "down", "flat", "flat", "down"], "the list")
