"""You slice the rows. What stands before the comma is for rows; for columns, take all rows first.

caught by: two_columns
keeps: first_rows, last, set_first_cols_
"""


def first_cols(t, n):
    return t[:n]
