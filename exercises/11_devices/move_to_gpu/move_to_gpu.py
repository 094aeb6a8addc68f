"""Move data to the GPU

A data loader gives you batches such as {"pixels": <tensor>, "files": ["a.png", "b.png"]}. The tensors must go where
the model is, and the same code must run on every machine.

    to_device({"x": x, "epoch": 3}, "cpu")["x"] is x      gives  True if x lies on the CPU

C1  `best_device()` returns the accelerator's `torch.device` if there is one (with an index or not), else the CPU's.
C2  `to_device(batch, device)` returns a new dict with the keys of batch in the same order. Its tensors have the
    numbers, dtype and `requires_grad` of those in batch, which stays as it is.
C3  The tensors of the new dict lie on `device`, a string such as "cpu" or a `torch.device`; "name:1" means exactly that
    device. Without `device`, or with None, it is `best_device()`.
C4  What is not a tensor is passed on as the very same object. `to_device` does not look into lists or dicts.
C5  `to_device` passes on a tensor that is already on the device, as the same object. It copies every other tensor once
    for each of its keys.
C6  The code names no kind of accelerator: no "cuda", no `.cuda()`, no `torch.cuda`. Ask `torch.accelerator`.

No accelerator here? The device "meta" shows where a tensor went.
"""

import torch


def best_device() -> torch.device:
    raise NotImplementedError  # TODO: the accelerator's device if there is one, else the CPU's


def to_device(batch: dict, device: str | torch.device | None = None) -> dict:
    raise NotImplementedError  # TODO: a new dict with the tensors on the device
