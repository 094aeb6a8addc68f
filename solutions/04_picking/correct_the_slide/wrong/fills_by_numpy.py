"""You write by way of NumPy, which has no bfloat16. A slice of t takes the number in every dtype.

caught by: set
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    t.numpy()[:, :n] = v
    return t
