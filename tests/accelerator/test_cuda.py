"""Code that names cuda literally, in mode cuda; and no accelerator at all, in mode none."""

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
def test_cuda_is_there() -> None:
    """`torch.cuda` answers, and so do the general queries."""
    assert torch.cuda.is_available()
    assert (torch.cuda.device_count(), torch.cuda.current_device()) == (2, 0)
    assert torch.cuda.get_device_name(0) == "Simulated GPU"
    assert torch.cuda.get_device_properties("cuda:1").total_memory == accelerator.Spec().memory
    assert torch.cuda.get_device_capability() == (8, 0)
    assert torch.get_device_module("cuda") is torch.cuda
    assert str(torch.accelerator.current_accelerator()) == "cuda"
    assert torch.cuda.is_initialized()


@in_mode("cuda")
def test_literal_cuda_runs() -> None:
    """Every way to name the device leads there, and tensors report cuda with its index."""
    cuda: Any = torch.cuda
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    made = [
        torch.ones(2, device=device),
        torch.ones(2).to(device),
        torch.ones(2).cuda(),
        torch.ones(2).to("cuda", torch.float64, non_blocking=True),
        torch.ones(2).to(torch.ones(1, device="cuda")),
        torch.ones(2).type("torch.cuda.FloatTensor"),
        cuda.FloatTensor([1.0, 1.0]),
        nn.Linear(1, 1).cuda().weight,
        nn.Linear(1, 1, device="cuda").bias,
        torch.zeros_like(torch.ones(2), device="cuda:0"),
    ]
    assert [(str(t.device), t.is_cuda, t.get_device()) for t in made] == [("cuda:0", True, 0)] * len(made)
    assert torch.ones(1).cuda(1).device == torch.device("cuda:1")
    assert torch.ones(1).cuda("cuda:1").device == torch.device("cuda", 1)
    assert made[0].type() == "torch.cuda.FloatTensor"
    assert isinstance(made[0], cuda.FloatTensor)
    assert not torch.ones(1).is_cuda


@in_mode("cuda")
def test_current_device() -> None:
    """`torch.cuda.device` and `set_device` say which index is meant without one."""
    with torch.cuda.device(1):
        assert str(torch.ones(1, device="cuda").device) == "cuda:1"
        assert torch.cuda.current_device() == 1
    assert str(torch.ones(1).cuda().device) == "cuda:0"
    torch.cuda.set_device("cuda:1")
    assert str(torch.ones(1).cuda().device) == "cuda:1"
    with pytest.raises(RuntimeError, match="CUDA error: invalid device ordinal"):
        torch.cuda.set_device(7)


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
def test_nothing_is_cached() -> None:
    """What is reserved is what tensors take, whatever was freed before; indices reach each other."""
    kept = torch.ones(1000, device="cuda")
    torch.ones(5000, device="cuda")
    assert torch.cuda.memory_reserved() == torch.cuda.memory_allocated() == 4096 == kept.numel() * 4 + 96
    assert torch.cuda.can_device_access_peer(0, 1)


@in_mode("cuda")
def test_errors_name_cuda() -> None:
    """Errors have CUDA's words and names, those that come from backward, too."""
    a, b = torch.ones(2, 2, device="cuda"), torch.ones(2, 2)
    with pytest.raises(RuntimeError, match=re.escape("(when checking argument in method wrapper_CUDA_mm)")):
        a @ b
    with pytest.raises(RuntimeError) as caught:
        nn.Conv1d(1, 1, 1).cuda()(torch.ones(1, 1, 3))
    assert str(caught.value) == (
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same or input should be "
        "a MKLDNN tensor and weight is a dense tensor"
    )
    kept = torch.ones(3, device="cuda", requires_grad=True).exp()
    kept.add_(1)
    with pytest.raises(RuntimeError, match=re.escape("[torch.cuda.FloatTensor [3]], which is output 0 of Exp")):
        kept.sum().backward()
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        torch.rand(2, device="cuda", generator=torch.Generator())

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
def test_seeds_of_cuda() -> None:
    """`torch.cuda.manual_seed` seeds the current index, `manual_seed_all` every one; states can be kept."""
    torch.cuda.manual_seed_all(1)
    first = [torch.rand(2, device=f"cuda:{i}").tolist() for i in range(2)]
    assert first[0] == first[1]
    torch.cuda.manual_seed(1)
    assert torch.rand(2, device="cuda").tolist() == first[0]
    assert torch.cuda.initial_seed() == 1
    state = torch.cuda.get_rng_state()
    drawn = torch.rand(2, device="cuda").tolist()
    torch.cuda.set_rng_state(state)
    assert torch.rand(2, device="cuda").tolist() == drawn
    with torch.random.fork_rng(devices=[0]):
        torch.rand(5, device="cuda")
    assert torch.cuda.get_rng_state().tolist() != state.tolist()


@in_mode("cuda")
def test_what_cuda_has_no_answer_for() -> None:
    """Functions of `torch.cuda` that are not simulated say so."""
    with pytest.raises(NotImplementedError, match=re.escape("torch.cuda.caching_allocator_alloc is not supported")):
        torch.cuda.caching_allocator_alloc(8)


@in_mode("none")
def test_nothing_is_there() -> None:
    """In mode none there is no accelerator, whatever the machine has, and CUDA raises as on a build for the CPU."""
    assert not torch.accelerator.is_available()
    assert torch.accelerator.device_count() == 0
    assert torch.accelerator.current_accelerator() is None
    assert not torch.cuda.is_available()
    assert torch.cuda.device_count() == 0
    assert not torch.backends.mps.is_available()
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
