"""Attention: one kernel, the CPU's numbers, and no memory for all pairs of places."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import pytest
import torch
import torch.nn.attention.varlen
from accelerator.modes import counted, grad_of, in_mode, raises
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader import accelerator
from grader.accelerator.sim.spec import Spec


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


def _one_by_one(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, starts: list[int], causal: bool) -> torch.Tensor:
    """The attention of sequences that stand one after another, computed on the CPU for each of them."""
    attend: Any = functional.scaled_dot_product_attention
    made = []
    for first, last in itertools.pairwise(starts):
        tensors: Any = (one[first:last].float().cpu().transpose(0, 1) for one in (q, k, v))
        made.append(attend(*tensors, is_causal=causal).transpose(0, 1))
    return torch.cat(made)


@pytest.mark.parametrize("causal", [False, True])
@in_mode("cuda", spec=Spec(capability=(8, 0)))
def test_sequences_one_after_another(causal: bool) -> None:
    """`varlen_attn` and its gradients are those of each sequence by itself; what CUDA refuses raises its errors."""
    varlen: Any = torch.nn.attention.varlen
    attend: Any = varlen.varlen_attn
    windows = "window_size" in inspect.signature(attend).parameters  # PyTorch 2.10 has is_causal in its place
    how: dict[str, Any] = {"window_size": (-1, 0 if causal else -1)} if windows else {"is_causal": causal}
    q, k, v = (torch.randn(9, 2, 16, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    starts = torch.tensor([0, 4, 9], device="cuda", dtype=torch.int32)
    out = attend(q, k, v, starts, starts, 5, 5, **how)
    expected = _one_by_one(q, k, v, [0, 4, 9], causal)
    assert (out.dtype, out.is_cuda) == (torch.bfloat16, True)
    torch.testing.assert_close(out.float().cpu(), expected, atol=0.02, rtol=0.02)
    grad = torch.randn(9, 2, 16)
    found = torch.autograd.grad(out, (q, k, v), grad.cuda().bfloat16())
    for one, right in zip(found, torch.autograd.grad(expected, (q, k, v), grad.bfloat16().float()), strict=True):
        torch.testing.assert_close(one.float(), right.float(), atol=0.05, rtol=0.05)
    aux = varlen.AuxRequest(lse=True)
    assert attend(q, k, v, starts, starts, 5, 5, return_aux=aux, **how)[1].shape == (2, 9)
    with raises(RuntimeError, "FlashAttention only support fp16 and bf16 data type"):
        attend(q.float(), k.float(), v.float(), starts, starts, 5, 5)
    with raises(RuntimeError, "cu_seqlens_q must have dtype int32"):
        attend(q, k, v, starts.long(), starts.long(), 5, 5)
    with raises(RuntimeError, "cum_seq_q is on cpu, different from other tensors on cuda:0"):
        attend(q, k, v, starts.cpu(), starts.cpu(), 5, 5)


@in_mode("cuda", spec=Spec(capability=(9, 0)))
def test_windows_pages_and_fewer_heads() -> None:
    """`varlen_attn` looks at as many keys as its window has, finds keys in pages, and writes to `out`."""
    varlen: Any = torch.nn.attention.varlen
    if not hasattr(varlen, "varlen_attn_out"):
        return  # PyTorch 2.10
    q, k, v = (torch.randn(300, 2, 16, device="cuda", dtype=torch.float16) for _ in range(3))
    starts = torch.tensor([0, 300], device="cuda", dtype=torch.int32)
    own = varlen.varlen_attn(q, k, v, starts, starts, 300, 300, window_size=(0, 0))
    assert torch.equal(own, v)
    shared = varlen.varlen_attn(q, k[:, :1], v[:, :1], starts, starts, 300, 300, enable_gqa=True)
    torch.testing.assert_close(shared[:, 0], varlen.varlen_attn(q, k, v, starts, starts, 300, 300)[:, 0])
    out = torch.empty_like(q)
    assert varlen.varlen_attn_out(out, q, k, v, starts, starts, 300, 300) is out
    torch.testing.assert_close(out, varlen.varlen_attn(q, k, v, starts, starts, 300, 300))
    pages = torch.randn(3, 256, 2, 16, device="cuda", dtype=torch.float16)
    table = torch.tensor([[2, 0]], device="cuda", dtype=torch.int32)
    used = torch.tensor([260], device="cuda", dtype=torch.int32)
    found = varlen.varlen_attn(q, pages, pages, starts, None, 300, 512, seqused_k=used, block_table=table)
    keys = torch.cat([pages[2], pages[0]])[:260]
    lengths = torch.tensor([0, 260], device="cuda", dtype=torch.int32)
    torch.testing.assert_close(found, varlen.varlen_attn(q, keys, keys, starts, lengths, 300, 260))
