r"""Returns tensors without numbers: on the meta device, and of a sparse layout.

---
exercise: double
verdicts: {all: failed}
message: a device such as meta
"""


def double(x):
    return (2 * x).to("meta")


def halve(x):
    return (x / 2).to_sparse()
