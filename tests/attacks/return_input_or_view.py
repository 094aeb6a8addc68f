r"""Returns a copy where a view is asked, and a new tensor where the argument is.

---
exercise: window
verdicts: {all: failed}
message: is a copy; it must share memory
"""


def window(x, start, size):
    return x[start : start + size].clone()


def add_into(a, b):
    return a + b
