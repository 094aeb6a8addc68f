"""`scaled_dot_product_attention`: counted as one fused kernel where a GPU has one, and computed on the CPU.

PyTorch asks each kind of device which kernel it wants, by a way that is not open to ours, and would take attention
apart into products, which need memory for all pairs of places.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch

from grader.accelerator.core.error_texts import use_public_name_in_errors
from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.schema.facts import ATEN, facts_of
from grader.accelerator.sim.machine import the_machine

_FLASH = torch.nn.attention.SDPBackend.FLASH_ATTENTION.value

_HALF_OR_SINGLE = (torch.float32, torch.float16, torch.bfloat16)


def attend(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run attention on the simulated device.

    If a fused kernel takes the arguments, attention is one operator, else several.

    Args:
        func: the operator.
        args: the positional arguments of the operator.
        kwargs: the keyword arguments of the operator.
    """
    given = dict(zip(facts_of(func).names, args, strict=False)) | kwargs
    if _uses_flash_of_dtensors(**given):
        # DTensor has a rule for this operator, and context parallelism replaces it.
        flash = ATEN._scaled_dot_product_flash_attention.default
        tensors = (given["query"], given["key"], given["value"])
        return flash(*tensors, given.get("dropout_p", 0.0), given.get("is_causal", False), scale=given.get("scale"))[0]
    if not _is_fused(**given):
        return func.decompose(*args, **kwargs)
    mask = given.get("attn_mask")
    if mask is not None and mask.dtype is torch.bool:
        mask = torch.zeros_like(mask, dtype=given["query"].dtype).masked_fill_(mask.logical_not(), -torch.inf)
    # This one has its own backward, and comes back here as any operator does.
    out, _ = ATEN._scaled_dot_product_flash_attention_for_cpu(
        given["query"],
        given["key"],
        given["value"],
        0.0,
        given.get("is_causal", False),
        attn_mask=mask,
        scale=given.get("scale"),
    )
    return out


def _uses_flash_of_dtensors(query: Any, key: Any, value: Any, **others: Any) -> bool:
    """Return True if the tensors are DTensors, and CUDA would run flash attention of them."""
    if the_machine().kind != "cuda" or not all(hasattr(one, "_local_tensor") for one in (query, key, value)):
        return False
    kernels, given = _cuda_kernels_and_arguments(query, key, value, **others)
    return not given.dropout and bool(kernels.can_use("flash", given, warn=False))


def _cuda_kernels_and_arguments(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Any, Any]:
    """Return the module `attention_kernels`, and the arguments by which it chooses a kernel of CUDA."""
    del scale  # it decides nothing
    kernels: Any = importlib.import_module("grader.accelerator.ops.attention_kernels")
    capability = the_machine().spec.capability
    given = kernels.AttentionArguments(query, key, value, attn_mask, dropout_p, is_causal, enable_gqa, capability)
    return kernels, given


def _is_fused(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> bool:
    """Return True if attention of these arguments is simulated as one fused kernel.

    A fused kernel of the CPU must take the inner tensors. If the device is called cuda, a fused kernel of CUDA must
    take the arguments, too.
    """
    tensors = (query, key, value) if attn_mask is None else (query, key, value, attn_mask)
    if the_machine().kind == "cuda":
        kernels, given = _cuda_kernels_and_arguments(
            query, key, value, attn_mask, dropout_p, is_causal, enable_gqa=enable_gqa
        )
        if not kernels.is_fused(given):
            return False
    if query.dtype not in _HALF_OR_SINGLE or any(
        not isinstance(one, SimTensor) or one._place is not tensors[0]._place for one in tensors
    ):
        return False
    q, k, v = (one._inner for one in tensors[:3])
    mask = None if attn_mask is None else attn_mask._inner
    if mask is not None and attn_mask.requires_grad:
        return False
    flash, plain = torch._C._get_flash_sdp_enabled(), torch._C._get_math_sdp_enabled()
    # On a GPU it is one of three, and any of them will do. What the CPU refuses a GPU may have, as with dropout.
    torch._C._set_sdp_use_flash(flash or torch._C._get_mem_efficient_sdp_enabled() or torch._C._get_cudnn_sdp_enabled())
    torch._C._set_sdp_use_math(True)
    try:
        choice = torch._fused_sdp_choice(
            q, k, v, attn_mask=mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
        )
    finally:
        torch._C._set_sdp_use_flash(flash)
        torch._C._set_sdp_use_math(plain)
    return choice == _FLASH


@use_public_name_in_errors
def attend_whole(*args: Any, **kwargs: Any) -> Any:
    """Run `scaled_dot_product_attention` as one operator, before autograd decomposes it."""
    return attend(ATEN.scaled_dot_product_attention.default, args, kwargs)
