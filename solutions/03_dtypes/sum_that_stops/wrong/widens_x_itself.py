"""You make float64 of the caller's tensor through `x.data`. Take a float64 tensor of your own: x.double() is one.

caught by: kept
keeps: loop_sum, loop_error
"""


def accurate_sum(x):
    dtype = x.dtype
    x.data = x.data.double()
    return x.sum().to(dtype)
