"""You divide by the number of columns, which gives a row and a column; t may have fewer dims or more.

caught by: best[many_dims]
keeps: pick
"""


def best(t):
    row, column = divmod(int(t.argmax()), t.shape[-1])
    return float(t.max()), (row, column)
