"""You loop over the rows: few operations for each, but as many times as there are rows. x[mask] takes any shape.

caught by: rows
"""


def energy_above(x, thr):
    energy = x.new_zeros(())
    if x.numel() == 0:
        return energy
    for row in x.reshape(-1, x.shape[-1] if x.dim() else 1):
        energy = energy + row[row > thr].square().sum()
    return energy
