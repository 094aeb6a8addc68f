"""You stop so many rows from the end; for all rows that is -0, which is 0, and no row is left.

caught by: rows
keeps: first_cols, last, set_first_cols_
"""


def first_rows(t, n):
    return t[: -(len(t) - n)]
