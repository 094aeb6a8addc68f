"""You write to the single column number n; a number in the brackets is one column, a slice is many.

caught by: set_two_columns
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    t[:, min(n, t.shape[1] - 1)] = v
    return t
