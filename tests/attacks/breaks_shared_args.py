r"""Takes its arguments for two tensors when they are one.

---
exercise: window
verdicts: {adds_to_itself: failed}
"""


def window(x, start, size):
    return x[start : start + size]


def add_into(a, b):
    if a is b:
        a = a.clone()
    return a.add_(b)
