"""Your words have no third case: where the gradient is 0, f is neither going up nor down.

caught by: words
keeps: grad_of, leaf
"""


def steeper(f, x):
    (slopes,) = grad_of(f, x)
    return ["up" if slope > 0 else "down" for slope in slopes.tolist()]
