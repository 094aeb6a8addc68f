"""You make a row of shape (1, n): the new dim has to come after the one of v.

caught by: three_numbers
keeps: as_batch, unbatch, as_batch_
"""


def column(v):
    return v.unsqueeze(0)
