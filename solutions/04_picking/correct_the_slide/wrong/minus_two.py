"""You begin at -2, which is the row before the last: -1 is the last, since there is no -0.

caught by: last_day
keeps: first_rows, first_cols, set_first_cols_
"""


def last(t, keep):
    return t[-2:-1] if keep else t[-2]
