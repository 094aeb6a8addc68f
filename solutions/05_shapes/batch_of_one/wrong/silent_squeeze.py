"""You trust squeeze(0) to refuse a batch of two; it returns it as it is, and says nothing.

caught by: batch_of_two
keeps: as_batch, column, as_batch_
"""


def unbatch(out):
    return out.squeeze(0)
