"""You call `backward`, which adds to the `grad` that the caller's tensors have; the second call gives twice as much.

caught by: kept
keeps: steeper
"""


def grad_of(f, *xs):
    for x in xs:
        if x.is_floating_point():
            x.requires_grad_()
    own = [x if x.is_floating_point() else x.float().requires_grad_() for x in xs]
    f(*own).backward()
    return tuple(x.new_zeros(x.shape) if x.grad is None else x.grad.clone() for x in own)
