"""Your two answers are swapped: t[-1] drops the dim, and t[-1:] keeps it with size 1.

caught by: last_day
keeps: first_rows, first_cols, set_first_cols_
"""


def last(t, keep):
    return t[-1] if keep else t[-1:]
