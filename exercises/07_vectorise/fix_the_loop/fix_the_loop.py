"""Fix the loop

A sensor gives a tensor of samples. The energy above a threshold is the sum of the squares of the samples above it. The
loop below computes that slowly: for each element, it runs several PyTorch operations on a single number. Let PyTorch
run the loop.

C1  `energy_above(x, thr)` returns the sum of the squares of the entries of x that are greater than thr, a float, where
    `x > thr` decides. x is a floating-point tensor of any shape and any strides; it may hold infinities.
C2  An entry equal to thr does not count. NaN does not count, because it is greater than nothing.
C3  The result is a 0-dim tensor of the dtype of x, and as precise: no step uses a narrower dtype, or computes x - thr,
    which rounds. It is 0 if no entry is above thr, or if x is empty.
C4  PyTorch does the work, without a loop: a large x takes as many operations as a small one, and at most 20 inside
    PyTorch. A `.tolist()` counts as a loop. If you break this rule, you get at most 3 points.
C5  The samples stay in PyTorch: no list, no NumPy, no `.item()` or `float()`. So the result has a gradient. It is
    examined where all of x is finite.
C6  x is not changed, not even temporarily.
C7  It is fast: it takes at most 4 times as long as our own answer, which is hundreds of times faster than the loop.

If an energy is wrong where no sample is next to thr, or you break C2, C5 or C6, you get at most 6 points, and at most 4
if the shown check of C1 fails.
"""

import torch


def energy_above(x: torch.Tensor, thr: float) -> torch.Tensor:
    energy = x.new_zeros(())
    for sample in x.flatten():  # TODO: no loop
        if sample > thr:
            energy += sample * sample
    return energy
