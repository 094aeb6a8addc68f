r"""Changes its argument by ways that leave no trace in the tensor, and returns the right answer.

---
exercise: double
verdicts: {random: failed}
message: was changed|written to
"""


def double(x):
    result = 2 * x
    x.data.mul_(0)
    x.numpy()[...] = 7
    return result


def halve(x):
    return x / 2
