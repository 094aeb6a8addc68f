r"""Returns a tensor with code hanging on it: hooks, a graph of its own, attributes.

---
exercise: double
"""

import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return 2 * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        print("BREACH: backward ran")
        return grad


def double(x):
    if not x.is_floating_point():
        return 2 * x
    result = Double.apply(x.detach().clone().requires_grad_())
    result.retain_grad()
    result.register_hook(lambda grad: print("BREACH: a hook ran"))
    result.spy = type("Spy", (), {"__del__": lambda self: None, "__reduce__": lambda self: (print, ("BREACH",))})()
    return result


def halve(x):
    return x / 2
