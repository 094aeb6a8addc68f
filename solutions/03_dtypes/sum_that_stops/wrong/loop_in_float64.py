"""You add in float64, but still one by one: each score is an operation of its own. Let sum run over all of them.

caught by: no_loop
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    return loop_sum(x.double()).to(x.dtype)
