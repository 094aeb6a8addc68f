"""You go through `t.data`: the numbers are shared, and no gradient finds its way back to t.

caught by: views
keeps: first_rows, last, set_first_cols_
"""


def first_cols(t, n):
    return t.data[:, :n]
