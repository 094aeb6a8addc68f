import torch

from grader.check import assert_costs_at_most, assert_values, check


@check("C1", share=1)
def check_log(student):
    """The numbers of three losses"""
    assert_values(student.loss_log([torch.tensor(0.5), torch.tensor(0.25), torch.tensor(2.0)]), [0.5, 0.25, 2.0])


@check("C2", category="device", share=2, device="sim")
def check_one_wait(student, accelerator):
    """Waits once for five losses"""
    losses = [accelerator.put(torch.tensor(float(number))) for number in range(5)]
    assert_costs_at_most(student.loss_log, (losses,), syncs=1, transfers=1)


@check("C3", share=2)
def check_first(student):
    """Finds the first number that is not finite"""
    assert_values(student.first_bad(torch.tensor([1.0, float("nan"), 2.0, float("inf")])), 1)
    assert_values(student.first_bad(torch.tensor([1.0, 2.0])), -1)
