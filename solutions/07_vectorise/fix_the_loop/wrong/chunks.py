"""You loop over parts of x: the number of operations still grows with x. One mask over the whole of x does it.

caught by: no_loop_at_scale
"""


def energy_above(x, thr):
    energy = x.new_zeros(())
    for chunk in x.flatten().split(512):
        energy = energy + chunk[chunk > thr].square().sum()
    return energy
