"""You stop at n - 1, as the slide does. The stop itself is left out already, so n rows end at stop n.

caught by: two_rows
keeps: first_cols, last, set_first_cols_
"""


def first_rows(t, n):
    return t[0 : n - 1]
