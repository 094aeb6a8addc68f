"""The sum that stops

A model gives scores, and their total is worked out one by one in the dtype of the scores. In float16 a total of 2048
stays 2048 whenever 1 is added: halfway between two float16 numbers, it rounds back. Mend the sum, and measure the loop.

C1  `accurate_sum(x)` returns the sum of all entries of x, added in float64 in any order, rounded to the dtype of x at
    the end. That holds, too, where large entries cancel, and where a total on the way is too large for that dtype.
C2  The result is a 0-dim tensor of the dtype of x: float16, bfloat16, float32 or float64. Without entries it is 0.
C3  As many operations for a long x as for a short one. The numbers stay in PyTorch, so that the result has a gradient.
C4  `loop_error(x)` returns a Python float, 0 or larger: how far the total of the loop below is from the sum of x in
    float64. The difference itself is taken in float64, too. The total is finite here, and x requires no gradient.
C5  Both functions take x of any shape and any strides, also of 0 dims.
C6  x is not changed.

You may read that float32 is precise enough, and that float64 avoids truncation. In fact nothing is truncated: each
addition rounds, to the nearest. And float32 is precise enough only until large numbers meet small ones.

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
