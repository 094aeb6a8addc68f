SECRET = "CANARY_REFERENCE"


def window(x, start, size):
    return x[start : start + size]


def add_into(a, b):
    return a.add_(b)
