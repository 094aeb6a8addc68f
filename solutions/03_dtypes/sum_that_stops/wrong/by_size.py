"""You add the small scores first. That is a good habit, yet 1e8 still swallows the ones that come before it.

caught by: cancels
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    flat = x.flatten()
    return flat[flat.abs().argsort()].sum()
