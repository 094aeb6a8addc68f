"""You begin at 1; rows are counted from 0, and t[0] is the first.

caught by: two_rows
keeps: first_cols, last, set_first_cols_
"""


def first_rows(t, n):
    return t[1 : n + 1]
