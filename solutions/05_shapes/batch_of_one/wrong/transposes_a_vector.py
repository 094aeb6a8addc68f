"""You transpose a vector: it has one dim, so there is nothing to swap, and it comes back as it is.

caught by: three_numbers
keeps: as_batch, unbatch, as_batch_
"""


def column(v):
    return v.t()
