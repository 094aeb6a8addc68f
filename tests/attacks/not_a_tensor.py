r"""Returns a list, and None.

---
exercise: double
verdicts: {all: failed}
message: to be a tensor, got a list
"""


def double(x):
    return (2 * x).tolist()


def halve(x):
    x / 2
