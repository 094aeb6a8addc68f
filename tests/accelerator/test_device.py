"""What tells of the simulated device, what it refuses, and how its tensors come to Python."""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from accelerator.modes import in_mode, raises
from torch import nn

from grader import accelerator

Make = Callable[[], object]
"""What should raise."""


# -- what reports about the device


@in_mode("sim")
def test_accelerator_is_named() -> None:
    """`torch.accelerator` names the device, which is there and has two indices; CUDA is not."""
    assert torch.accelerator.current_accelerator() == torch.device("sim")
    assert (torch.accelerator.device_count(), torch.accelerator.current_device_index()) == (2, 0)
    assert torch.accelerator.is_available()
    assert not torch.cuda.is_available()
    with raises(AssertionError, "Torch not compiled with CUDA enabled"):
        torch.ones(1).cuda()


@in_mode("sim", indices=3)
def test_index_counts() -> None:
    """Without an index the current one is meant; one that is not there raises."""
    assert str(torch.ones(1, device="sim").device) == "sim:0"
    torch.accelerator.set_device_index(2)
    assert str(torch.ones(1, device="sim").device) == "sim:2"
    assert str(torch.ones(1).to("sim").device) == "sim:2"
    assert str(torch.ones(1, device="sim:1").device) == "sim:1"
    assert torch.ones(1, device=1).get_device() == 1
    makers: list[Make] = [lambda: torch.ones(1, device="sim:3"), lambda: torch.ones(1).to("sim:3")]
    for make in makers:
        with raises(RuntimeError, "invalid device ordinal"):
            make()


@in_mode("sim")
def test_text_of_a_tensor() -> None:
    """A tensor is printed as on a GPU: device, dtype and the graph as for any other."""
    t = torch.arange(3.0, device="sim:1")
    texts = {
        "tensor([0., 1., 2.], device='sim:1')": t,
        "tensor([0., 1., 2.], device='sim:1', requires_grad=True)": t.clone().requires_grad_(),
        "tensor([0., 2., 4.], device='sim:1', grad_fn=<MulBackward0>)": t.clone().requires_grad_() * 2,
        "tensor([0, 1, 2], device='sim:1', dtype=torch.int32)": t.int(),
        "tensor([], device='sim:0', size=(0, 3))": torch.ones(0, 3, device="sim"),
        "tensor(1., device='sim:1')": t[1],
    }
    assert [repr(tensor) for tensor in texts.values()] == list(texts)
    assert repr(nn.Parameter(t)) == "Parameter containing:\ntensor([0., 1., 2.], device='sim:1', requires_grad=True)"
    assert (f"{t[1]:.2f}", f"{t.clone().requires_grad_().sum()}") == ("1.00", "3.0")
    assert repr(torch.ones(2000, device="sim")) == "tensor([1., 1., 1.,  ..., 1., 1., 1.], device='sim:0')"
    assert repr(type(t)) == "<class 'torch.Tensor'>"


@in_mode("sim")
def test_type_of_a_tensor() -> None:
    """A tensor of ours is known by its exact type, which code of a student can neither derive from nor mistake."""
    t = torch.ones(1, device="sim")
    assert accelerator.is_simulated(t)
    assert not accelerator.is_simulated(torch.ones(1))
    assert isinstance(t, torch.Tensor)
    assert type(t)([1.0, 2.0]).tolist() == [1, 2]
    with pytest.raises(NotImplementedError):
        type("Mine", (type(t),), {})


# -- errors


@in_mode("sim")
def test_zero_dim_cpu_tensors() -> None:
    """One 0-dim CPU tensor may join pointwise operators, wherever it stands; one of another index may not."""
    a = torch.ones(2, device="sim")
    x = torch.tensor(2.0)
    assert [(a * x).tolist(), (x - a).tolist(), torch.where(a > 0, x, x).tolist()] == [[2, 2], [1, 1], [2, 2]]
    assert a.masked_fill(a > 0, x).tolist() == [2, 2]
    assert (a.int() * torch.tensor(2.5)).dtype == torch.float32
    with raises(RuntimeError, "found at least two devices, sim:0 and sim:1!"):
        a * torch.tensor(2.0, device="sim:1")
    with raises(RuntimeError, "found at least two devices"):
        torch.addcmul(a, x, x)
    assert torch.addcmul(a, a, x).tolist() == [3, 3]
    with raises(RuntimeError, "please swap your tensor1 and tensor2 terms."):
        torch.addcmul(a, x, a)
    with raises(RuntimeError, "CPU Scalar support for self argument is not supported"):
        torch.addcmul(x, a, a)


@in_mode("sim")
def test_unsupported_is_said() -> None:
    """What is not supported raises `NotImplementedError` and names it; NumPy gets no memory of the device."""
    t = torch.ones(2, 2, device="sim")
    with pytest.raises(BufferError):
        np.from_dlpack(t)
    warnings.simplefilter("ignore")
    with raises(NotImplementedError, "'aten::quantize_per_tensor' is not supported"):
        torch.quantize_per_tensor(t, 0.1, 0, torch.quint8)


# -- to Python, copies, files


@in_mode("sim")
def test_copies_of_objects() -> None:
    """`deepcopy` copies once what is shared; `copy.copy` shares."""
    t = torch.arange(4.0, device="sim:1")
    one, view = copy.deepcopy([t, t[2:]])
    view[0] = 9
    assert (one.tolist(), t.tolist(), str(one.device)) == ([0, 1, 9, 3], [0, 1, 2, 3], "sim:1")
    shallow = copy.copy(t)
    shallow[0] = 5
    assert t[0].item() == 5
    layer = nn.Linear(2, 1).to("sim")
    rows = torch.ones(3, 2, device="sim")
    assert torch.equal(torch.func.vmap(lambda row: copy.deepcopy(layer)(row))(rows), layer(rows))


@in_mode("sim")
def test_save_and_load() -> None:
    """Files keep the device, what is shared and parameters; `map_location` moves; a missing index is told."""
    t = torch.arange(4.0, device="sim:1")
    file = io.BytesIO()
    torch.save({"t": t, "view": t[2:], "p": nn.Parameter(t.clone()), "z": (t * 1j).conj()}, file)

    def load(**options: Any) -> Any:
        file.seek(0)
        return torch.load(file, **options)

    loaded = load()
    loaded["t"][2] = 7
    assert (str(loaded["t"].device), loaded["view"].tolist()) == ("sim:1", [7, 3])
    assert isinstance(loaded["p"], nn.Parameter)
    assert loaded["z"].tolist() == [0, -1j, -2j, -3j]
    with raises(RuntimeError, "Attempting to deserialize object on SIM device 5 but torch.sim.device_count() is 2"):
        load(map_location="sim:5")


@in_mode("sim")
def test_pinned_memory() -> None:
    """CPU tensors and storages can be pinned, once; those of the device cannot."""
    t = torch.ones(2)
    pinned, here, there = t.pin_memory(), t.untyped_storage(), t.to("sim").untyped_storage()
    assert pinned.pin_memory() is pinned
    storages = (
        pinned.untyped_storage(),
        here,
        here.pin_memory(),
        there.to(device="cpu", non_blocking=True),
        there.cpu(),
    )
    assert [one.is_pinned() for one in (pinned[1:], *storages)] == [True, True, False, True, True, False]
    with raises(TypeError, "only CPU memory can be pinned"):
        there.pin_memory()
    with raises(RuntimeError, "cannot pin 'torch.sim.FloatTensor' only dense CPU tensors can be pinned"):
        t.to("sim").pin_memory()
