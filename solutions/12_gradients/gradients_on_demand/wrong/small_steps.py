"""You estimate the slope from small steps, with two calls of f for each entry, and errors in the last digits.

caught by: one_call
breaks: C4, C7
keeps: steeper
"""

import torch


def grad_of(f, *xs):
    wide = [x.detach().double() for x in xs]
    found = []
    for place, x in enumerate(wide):
        slopes = torch.zeros_like(x)
        for i in range(x.numel()):
            step = torch.zeros_like(x)
            step.view(-1)[i] = 1e-5
            up, down = list(wide), list(wide)
            up[place], down[place] = x + step, x - step
            slopes.view(-1)[i] = (f(*up) - f(*down)) / 2e-5
        found.append(slopes.to(xs[place].dtype if xs[place].is_floating_point() else torch.float32))
    return tuple(found)
