"""You return another tensor, such as the columns you wrote to; return t itself, with all of its columns.

caught by: same_object
keeps: first_rows, first_cols, last
"""


def set_first_cols_(t, n, v):
    return t[:, :n].fill_(v)
