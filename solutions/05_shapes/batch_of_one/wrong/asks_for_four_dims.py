"""You require four dims. An answer of a model may be (1, 20), and the first size says how large a batch is.

caught by: unbatch
keeps: as_batch, column, as_batch_
"""


def unbatch(out):
    if out.dim() != 4 or out.shape[0] != 1:
        raise ValueError("no batch of one picture")
    return out.squeeze(0)
