"""You hide the loop from the count of operations; its time is measured too. One mask over the whole of x does it.

caught by: no_loop_at_scale
breaks: C4, C7
"""

from torch.utils._python_dispatch import _disable_current_modes


def energy_above(x, thr):
    with _disable_current_modes():
        energy = x.new_zeros(())
        for sample in x.flatten():
            if sample > thr:
                energy = energy + sample * sample
    return energy
