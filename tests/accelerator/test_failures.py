"""Operators that fail: in backward, for want of a deterministic kernel, and with what is on another device."""

from __future__ import annotations

import torch
from accelerator.modes import in_mode, raises
from torch import nn

from grader import accelerator


@in_mode("cuda")
def test_errors_in_backward() -> None:
    """An operator that fails in backward raises its own error from there; the process goes on, and so does backward."""
    x = torch.ones(1, 1, 4, 4, device="cuda", requires_grad=True)
    pooled, product = nn.functional.adaptive_avg_pool2d(x, 2).sum(), (x * x).sum()
    start = torch.ones((), device="cuda")
    torch.use_deterministic_algorithms(True)
    with raises(RuntimeError, "adaptive_avg_pool2d_backward_cuda does not have a deterministic implementation"):
        pooled.backward(start, retain_graph=True)
    torch.use_deterministic_algorithms(False)
    pooled.backward(start)
    memory = accelerator.the_machine().devices[0].memory
    before, memory.capacity = memory.capacity, memory.current
    with raises(torch.OutOfMemoryError, "CUDA out of memory"):
        product.backward(start, retain_graph=True)
    memory.capacity = before
    product.backward(start)
    assert x.grad is not None
    assert x.grad.flatten().tolist() == [2.25] * 16


@in_mode("cuda")
def test_devices_that_do_not_fit() -> None:
    """Memory, indices and names of another device are refused in CUDA's words; a plain number may be copied in."""
    x = torch.ones(3, device="cuda")
    with raises(RuntimeError, 'to a storage on different device "cuda:1"'):
        x.set_(torch.ones(3, device="cuda:1").untyped_storage())
    with raises(RuntimeError, "indices should be either on cpu or on the same device as the indexed tensor (cuda:0)"):
        x[torch.tensor([0], device="cuda:1")]
    with raises(RuntimeError, "Invalid device, must be cuda device"):
        x.cuda("cpu")
    assert x.copy_(2.0).tolist() == [2, 2, 2]  # type: ignore[arg-type]
