"""You compute with Python numbers and only borrow a gradient from x; the gradient is wrong.

caught by: gradient
breaks: C4, C5, C7
"""


def energy_above(x, thr):
    energy = sum(value * value for value in x.flatten().tolist() if value > thr)
    return 0 * x[x > thr].sum() + energy
