"""Snapshot

While a model trains, you keep its best weights and go back to them, or an average of its weights so far. `w.clone()`
gives memory of its own and stays in the graph of gradients. `w.detach()` leaves the graph and shares the memory of w.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> best = snapshot(w)
    >>> blend_(best, 3 * w, 0.5), restore_(w, best) is w
    (tensor([2., 4.]), True)

C1  `snapshot(w)` returns the numbers of w in memory of its own, without history: it requires no gradient.
C2  `branch(w)` returns a copy in memory of its own that stays in the graph: gradients flow through it back to w.
C3  `peek(w)` returns a view of w without history: it shares the memory of w and requires no gradient.
C4  `restore_(w, saved)` writes the numbers of saved into the memory of w, and returns w. w requires a gradient
    afterwards if it did before, and no history is recorded. What happens to w later does not change saved.
C5  `blend_(average, w, decay)` writes `decay * average + (1 - decay) * w` into the memory of average, which requires
    no gradient, and returns average. It does not compute in a less precise dtype, and records no history. w and
    average share no memory.
C6  Every function except `restore_` leaves w unchanged: its numbers, `requires_grad` and `.grad`. All work where w
    requires a gradient, where it does not, and where w is the result of a computation.

w is a tensor of floats of 16 bits or more, of any shape and strides, but not expanded. saved and average have its shape
and dtype.
"""

import torch


def snapshot(w: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: own memory, no history


def branch(w: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: own memory, in the graph


def peek(w: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: the memory of w, no history


def restore_(w: torch.Tensor, saved: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: write saved into w


def blend_(average: torch.Tensor, w: torch.Tensor, decay: float) -> torch.Tensor:
    raise NotImplementedError  # TODO: a running average of weights
