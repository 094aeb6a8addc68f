"""Nested tensors on the device."""

from __future__ import annotations

import io
import warnings
from typing import Any

import torch
from accelerator.modes import counted, in_mode, raises
from torch import nn
from torch.nn import functional

from grader import accelerator

PARTS = [torch.randn(3, 8), torch.randn(5, 8), torch.randn(1, 8)]


def _nested(device: str) -> Any:
    return torch.nested.nested_tensor(PARTS, layout=torch.jagged, device=device, requires_grad=True)


def _attended(x: Any, layer: nn.Module) -> Any:
    heads = layer(x).unflatten(-1, [2, 4]).transpose(1, 2)
    return functional.scaled_dot_product_attention(heads, heads, heads).transpose(1, 2).flatten(-2)


@in_mode("cuda")
def test_values_and_gradients() -> None:
    """A jagged tensor on the device gives the numbers and gradients of the CPU, and all of them are on the device."""
    warnings.simplefilter("ignore")  # they are a prototype, on the CPU, too
    layer = nn.Linear(8, 8)
    here, there = _nested("cpu"), _nested("cuda")
    ways: list[Any] = [
        lambda x: layer(functional.gelu(x * 2 + x)),
        lambda x: torch.cat([x.softmax(-1), x], dim=-1),
        lambda x: x.to_padded_tensor(-1.0),
        lambda x: _attended(x, layer),
    ]
    for way in ways:
        layer.cpu()
        asked = way(here)
        layer.cuda()
        found = way(there)
        assert (found.device, found.is_nested) == (torch.device("cuda:0"), asked.is_nested)
        for mine, its in zip(found.unbind(), asked.unbind(), strict=True):
            assert mine.device == torch.device("cuda:0")
            torch.testing.assert_close(mine.cpu(), its)
    for x in (here, there):
        layer.to(x.device)
        _attended(x, layer).sum().backward()
    assert there.grad.device == torch.device("cuda:0")
    torch.testing.assert_close(there.grad.cpu().values(), here.grad.values())
    heads = there.unflatten(-1, [2, 4]).transpose(1, 2)
    causal = functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True).unbind()[0]
    plain = PARTS[0].unflatten(-1, [2, 4]).transpose(0, 1)
    torch.testing.assert_close(
        causal.cpu(), functional.scaled_dot_product_attention(plain, plain, plain, is_causal=True)
    )


@in_mode("cuda")
def test_how_they_get_there() -> None:
    """They move, are made of the device's tensors and stored; those in the strided layout are refused."""
    warnings.simplefilter("ignore")
    accelerator.reset_counters()
    moved = _nested("cpu").to("cuda")
    assert counted("host_to_device", "host_to_device_bytes") == (2, 9 * 8 * 4 + 4 * 8)
    file = io.BytesIO()
    torch.save(moved.detach(), file)
    file.seek(0)
    parts = [part.cuda() for part in PARTS]
    made = [
        moved,
        torch.load(file, weights_only=False),
        torch.nested.as_nested_tensor(parts, layout=torch.jagged),
        torch.nested.nested_tensor_from_jagged(torch.cat(parts), torch.tensor([0, 3, 8, 9]).cuda()),
    ]
    for one in made:
        assert (one.layout, str(one.device), one.is_cuda) == (torch.jagged, "cuda:0", True)
        assert [part.tolist() for part in one.cpu().unbind()] == [part.tolist() for part in PARTS]
    refused: list[Any] = [
        lambda: torch.nested.nested_tensor(PARTS, device="cuda"),
        lambda: torch.nested.as_nested_tensor(parts),
        lambda: torch.nested.nested_tensor(PARTS).cuda(),
    ]
    for way in refused:
        with raises(NotImplementedError, "in the strided layout are not supported on the simulated device"):
            way()
