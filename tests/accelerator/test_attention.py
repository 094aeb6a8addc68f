"""Attention: one kernel, the CPU's numbers, and no memory for all pairs of places."""

from __future__ import annotations

from typing import Any

import pytest
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


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"mask": True}, {"scale": 0.5}], ids=str)
@in_mode("cuda")
def test_attention_is_that_of_the_cpu(options: dict[str, Any]) -> None:
    """Attention and its gradients are the CPU's to the last bit, whatever is asked for."""
    for wanted, found in zip(_attend("cpu", **options), _attend("cuda", **options), strict=True):
        assert torch.equal(wanted, found)


@in_mode("cuda")
def test_attention_is_one_kernel() -> None:
    """Attention is one launch and takes no memory for pairs; with products alone it does, and is many."""
    x = torch.rand(1, 1, 256, 8, device="cuda")
    accelerator.reset_counters()
    functional.scaled_dot_product_attention(x, x, x)
    (launches, (peak, _)) = counted("launches", "peak_bytes")
    assert (launches, peak < 256 * 256 * 4) == (1, True)
    with torch.inference_mode():
        functional.scaled_dot_product_attention(x, x, x)
    assert counted("launches") == (2,)
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        functional.scaled_dot_product_attention(x, x, x)
    assert counted("launches") == (3,)
    with sdpa_kernel(SDPBackend.MATH):
        functional.scaled_dot_product_attention(x, x, x)
    (launches, (peak, _)) = counted("launches", "peak_bytes")
    assert (launches > 6, peak > 256 * 256 * 4) == (True, True)


@in_mode("cuda")
def test_attention_has_its_operations() -> None:
    """The clock counts attention as the two products that it is."""
    x = torch.rand(4, 8, 512, 64, device="cuda")
    accelerator.reset_counters()
    functional.scaled_dot_product_attention(x, x, x)
    fused = counted("device_seconds")[0][0]
    accelerator.reset_counters()
    with sdpa_kernel(SDPBackend.MATH):
        functional.scaled_dot_product_attention(x, x, x)
    assert 0 < fused < counted("device_seconds")[0][0]
    assert fused >= 2 * 2 * 4 * 8 * 512 * 512 * 64 / accelerator.the_machine().spec.flops
