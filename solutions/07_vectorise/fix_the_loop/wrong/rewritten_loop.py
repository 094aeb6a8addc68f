"""It is still a loop over the elements, however it is written; let one operation take the whole tensor.

caught by: no_loop
breaks: C4, C7
"""


def energy_above(x, thr):
    total = x.new_zeros(())
    return total + sum(sample * sample for sample in x.flatten() if sample > thr)
