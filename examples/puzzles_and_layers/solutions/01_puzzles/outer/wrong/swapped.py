"""You put b along the rows and a along the columns; rows belong to a.

caught by: random
"""

def outer(a, b):
    return b[:, None] * a
