"""You repeat the smaller size where the larger is a multiple of it; only a size of 1 is stretched.

caught by: one_misfit
keeps: broadcast, padded
"""


def met(x, y):
    small, large = sorted((x, y))
    if small == 0:
        fits = large < 2
    else:
        fits = large % small == 0
    if not fits:
        raise ValueError(f"{large} is not a multiple of {small}")
    return large if small else 0
