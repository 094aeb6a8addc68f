"""You choose the rows with a list of numbers; that copies them. A slice gives a view.

caught by: write_shows
keeps: first_cols, last, set_first_cols_
"""


def first_rows(t, n):
    return t[list(range(n))]
