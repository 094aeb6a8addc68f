"""A product with ones."""


def total(x):
    return x @ x.new_ones(len(x))
