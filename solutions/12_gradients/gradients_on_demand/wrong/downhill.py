"""You say where to go to make f smaller; the rule wants the way f goes when the entry grows.

caught by: words
keeps: grad_of, leaf
"""


def steeper(f, x):
    (slopes,) = grad_of(f, x)
    return ["down" if slope > 0 else "up" if slope < 0 else "flat" for slope in slopes.tolist()]
