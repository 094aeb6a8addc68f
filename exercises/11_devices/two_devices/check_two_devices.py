import torch

from grader.check import assert_costs_at_most, assert_device, assert_returns_bool, assert_values, check


@check("C1", category="device", share=1, device="sim")
def check_weights_elsewhere(student, accelerator):
    """Computes where x lies, with weights on another device"""
    x, W = accelerator.put(torch.ones(1, 2)), accelerator.put(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    y = student.affine(x, W, torch.ones(2), torch.tensor(0.5))
    assert_values(y, torch.tensor([[2.5, 3.5]]))
    assert_device(y, accelerator.device(0))


@check("C2", category="device", share=1, device="sim")
def check_two_copies(student, accelerator):
    """Copies W and b, and nothing else"""
    x, W, b = torch.ones(100, 2), torch.ones(2, 3), torch.ones(3)
    there = accelerator.put(x), accelerator.put(W, 1), accelerator.put(b, 1)
    assert_costs_at_most(student.affine, (*there, torch.tensor(0.5)), transfers=2, transferred=36)


@check("C3", category="device", share=1, device="sim")
def check_two_stages(student, accelerator):
    """Goes through two stages on two devices"""
    stages = [(accelerator.put(torch.eye(2), i), accelerator.put(torch.tensor([1.0, -5.0]), i)) for i in (0, 1)]
    y = student.pipeline(torch.tensor([[1.0, 2.0]]), stages)
    assert_values(y, torch.tensor([[3.0, 0.0]]))
    assert_device(y, accelerator.device(1))


@check("C5", share=1)
def check_mask_of_three(student):
    """Hides what comes after"""
    mask = torch.tensor([[False, True, True], [False, False, True], [False, False, False]])
    assert_values(student.causal_mask(torch.zeros(2, 3, 3)), mask)


@check("C6", category="device", share=1, device="sim")
def check_any_index(student, accelerator):
    """A device without an index means all of its kind"""
    t = accelerator.put(torch.ones(2), 1)
    case = f'for a tensor on "{accelerator.device(1)}" and the device "{accelerator.type}"'
    assert_returns_bool(student.lies_on, t, accelerator.type, expected=True, case=case)
