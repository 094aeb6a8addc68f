"""You `clone` the columns. A copy has memory of its own, so a write to it never reaches t.

caught by: views
keeps: first_rows, last, set_first_cols_
"""


def first_cols(t, n):
    return t[:, :n].clone()
