"""You change t and return nothing, as lists do; in PyTorch the tensor comes back, so that calls can be chained.

caught by: returned[reset_]
keeps: axpy_, sine_
"""


def reset_(t):
    t.zero_()
