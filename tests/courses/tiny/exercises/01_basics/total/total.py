"""Sum without a loop

C1  `total(x)` returns the sum of a 1-D tensor as a 0-dim tensor.
C2  The number of operations does not depend on the length of x.
"""


def total(x):
    result = x.new_zeros(())
    for value in x:  # TODO: no loop
        result = result + value
    return result
