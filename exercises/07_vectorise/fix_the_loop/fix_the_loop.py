"""Fix the loop

A sensor gives a tensor of samples. The energy above a threshold is the sum of the squares of the samples that lie over
it. The loop below does that, slowly: each element is picked out, compared and added by itself, and each such step is a
whole PyTorch operation for a single number. Let PyTorch run the loop.

C1  `energy_above(x, thr)` returns the sum of the squares of the entries of x that are greater than thr, a float, as
    `x > thr` tells. x is a floating-point tensor of any shape and any strides; it may hold infinities.
C2  An entry equal to thr does not count. Nor does NaN, which is greater than nothing.
C3  The result is a 0-dim tensor of the dtype of x, and as precise: nothing on the way is in a narrower dtype, or goes
    through x - thr, which rounds. It is 0 where no entry is over thr, or x is empty.
C4  PyTorch does the work, without a loop: as many operations for a large x as for a small one, and at most 20 inside
    PyTorch. A `.tolist()` counts as a loop, which Python then runs. Else 3 points at most.
C5  The samples stay in PyTorch: no list, no NumPy, no `.item()` or `float()`. So the result has a gradient; it is asked
    for where all of x is finite.
C6  x is not changed, not even for a moment.
C7  It is fast: it takes at most 3.5 times as long as our own answer, which is hundreds of times faster than the loop.
"""

import torch


def energy_above(x: torch.Tensor, thr: float) -> torch.Tensor:
    energy = x.new_zeros(())
    for sample in x.flatten():  # TODO: no loop
        if sample > thr:
            energy += sample * sample
    return energy
