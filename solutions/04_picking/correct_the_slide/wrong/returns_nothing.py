"""You change t and return nothing: a function without return gives None.

caught by: same_object
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    t[:, :n] = v
