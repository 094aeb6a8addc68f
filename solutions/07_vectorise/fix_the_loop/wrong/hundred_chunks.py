"""You cut x into parts and loop over them, fixed in number or not; one mask over the whole of x does it.

caught by: no_loop_at_scale
"""


def energy_above(x, thr):
    energy = x.new_zeros(())
    for chunk in x.flatten().chunk(100):
        energy = energy + chunk[chunk > thr].square().sum()
    return energy
