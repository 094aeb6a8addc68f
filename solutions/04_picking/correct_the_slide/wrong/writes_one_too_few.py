"""You write to the columns before n - 1; the slide's 0:1 is one column, and 0:2 is two.

caught by: set_two_columns
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    t[:, 0 : n - 1] = v
    return t
