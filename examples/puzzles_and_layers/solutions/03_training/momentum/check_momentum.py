import torch

from grader.check import check, is_instance, same_values


@check("C1", share=1, try_this="isinstance(Momentum([torch.ones(1, requires_grad=True)], 0.1, 0.9), torch.optim.Optimizer)")
def check_kind(student):
    """Is an optimizer"""
    w = torch.ones(2, requires_grad=True)
    is_instance(student.Momentum([w], lr=0.1, beta=0.5), torch.optim.Optimizer, "Momentum(...)")


@check("C2", share=3, try_this="three steps with the same gradient")
def check_steps(student, rng):
    """Five steps beside PyTorch's own"""
    yours = rng.normal(4, 3).requires_grad_()
    ours = yours.detach().clone().requires_grad_()
    optimizer = student.Momentum([yours], lr=0.1, beta=0.8)
    asked = torch.optim.SGD([ours], lr=0.1, momentum=0.8)
    for _ in range(5):
        ours.grad = rng.normal(4, 3)
        yours.grad = ours.grad.clone()
        optimizer.step()
        asked.step()
    same_values(yours, ours, "w after five steps")


@check("C3", share=2, try_this="a parameter whose grad is None, beside one that has a gradient")
def check_without_gradient(student, rng):
    """A parameter that nothing used"""
    used, unused = rng.normal(3).requires_grad_(), rng.normal(2).requires_grad_()
    before = unused.detach().clone()
    optimizer = student.Momentum([unused, used], lr=0.1, beta=0.5)
    used.sum().backward()
    optimizer.step()
    same_values(unused.detach(), before, "a parameter without a gradient")
