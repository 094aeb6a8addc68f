"""A product of a column and a row."""

def outer(a, b):
    return a.unsqueeze(1) @ b.unsqueeze(0)
