"""Tensors at the asking end, as parts of a graph that goes on in the worker.

What a worker gives has no history here. But `loss.backward()` in a check means the graph that the student's code made:
so where a graph of the check's leads back to such a tensor, the worker is told the gradient and goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from grader.wire.claimed import note_claims
from grader.wire.exchange import Exchange
from grader.wire.rows import Claims


def with_graph(exchange: Exchange, number: int, tensor: torch.Tensor, claims: Claims) -> torch.Tensor:
    """A tensor as the asking end holds it: with its claims, and with a graph where the worker says that it has one."""
    if exchange.backward is not None and (tensor.is_floating_point() or tensor.is_complex()):
        if claims.type == "Parameter":
            tensor._is_param = True  # by this PyTorch knows one
        if claims.requires_grad and claims.is_leaf:
            tensor.requires_grad_()
        elif claims.requires_grad:
            graph = exchange.graphs[number] = _Graph(number, exchange.backward)
            with torch.enable_grad():
                apply: Callable[..., torch.Tensor] = _Arrived.apply
                tensor = apply(torch.empty(0, requires_grad=True), tensor, graph)
    note_claims(tensor, claims)
    return tensor


class _Graph:
    """A tensor of the worker's with its history. It is kept there for as long as this lives."""

    def __init__(self, number: int, backward: Callable[[int, torch.Tensor], None]) -> None:
        self.number = number
        self.backward = backward


class _Arrived(torch.autograd.Function):
    """What came from a worker, as a result of something that has a backward."""

    @staticmethod
    def forward(ctx: Any, anchor: torch.Tensor, tensor: torch.Tensor, graph: _Graph) -> torch.Tensor:
        """A tensor over the same memory: no view, so that a check may write into it as into any result."""
        ctx.graph = graph
        if tensor.is_conj() or tensor.is_neg():
            return tensor.detach()
        storage = tensor.untyped_storage()
        new = torch.empty(0, dtype=tensor.dtype, device="cpu")
        return new.set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[None, None, None]:
        """Go on in the worker, whose leaves get their gradients; those are told like any other change."""
        ctx.graph.backward(ctx.graph.number, gradient)
        return None, None, None
