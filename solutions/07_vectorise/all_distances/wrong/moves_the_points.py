"""You move the points to the origin in place. They belong to the caller, who finds them elsewhere.

caught by: kept
keeps: pairwise_lean
"""


def pairwise(a, b):
    if len(b):
        centre = b.mean(0)
        a -= centre
        b -= centre
    return (a[:, None] - b).square().sum(-1).sqrt()
