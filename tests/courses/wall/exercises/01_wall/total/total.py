"""Total and mean without a loop

C1  `total(x)` returns the sum of a 1-D tensor as a 0-dim tensor.
C2  The number of operations of `total` does not depend on the length of x; with a loop, you get 3 points at most.
C3  Gradients flow from the result of `total` to x.
C4  `mean(x)` returns the mean of a 1-D tensor as a 0-dim tensor.
"""


def total(x):
    result = x.new_zeros(())
    for value in x:  # TODO: no loop
        result = result + value
    return result


def mean(x):
    raise NotImplementedError  # TODO
