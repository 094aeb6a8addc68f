"""A list of numbers in the first bracket gives a copy; the write goes there, and is lost.

caught by: set_two_columns
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    t[:, list(range(n))].fill_(v)
    return t
