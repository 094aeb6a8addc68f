"""You read the stop as the last row that is taken; it is the first that is not.

caught by: two_rows
keeps: first_cols, last, set_first_cols_
"""


def first_rows(t, n):
    return t[0 : n + 1]
