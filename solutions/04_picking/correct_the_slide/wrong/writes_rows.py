"""You write to rows: without a colon and a comma in front, the slice is one of rows.

caught by: set_two_columns
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    t[:n] = v
    return t
