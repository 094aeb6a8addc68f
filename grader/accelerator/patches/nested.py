"""Nested tensors in the jagged layout: PyTorch's own class, over tensors of the device.

Those in the strided layout are a class of C++'s that no wrapper can have; an error names the jagged layout instead.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.core.unsupported import STRIDED
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Allow nested tensors of the jagged layout on the device.

    Those of the strided layout raise.
    """
    original: Any = torch.Tensor._make_wrapper_subclass

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args[0].__name__ == "NestedTensor":
            _replace_attention()
        # C++ gets the device by the name that it knows.
        args = tuple(machine.to_inner_device(arg) if isinstance(arg, torch.device) else arg for arg in args)
        if kwargs.get("device") is not None:
            kwargs["device"] = machine.to_inner_device(kwargs["device"])
        return original(*args, **kwargs)

    put(torch.Tensor, "_make_wrapper_subclass", staticmethod(wrapper))
    for name in ("nested_tensor", "as_nested_tensor"):
        put(torch.nested, name, _wrap_constructor(machine, getattr(torch.nested, name)))


def _wrap_constructor(machine: Machine, original: Any) -> Any:
    @functools.wraps(original)
    def call(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        layout = kwargs.get("layout") or torch.strided
        there = any(
            isinstance(one, SimTensor) for one in (tensors if isinstance(tensors, (list, tuple)) else [tensors])
        )
        if layout is not torch.jagged and (there or machine.is_simulated(kwargs.get("device"))):
            raise refusal(STRIDED)
        return original(tensors, *args, **kwargs)

    return call


@functools.cache
def _replace_attention() -> None:
    """Replace attention of nested tensors by attention of padded tensors with a mask.

    On CUDA, this attention is a kernel.
    """
    # At the first nested tensor, not before: what this loads takes half a second, and few programs need it.
    attention: Any = importlib.import_module("torch.nested._internal.sdpa")
    nested: Any = importlib.import_module("torch.nested._internal.nested_tensor")
    original = attention.jagged_scaled_dot_product_attention

    @functools.wraps(original)
    def attend(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Any:
        """Run attention of nested tensors on padded tensors, and return a nested tensor.

        Arguments that are not nested tensors of the device are left to PyTorch.
        """
        given = (query, key, value)
        if not all(isinstance(one, nested.NestedTensor) and isinstance(one._values, SimTensor) for one in given):
            return original(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
        query, key, value, attn_mask = attention._autocast(query, key, value, attn_mask)
        attention._validate_sdpa_input(query, key, value, attn_mask, dropout_p, is_causal, scale)
        if query.dim() > 3 and query._ragged_idx == 1:
            return original(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
        places = torch.arange(key._get_max_seqlen(), device=key.device)
        seen = (places < key.offsets().diff()[:, None])[:, None, None]
        if is_causal:
            seen = seen & (places <= torch.arange(query._get_max_seqlen(), device=key.device)[:, None])
        q, k, v = (one.transpose(1, 2).to_padded_tensor(0.0).transpose(1, 2) for one in (query, key, value))
        out = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=seen, dropout_p=dropout_p, scale=scale, enable_gqa=enable_gqa
        )
        most, fewest = query._get_max_seqlen(), query._get_min_seqlen()
        total = query._values.shape[query._ragged_idx - 1]
        attended = nested.nested_from_padded(out.transpose(1, 2), query.offsets(), 1, fewest, most, total)
        return attended.transpose(1, 2)

    # By both names: it was imported by the other module when that was loaded.
    for owner in (attention, importlib.import_module("torch.nested._internal.ops")):
        put(owner, "jagged_scaled_dot_product_attention", attend)
