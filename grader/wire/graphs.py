"""Tensors at the asking end, as parts of a graph that goes on in the worker.

What a worker gives has no history here. But `loss.backward()` in a check means the graph that the student's code made:
so where a graph of the check's leads back to such a tensor, the worker is told the gradient and goes on from there. It
gives the gradients of the check's own tensors back, from which the check's graph goes on to what they were made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader.wire.bounds import Unsupported
from grader.wire.claimed import note_claims
from grader.wire.exchange import Backward, Exchange
from grader.wire.rows import Claims


def with_graph(exchange: Exchange, number: int, tensor: torch.Tensor, claims: Claims) -> torch.Tensor:
    """A tensor as the asking end holds it: with its claims, and with a graph where the worker says that it has one."""
    if exchange.backward is not None and (tensor.is_floating_point() or tensor.is_complex()):
        if claims.type == "Parameter":
            tensor._is_param = True  # by this PyTorch knows one
        if claims.requires_grad and claims.is_leaf:
            tensor.requires_grad_()
        elif claims.requires_grad:
            given = list(exchange.with_gradient())
            graph = exchange.graphs[number] = _Graph(number, exchange.backward, [sent for sent, _ in given])
            with torch.enable_grad():
                apply: Callable[..., torch.Tensor] = _Arrived.apply
                tensor = apply(torch.empty(0, requires_grad=True), tensor, graph, *(mine for _, mine in given))
    note_claims(tensor, claims)
    return tensor


class _Graph:
    """A tensor of the worker's with its history. Both ends keep it, and what it may be made of, while this lives."""

    def __init__(self, number: int, backward: Backward, given: Sequence[torch.Tensor]) -> None:
        self.number = number
        self.backward = backward
        self.given = given


class _Arrived(torch.autograd.Function):
    """What came from a worker, as a result of something that has a backward."""

    @staticmethod
    def forward(
        ctx: Any, anchor: torch.Tensor, tensor: torch.Tensor, graph: _Graph, *given: torch.Tensor
    ) -> torch.Tensor:
        """A tensor over the same memory: no view, so that a check may write into it as into any result."""
        ctx.graph = graph
        if tensor.is_conj() or tensor.is_neg():
            return tensor.detach()
        storage = tensor.untyped_storage()
        new = torch.empty(0, dtype=tensor.dtype, device="cpu")
        return new.set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Go on in the worker. Its own leaves get their gradients there, and those are told like any other change."""
        if torch.is_grad_enabled():
            raise Unsupported(
                "a gradient of a gradient does not go through student code from a check (create_graph=True): let a "
                "function of the probe file take both beside the student's function, and give the numbers"
            )
        # `backward` runs whatever leads to a leaf, and so to the anchor; `autograd.grad` only what it was asked about.
        adds_up = torch._C._will_engine_execute_node(ctx.next_functions[0][0])
        graph = ctx.graph
        return None, None, None, *graph.backward(graph.number, gradient, graph.given, adds_up)
