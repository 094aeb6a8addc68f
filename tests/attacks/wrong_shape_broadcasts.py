r"""Returns the right numbers in a shape that would broadcast.

---
exercise: double
verdicts: {all: failed|skipped}
message: wrong shape|shape is wrong
"""


def double(x):
    return (2 * x)[..., None]


def halve(x):
    return (x / 2)[None]
