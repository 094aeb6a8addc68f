import torch

from grader.check import assert_isinstance, assert_values, check


@check("C1", share=1, try_this="isinstance(Momentum([torch.ones(1, requires_grad=True)], 0.1, 0.9), torch.optim.Optimizer)")
def check_kind(student):
    """Is an optimizer"""
    w = torch.ones(2, requires_grad=True)
    assert_isinstance(student.Momentum([w], lr=0.1, beta=0.5), torch.optim.Optimizer, "Momentum(...)")


@check("C2", share=3, try_this="three steps with the same gradient")
def check_steps(student, probe, rng):
    """Five steps beside PyTorch's own"""
    w, gradients = rng.normal(4, 3), [rng.normal(4, 3) for _ in range(5)]
    (actual,) = probe.stepped(student.Momentum, [w], [[gradient] for gradient in gradients], 0.1, 0.8)
    own = w.clone().requires_grad_()
    optimizer = torch.optim.SGD([own], lr=0.1, momentum=0.8)
    for own.grad in gradients:
        optimizer.step()
    assert_values(actual, own.detach(), "w after five steps")


@check("C3", share=2, try_this="a parameter whose grad is None, beside one that has a gradient")
def check_without_gradient(student, probe, rng):
    """A parameter that nothing used"""
    used, unused = rng.normal(3), rng.normal(2)
    actual, _ = probe.stepped(student.Momentum, [unused, used], [[None, torch.ones(3)]], 0.1, 0.5)
    assert_values(actual, unused, "a parameter without a gradient")
