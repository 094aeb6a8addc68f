"""You reshape to (-1), which is one dim again; a column has a second one of size 1.

caught by: three_numbers
keeps: as_batch, unbatch, as_batch_
"""


def column(v):
    return v.reshape(-1)
