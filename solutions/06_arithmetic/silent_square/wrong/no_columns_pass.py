"""You refuse more than one column. A tensor of shape (n, 0) has no column, and is not a column either.

caught by: other_shapes
keeps: mse
"""


def as_vector(t):
    if t.dim() not in (1, 2) or (t.dim() == 2 and t.shape[1] > 1):
        raise ValueError("a vector or a column")
    return t.reshape(-1)
