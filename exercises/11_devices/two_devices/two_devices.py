"""Two devices

A model that is too large for one GPU lies on several. Copies between devices take time. So move what is small, once, to
the right device. Repair these functions, which work only if all tensors are on one device.

    >>> affine(torch.ones(1, 2), torch.ones(2, 3), torch.zeros(3), torch.tensor(0.5))
    tensor([[1., 1., 1.]])
    >>> lies_on(torch.ones(2), "cpu")
    True

C1  `affine(x, W, b, scale)` returns (x @ W + b) * scale on the device of x, including its index. W and b may lie on any
    devices. scale is a 0-dim CPU tensor.
C2  `affine` does not move x. It copies W and b once if they lie elsewhere, else never. It does not move scale, because
    a 0-dim CPU tensor may join tensors on any device.
C3  `pipeline(x, stages)` goes through pairs (W, b), each on one device: x becomes relu(x @ W + b). The result lies on
    the device of the last stage; without stages it is x itself.
C4  `pipeline` moves no W and no b. It copies the x of a stage once if the stage lies elsewhere.
C5  `causal_mask(scores)`, of scores (..., n, n), returns a bool tensor (n, n) that is True above the diagonal. It is
    made on the device of scores; nothing is copied.
C6  `lies_on(t, device)` is True if t lies on device, a string or a torch.device, else False. A device without an index,
    such as "cuda" or "cpu", means all of its kind; one with an index means only that one.
C7  The arguments stay as they are, and results have the dtype of x. The same code runs with any accelerator, or none.
"""

import torch


# TODO: all four, for tensors on any devices
def affine(x: torch.Tensor, W: torch.Tensor, b: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return (x @ W + b) * scale


def pipeline(x: torch.Tensor, stages: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    for W, b in stages:
        x = torch.relu(x @ W + b)
    return x


def causal_mask(scores: torch.Tensor) -> torch.Tensor:
    return torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)


def lies_on(t: torch.Tensor, device: str | torch.device) -> bool:
    return t.device == torch.device(device)
