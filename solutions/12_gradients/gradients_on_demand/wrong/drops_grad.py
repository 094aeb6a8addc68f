"""You let `backward` write into the caller's tensors and set their `grad` to None. A `grad` from before is lost.

caught by: kept
keeps: leaf, steeper
"""

import torch


def grad_of(f, *xs):
    if not all(x.requires_grad for x in xs):
        xs = [leaf(x) for x in xs]
    for x in xs:
        x.grad = None
    f(*xs).backward()
    found = tuple(torch.zeros_like(x) if x.grad is None else x.grad for x in xs)
    for x in xs:
        x.grad = None
    return found
