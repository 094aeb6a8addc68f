"""You leave a size to be guessed with -1: without any numbers, PyTorch cannot compute it from the others.

caught by: empty_batch
keeps: hwc_to_chw
"""


def flatten_items(x):
    return x.reshape(x.shape[0], -1)
