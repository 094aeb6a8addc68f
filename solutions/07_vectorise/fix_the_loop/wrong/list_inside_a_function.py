"""You compute with Python numbers inside an `autograd.Function`; one mask over the whole of x needs no list.

caught by: no_loop_at_scale
breaks: C4, C5, C7
"""

import torch


class Energy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, thr):
        ctx.save_for_backward(x)
        ctx.thr = thr
        total = sum(value * value for value in x.flatten().tolist() if value > thr)
        return x.new_full((), total)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * grad * x * (x > ctx.thr), None


def energy_above(x, thr):
    return Energy.apply(x, thr)
