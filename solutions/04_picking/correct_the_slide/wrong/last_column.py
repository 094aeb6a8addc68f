"""You take the last column: t[:, -1] goes through all rows; the last row is chosen before the comma.

caught by: last_day
keeps: first_rows, first_cols, set_first_cols_
"""


def last(t, keep):
    return t[:, -1:] if keep else t[:, -1]
