"""You add what is to be multiplied.

caught by: small
"""

def outer(a, b):
    return a[:, None] + b
