r"""Returns a list, and None.

---
exercise: double
verdicts: {all: failed}
message: is a list, a tensor is asked
"""


def double(x):
    return (2 * x).tolist()


def halve(x):
    return None
