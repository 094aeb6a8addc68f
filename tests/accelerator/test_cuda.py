"""How CUDA is switched on, off and between devices, in mode cuda; and no accelerator at all, in mode none."""

from __future__ import annotations

import copy
import io
import re
from typing import Any

import pytest
import torch
from accelerator.modes import in_mode
from torch import nn

from grader import accelerator


@in_mode("cuda")
def test_no_device_and_no_stream_change_nothing() -> None:
    """A negative index, no device and no stream leave the current ones as they are."""
    torch.cuda.set_device(1)
    torch.cuda.set_device(-1)
    assert torch.cuda.current_device() == 1
    for nothing in (torch.cuda.device(-1), torch.cuda.device(None), torch.cuda.stream(None)):
        with nothing:
            assert torch.cuda.current_device() == 1
            assert torch.cuda.current_stream() == torch.cuda.default_stream()


@in_mode("cuda")
def test_errors_of_backward_name_cuda() -> None:
    """Errors that come from backward have CUDA's words and names; snippets.txt has the others."""
    a, b = torch.ones(2, 2, device="cuda"), torch.ones(2, 2)
    kept = torch.ones(3, device="cuda", requires_grad=True).exp()
    kept.add_(1)
    with pytest.raises(RuntimeError, match=re.escape("[torch.cuda.FloatTensor [3]], which is output 0 of Exp")):
        kept.sum().backward()

    class Leaves(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
            return grad.to("cuda:1")

    leave: Any = Leaves.apply

    with pytest.raises(RuntimeError, match="at index 0 - expected device cuda:0 but got cuda:1"):
        leave(a.requires_grad_()).sum().backward()
    with pytest.raises(RuntimeError, match="at index 0 - expected device cpu but got cuda:1"):
        leave(b.requires_grad_()).sum().backward()


@in_mode("cuda")
def test_what_cuda_has_no_answer_for() -> None:
    """Functions of `torch.cuda` that are not simulated say so."""
    with pytest.raises(NotImplementedError, match=re.escape("torch.cuda.caching_allocator_alloc is not supported")):
        torch.cuda.caching_allocator_alloc(8)


@in_mode("none")
def test_nothing_is_there() -> None:
    """In mode none there is no accelerator, whatever the machine has, and CUDA raises as on a build for the CPU."""
    assert torch.accelerator.current_accelerator() is None
    assert (torch.accelerator.device_count(), torch.cuda.device_count()) == (0, 0)
    for space in (torch.accelerator, torch.cuda, torch.backends.mps):
        assert not space.is_available()
    for make in (lambda: torch.ones(1).cuda(), lambda: nn.Linear(1, 1).cuda(), lambda: torch.ones(1, device="cuda")):
        with pytest.raises((AssertionError, RuntimeError), match="Torch not compiled with CUDA enabled"):
            make()


@in_mode("off")
def test_enable_is_once_and_checked() -> None:
    """A wrong mode or number raises and leaves the process as it was; a second machine is refused."""
    for arguments in ({"mode": "gpu"}, {"indices": 0}):
        with pytest.raises(ValueError):
            accelerator.enable(**arguments)
    with pytest.raises(RuntimeError, match="there is no simulated accelerator in this process"):
        accelerator.counters()
    accelerator.enable("sim", indices=1)
    assert torch.accelerator.device_count() == 1
    with pytest.raises(RuntimeError, match="is on already"):
        accelerator.enable("cuda")


@in_mode("off")
def test_importing_changes_nothing() -> None:
    """Importing and preloading neither register a device nor replace anything."""
    before = (torch.ones, torch.Tensor.to, torch.cuda.is_available, torch.Generator)
    accelerator.preload()
    assert before == (torch.ones, torch.Tensor.to, torch.cuda.is_available, torch.Generator)
    assert torch._C._get_privateuse1_backend_name() == "privateuseone"


@in_mode("cuda")
def test_copies_under_a_default_device() -> None:
    """With the accelerator as default device, modules and storages are copied, saved and loaded as without."""
    torch.set_default_device("cuda:1")
    module = torch.nn.Linear(3, 2)
    again = copy.deepcopy(module)
    assert again.weight.device == torch.device("cuda:1")
    assert torch.equal(again(torch.ones(3)), module(torch.ones(3)))
    storage = torch.arange(3.0).untyped_storage()
    assert (storage.cpu().nbytes(), storage.clone().device) == (12, torch.device("cuda:1"))
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    for place in (None, "cpu", "cuda:0"):
        file.seek(0)
        loaded = torch.load(file, map_location=place)["bias"]
        assert loaded.device == torch.device(place or "cuda:1")
        assert loaded.tolist() == module.bias.tolist()
