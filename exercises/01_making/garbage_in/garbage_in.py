"""Garbage in

Each row of `rain` is an hour, each column a rain gauge. A display shows how much each gauge has collected so far. The
function below passed every trial. On some nights, with the same rain, it shows nonsense. Find out why, and fix it.

C1  `running_totals(rain)` returns a tensor of the shape of rain, (hours, gauges). Its row h is the sum of the rows 0 to
    h of rain. There may be no hours, or no gauges. Rain is finite, and the totals fit its dtype.
C2  The result does not depend on uninitialized memory.
C3  The result has the dtype of rain: float32, float64, int32 or int64. It is not computed in a less precise dtype.
C4  The result is a new tensor with memory of its own, and rain is not changed.

`torch.empty` returns uninitialized memory: it contains what its last user left there. That may be zeros for weeks.
After `torch.use_deterministic_algorithms(True)`, PyTorch fills such memory with NaN, or with the largest int, so that
you see who reads it.

    >>> running_totals(torch.tensor([[1.0, 0.0], [2.0, 0.5], [0.0, 3.0]]))
    tensor([[1.0000, 0.0000],
            [3.0000, 0.5000],
            [3.0000, 3.5000]])
"""

import torch


def running_totals(rain: torch.Tensor) -> torch.Tensor:
    totals = torch.empty(rain.shape)  # TODO: what values does totals start with, and what is its dtype?
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
