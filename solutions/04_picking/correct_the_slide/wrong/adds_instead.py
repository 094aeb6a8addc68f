"""You add v to what stands there; to put v in these places, assign it.

caught by: set_two_columns
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    t[:, :n] += v
    return t
