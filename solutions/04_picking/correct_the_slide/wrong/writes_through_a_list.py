"""Your write does not reach t, as with a list of numbers in the first bracket: that gives a copy.

caught by: set_two_columns
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    t[:, list(range(n))].fill_(v)
    return t
