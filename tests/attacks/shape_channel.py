r"""Tells a hidden number by the shape and the length of what it gives, and by how many of its elements are wrong.

---
exercise: double
verdicts: {random: failed|skipped, dtype: failed|skipped|passed, halves_random: failed|skipped|passed}
never: \d+ of \d+|\d+ items|got +\(
"""


def double(x):
    if x.dim() == 1 and x.is_floating_point():
        return 2 * x
    return x.new_zeros(3, 7 + int(abs(float(x.flatten()[0])) * 1000) % 50)


def halve(x):
    if x.dim() == 1:
        return x / 2
    half = x / 2
    half[0, : int(abs(float(x[0, 0])) * 10) % 3] = 0
    return half
