"""One wait, not a thousand

A GPU works through a queue. Your program puts operations into it and goes on at once. It waits when it needs a number.
`.item()` is such a wait: the queue must run empty, and a few bytes travel. In a loop over a thousand losses that is a
thousand waits, and a fast GPU stands still most of the time.

    loss_log([tensor(0.5), tensor(0.25)])              gives  [0.5, 0.25]
    first_bad(tensor([1., nan, 2., inf]))              gives  1

C1  `loss_log(losses)` takes a list of 0-dim tensors, all of one floating-point dtype and on one device, and returns
    their numbers as Python floats, in the same order. An empty list gives an empty list.
C2  `loss_log` waits for the device once, and copies once from it, for any number of losses.
C3  `first_bad(x)` returns, as an int, the first index of a 1-D floating-point x at which the number is not finite (NaN,
    inf or -inf), and -1 if all are finite or x is empty.
C4  `first_bad` waits at most twice, and x stays where it is: at most 64 bytes are copied.
C5  Losses and x are not changed. The losses may require a gradient, and still do afterwards.
"""

import torch


def loss_log(losses: list[torch.Tensor]) -> list[float]:
    return [loss.item() for loss in losses]  # TODO: one wait


def first_bad(x: torch.Tensor) -> int:
    for i, value in enumerate(x):  # TODO: no wait for each number
        if not torch.isfinite(value):
            return i
    return -1
