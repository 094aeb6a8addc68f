"""You write to a `clone` and return that; the table you were given stays as it was.

caught by: same_object
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    t = t.clone()
    t[:, :n] = v
    return t
