"""You `detach` the features: the linear layer learns, and the layers before it get no gradient.

caught by: gradients
keeps: hwc_to_chw
"""


def flatten_items(x):
    return x.detach().flatten(1)
