"""The cells of LSTM and GRU. PyTorch has them fused for accelerators and has no such kernels for the CPU.

The arguments, what comes out and what is kept for backward are those of the operators of these names. Gates stand side
by side in the last dimension, in PyTorch's order: input, forget, cell, output for LSTM; reset, input, new for GRU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_Maybe = torch.Tensor | None
# The CPU's own: its rounding, too.
_through_sigmoid: Any = torch.ops.aten.sigmoid_backward
_through_tanh: Any = torch.ops.aten.tanh_backward


def _add_biases(gates: torch.Tensor, *biases: _Maybe) -> torch.Tensor:
    for bias in biases:
        if bias is not None:
            gates = gates + bias
    return gates


def lstm_cell(
    from_input: torch.Tensor,
    from_hidden: torch.Tensor,
    cell: torch.Tensor,
    input_bias: _Maybe = None,
    hidden_bias: _Maybe = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the next hidden state, the next cell state, and the gates for backward.

    Args:
        from_input: the input's part of the four gates, of shape (batch, 4 * hidden).
        from_hidden: the hidden state's part, of the same shape.
        cell: the cell state, of shape (batch, hidden).
        input_bias: added to the first part, if there is one.
        hidden_bias: added to the second part, if there is one.
    """
    i, f, g, o = (_add_biases(from_input, input_bias) + _add_biases(from_hidden, hidden_bias)).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new = f * cell + i * g
    return o * new.tanh(), new, torch.cat([i, f, g, o], 1)


def lstm_cell_backward(
    grad_hidden: _Maybe, grad_cell: _Maybe, cell: torch.Tensor, new: torch.Tensor, gates: torch.Tensor, has_bias: bool
) -> tuple[torch.Tensor, torch.Tensor, _Maybe]:
    """Return the gradients of the gates, of the old cell state, and of one bias.

    The gates are those before their activations. Both biases have the same gradient.

    Args:
        grad_hidden: the gradient of the next hidden state; None for zeros.
        grad_cell: the gradient of the next cell state; None for zeros.
        cell: the old cell state.
        new: the next cell state.
        gates: the gates, as `lstm_cell` returns them.
        has_bias: True if the gradient of the biases is computed; otherwise it is None.
    """
    # `gates` are those after sigmoid and tanh.
    i, f, g, o = gates.chunk(4, 1)
    squashed = new.tanh()
    by_hidden = torch.zeros_like(new) if grad_hidden is None else grad_hidden
    by_cell = _through_tanh(by_hidden * o, squashed)
    if grad_cell is not None:
        by_cell = by_cell + grad_cell
    parts = (
        _through_sigmoid(by_cell * g, i),
        _through_sigmoid(by_cell * cell, f),
        _through_tanh(by_cell * i, g),
        _through_sigmoid(by_hidden * squashed, o),
    )
    by_gates = torch.cat(parts, 1)
    return by_gates, by_cell * f, by_gates.sum(0) if has_bias else None


def gru_cell(
    from_input: torch.Tensor,
    from_hidden: torch.Tensor,
    hidden: torch.Tensor,
    input_bias: _Maybe = None,
    hidden_bias: _Maybe = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the next hidden state, and the workspace for `gru_cell_backward`.

    The workspace has the shape (batch, 5 * hidden).

    Args:
        from_input: the input's part of the three gates, of shape (batch, 3 * hidden).
        from_hidden: the hidden state's part, of the same shape.
        hidden: the hidden state, of shape (batch, hidden).
        input_bias: added to the first part, if there is one.
        hidden_bias: added to the second part, if there is one.
    """
    reset_a, take_a, new_a = _add_biases(from_input, input_bias).chunk(3, 1)
    reset_b, take_b, new_b = _add_biases(from_hidden, hidden_bias).chunk(3, 1)
    reset, take = (reset_a + reset_b).sigmoid(), (take_a + take_b).sigmoid()
    new = (new_a + reset * new_b).tanh()
    # Kept as backward wants it: five blocks side by side, as PyTorch's kernel keeps them.
    return new + take * (hidden - new), torch.cat([reset, take, new, hidden, new_b], 1)


def gru_cell_backward(
    grad: torch.Tensor, workspace: torch.Tensor, has_bias: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, _Maybe, _Maybe]:
    """Return the gradients of `from_input`, `from_hidden`, `hidden` and both biases of `gru_cell`.

    Args:
        grad: the gradient of the next hidden state.
        workspace: the workspace that `gru_cell` returns.
        has_bias: True if the gradients of the biases are computed; otherwise each is None.
    """
    reset, take, new, hidden, from_hidden = workspace.chunk(5, 1)
    by_take = _through_sigmoid(grad * (hidden - new), take)
    by_new = _through_tanh(grad - grad * take, new)
    by_reset = _through_sigmoid(by_new * from_hidden, reset)
    by_input = torch.cat([by_reset, by_take, by_new], 1)
    # The reset gate stands before the hidden part of the new gate only, so the two sets of gates differ there.
    by_hidden = torch.cat([by_reset, by_take, by_new * reset], 1)
    biases = (by_input.sum(0), by_hidden.sum(0)) if has_bias else (None, None)
    return by_input, by_hidden, grad * take, *biases


KERNELS: dict[str, Callable[..., Any]] = {
    "_thnn_fused_lstm_cell": lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "_thnn_fused_gru_cell": gru_cell,
    "_thnn_fused_gru_cell_backward": gru_cell_backward,
}
"""The formulas, by the names of the operators; they take and return plain CPU tensors."""
