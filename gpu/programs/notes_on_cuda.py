"""What PyTorch's notes on CUDA show, one after another: places, precision, streams, memory, pinned buffers, graphs."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

ON_GPU = torch.cuda.is_available()
FIRST = torch.device("cuda:0" if ON_GPU else "cpu")


def say(x: torch.Tensor) -> None:
    """Print a number that both devices have to agree on."""
    print(f"loss {x.double().sum().item():.6f}")


def places() -> None:
    """Compute on tensors of one device, chosen in three ways, or in a `with` block."""
    second = torch.device("cuda:1" if ON_GPU and torch.cuda.device_count() > 1 else FIRST)
    x = torch.tensor([1.0, 2.0]).to(FIRST)
    with torch.cuda.device(second if ON_GPU else -1):
        y = torch.tensor([3.0, 4.0], device=second)
    assert (x + x).device == x.device
    say(y + x.to(second))


def precision() -> None:
    """Compute a product in whatever precision the switches allow."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(1)
    a, b = torch.randn(64, 64, dtype=torch.double), torch.randn(64, 64, dtype=torch.double)
    torch.backends.cuda.matmul.allow_tf32 = False
    say(a.to(FIRST) @ b.to(FIRST))


def timed_and_in_streams() -> None:
    """Record events around work, and let a stream wait for another."""
    torch.manual_seed(2)
    a = torch.randn(100, 100).to(FIRST)
    if not ON_GPU:
        say(a.sum())
        return
    start, end, side = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True), torch.cuda.Stream()
    start.record()
    side.wait_stream(torch.cuda.default_stream())
    with torch.cuda.stream(side):
        b = torch.sum(a)
    torch.cuda.current_stream().wait_stream(side)
    a.record_stream(side)
    end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) > 0
    say(b)


def backward_in_streams() -> None:
    """Run forward and backward in another stream than what uses the gradients."""
    torch.manual_seed(3)
    weight = torch.randn(10).to(FIRST).requires_grad_()
    side: Any = torch.cuda.Stream() if ON_GPU else None
    if side is not None:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        loss = (weight**2).sum()
    loss.backward()
    assert weight.grad is not None
    say(weight.grad)


def memory() -> None:
    """Check that memory which is allocated is freed again."""
    if ON_GPU:
        before = torch.cuda.memory_allocated()
        x = torch.empty(1000, device=FIRST)
        assert torch.cuda.memory_allocated() > before
        del x
        assert torch.cuda.memory_allocated() == before
        torch.cuda.empty_cache()


def graphs() -> None:
    """Capture and replay a function, and both halves of a module."""
    torch.manual_seed(4)
    x, rows = torch.zeros(5, device=FIRST), torch.randn(6, 8).to(FIRST)
    layer: Any = nn.Linear(8, 8).to(FIRST)
    if ON_GPU:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = x * 2
        layer = torch.cuda.make_graphed_callables(layer, (rows,))
    x.fill_(3)
    if ON_GPU:
        graph.replay()
    else:
        out = x * 2
    say(out)
    layer(rows).square().sum().backward()
    say(layer.weight.grad)


for block in (places, precision, timed_and_in_streams, backward_in_streams, memory, graphs):
    block()
