"""Your rows are a copy, such as a list of numbers in the brackets gives. A slice gives a view.

caught by: write_shows
keeps: first_cols, last, set_first_cols_
"""


def first_rows(t, n):
    return t[list(range(n))]
