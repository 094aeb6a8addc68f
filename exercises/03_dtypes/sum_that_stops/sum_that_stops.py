"""The sum that stops

A model gives scores, and a loop adds them one by one in their dtype. In float16, a total of 2048 stays 2048 whenever 1
is added: 2049 lies halfway between two float16 numbers, and rounds back. Fix the sum, and measure the loop.

C1  `accurate_sum(x)` returns the sum of all entries of x, added in float64 in any order, converted by `to` to the dtype
    of x at the end. That also holds where large entries cancel, and where an intermediate total is too large for that
    dtype.
C2  The result is a 0-dim tensor of the dtype of x: float16, bfloat16, float32 or float64. Without entries it is 0.
C3  In `accurate_sum`, a long x takes as many operations as a short one. The numbers stay in PyTorch, so that the result
    has a gradient.
C4  `loop_error(x)` returns a Python float, 0 or larger: how far the total of the loop below is from the sum of x in
    float64. The difference is computed in float64, too. Here the total is finite, and x requires no gradient.
C5  `accurate_sum` and `loop_error` accept x of any shape, including 0 dims, and any strides.
C6  x is not changed.

    >>> x = torch.tensor([1e8, 1.0, -1e8] * 1000)
    >>> loop_sum(x), accurate_sum(x), loop_error(x)
    (tensor(0.), tensor(1000.), 1000.0)
"""

import torch


def loop_sum(x: torch.Tensor) -> torch.Tensor:  # stays as it is: the loop that is measured
    total = x.new_zeros(())
    for score in x.flatten():
        total = total + score
    return total


def accurate_sum(x: torch.Tensor) -> torch.Tensor:
    return loop_sum(x)  # TODO: no loop, and a dtype with more digits on the way


def loop_error(x: torch.Tensor) -> float:
    raise NotImplementedError  # TODO
