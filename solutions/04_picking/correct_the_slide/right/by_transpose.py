"""Columns are the rows of the transpose; one row is lifted to a table with None."""


def first_rows(t, n):
    return t[slice(n)]


def first_cols(t, n):
    return first_rows(t.t(), n).t()


def last(t, keep):
    row = t[len(t) - 1]
    return row[None] if keep else row


def set_first_cols_(t, n, v):
    first_cols(t, n)[...] = v
    return t
