"""Running sum

What has been added up so far, at each place.

C1  `running_sum(x)` returns a vector of the same length: element i is x[0] + ... + x[i].
C2  No loop, and `cumsum` is not called: a triangle of ones says which numbers are added.
"""

import torch


def running_sum(x: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO
