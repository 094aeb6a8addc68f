"""`nn.TransformerEncoder` returns zeros for padding where PyTorch would use nested tensors."""

from __future__ import annotations

import functools
from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Make `nn.TransformerEncoder` return zeros for padding.

    PyTorch's fast path, which uses nested tensors, does the same.
    """
    del machine
    encoder: Any = torch.nn.TransformerEncoder
    original, to_nested = encoder.forward, torch._nested_tensor_from_mask

    class Nested(Exception):
        """Raised where PyTorch would take its fast path, with nested tensors."""

    def from_mask(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if isinstance(tensor, SimTensor):
            raise Nested
        return to_nested(tensor, *args, **kwargs)

    @functools.wraps(original)
    def forward(self: Any, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: Any = None) -> Any:
        """Run the encoder, by its ordinary path where PyTorch would use nested tensors.

        In that case, set padding to zero.
        """
        try:
            return original(self, src, mask, src_key_padding_mask, is_causal)
        except Nested:
            pass
        # By the ordinary path; what it makes of padded places is not what the fast one leaves there.
        fast: Any = torch.backends.mha
        before = fast.get_fastpath_enabled()
        fast.set_fastpath_enabled(False)
        try:
            out = original(self, src, mask, src_key_padding_mask, is_causal)
        finally:
            fast.set_fastpath_enabled(before)
        padded = src_key_padding_mask
        padded = padded if padded.dtype is torch.bool else padded < 0
        return out.masked_fill(padded[:, :, None], 0.0)

    put(torch, "_nested_tensor_from_mask", from_mask)
    put(encoder, "forward", forward)
