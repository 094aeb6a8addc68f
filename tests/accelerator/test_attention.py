"""Attention: one kernel, the CPU's numbers, and no memory for all pairs of places."""

from __future__ import annotations

from typing import Any

import torch
from accelerator.modes import counted, grad_of, in_mode
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader import accelerator


def _attend(device: str, *, mask: bool = False, **options: Any) -> list[torch.Tensor]:
    """What comes out, and the gradients."""
    torch.manual_seed(0)
    heads: Any = [torch.rand(2, 3, 7, 8).to(device).requires_grad_() for _ in range(3)]
    if mask:
        options["attn_mask"] = torch.ones(7, 7, dtype=torch.bool).tril().to(device)
    out = functional.scaled_dot_product_attention(*heads, **options)
    out.pow(2).sum().backward()
    return [out.detach().cpu(), *(grad_of(one).cpu() for one in heads)]


@in_mode("cuda")
def test_attention_is_that_of_the_cpu() -> None:
    """Attention and its gradients are the CPU's to the last bit, whatever is asked for."""
    asked: list[dict[str, Any]] = [{}, {"is_causal": True}, {"mask": True}, {"scale": 0.5}]
    for options in asked:
        for wanted, found in zip(_attend("cpu", **options), _attend("cuda", **options), strict=True):
            assert torch.equal(wanted, found), options


@in_mode("cuda")
def test_attention_is_one_kernel() -> None:
    """Attention is one launch of two products and takes no memory for pairs; with products alone it does."""
    x = torch.rand(2, 2, 256, 64, device="cuda")
    pairs, least = 4 * 256 * 256 * 4, 2 * 2 * 4 * 256 * 256 * 64 / accelerator.the_machine().spec.flops
    accelerator.reset_counters()
    functional.scaled_dot_product_attention(x, x, x)
    (launches, (peak, _), (fused, _)) = counted("launches", "peak_bytes", "device_seconds")
    assert (launches, peak < pairs, fused >= least) == (1, True, True)
    for context in (torch.inference_mode(), sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION)):
        accelerator.reset_counters()
        with context:
            functional.scaled_dot_product_attention(x, x, x)
        assert counted("launches") == (1,)
    accelerator.reset_counters()
    with sdpa_kernel(SDPBackend.MATH):
        functional.scaled_dot_product_attention(x, x, x)
    (launches, (peak, _), (alone, _)) = counted("launches", "peak_bytes", "device_seconds")
    assert (launches > 3, peak > pairs, alone > fused) == (True, True, True)
