"""Random numbers, autograd and modules on the simulated device."""

from __future__ import annotations

import contextlib
import copy
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from accelerator.modes import grad_of, in_mode
from torch import nn

# -- random numbers


@in_mode("sim")
def test_seeds() -> None:
    """`torch.manual_seed` seeds every index; the numbers are not those of the CPU."""
    drawn = {}
    for device in ("cpu", "sim:0", "sim:1"):
        torch.manual_seed(3)
        drawn[device] = torch.rand(4, device=device).tolist()
    assert drawn["sim:0"] == drawn["sim:1"]
    assert drawn["sim:0"] != drawn["cpu"]
    torch.manual_seed(3)
    before = torch.get_rng_state()
    nn.functional.dropout(torch.ones(8, device="sim"))
    assert torch.equal(before, torch.get_rng_state())


@in_mode("sim")
def test_generators() -> None:
    """A generator belongs to a device, and gives the same again from its seed or a state."""
    ours, theirs = torch.Generator(device="sim:1").manual_seed(5), torch.Generator()
    assert (str(ours.device), ours.initial_seed(), theirs.device.type) == ("sim:1", 5, "cpu")
    first = torch.randn(3, device="sim:1", generator=ours)
    assert first.tolist() == torch.randn(3, device="sim:1", generator=ours.manual_seed(5)).tolist()
    state = ours.get_state()
    again = [torch.rand(2, device="sim:1", generator=ours).tolist(), ours.set_state(state)][0]
    assert torch.rand(2, device="sim:1", generator=ours).tolist() == again
    assert isinstance(ours, torch.Generator)
    assert isinstance(theirs, torch.Generator)


# -- autograd and modules


@in_mode("sim")
def test_gradients_on_every_index() -> None:
    """Gradients are on their leaf's device, also across devices and in a thread."""
    leaf = torch.ones(3, device="sim:1", requires_grad=True)
    (leaf * 2 + leaf.to("sim:0").to("sim:1") * leaf.cpu().to("sim:1")).sum().backward()
    assert (grad_of(leaf).tolist(), str(grad_of(leaf).device)) == ([4, 4, 4], "sim:1")
    host = torch.ones(2, requires_grad=True)
    (host.to("sim") * 5).sum().backward()
    assert (grad_of(host).tolist(), grad_of(host).device.type) == ([5, 5], "cpu")

    def work() -> None:
        leaf.grad = None
        (leaf * 3).sum().backward()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert grad_of(leaf).tolist() == [3, 3, 3]
    assert torch.autograd.gradcheck(torch.tanh, torch.randn(3, device="sim", dtype=torch.float64, requires_grad=True))


def _train(device: str) -> list[float]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 16, 3))
    x, y = torch.randn(8, 1, 6, 6), torch.arange(8) % 3
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    weight = model[0].weight
    model.to(device)
    assert weight is model[0].weight
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


@in_mode("sim")
def test_training_is_that_of_the_cpu() -> None:
    """A model is trained on the device as on the CPU; an optimizer made before the move still has its parameters."""
    assert _train("sim:1") == pytest.approx(_train("cpu"), rel=1e-5)


@in_mode("sim")
def test_model_goes_and_comes_back() -> None:
    """A model moves to the device and back, even while a graph holds it; state dicts load across devices."""
    model = nn.Linear(2, 2)
    weight = model.weight
    loss = model.to("sim")(torch.ones(1, 2, device="sim")).sum()
    loss.backward()
    assert str(grad_of(weight).device) == "sim:0"
    model.cpu()
    assert (model.weight is weight, weight.device.type, grad_of(weight).device.type) == (True, "cpu", "cpu")
    other = nn.Linear(2, 2).to("sim:1")
    other.load_state_dict(model.state_dict())
    assert torch.equal(other.weight.cpu(), weight)
    move: Any = model
    assert move.sim(1) is model
    assert str(next(model.parameters()).device) == "sim:1"


@in_mode("sim")
def test_functional_transforms() -> None:
    """Forward gradients and inference mode work; snippets.txt has `vmap`, `torch.func.grad` and checkpoints."""
    x = torch.arange(3.0, device="sim")
    warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's own use of TorchScript
    value, tangent = torch.func.jvp(lambda v: v**2, (x,), (torch.ones_like(x),))  # type: ignore[misc]
    assert (value.tolist(), tangent.tolist()) == ([0, 1, 4], [0, 2, 4])
    with torch.inference_mode():
        assert torch.nn.functional.linear(x, x[None]).tolist() == [5]
        assert x.reshape(3, 1).data_ptr() == x.data_ptr()
        assert x.to("cpu").tolist() == [0, 1, 2]


@in_mode("cuda")
@pytest.mark.parametrize("way", ["cuda", "to", "device", "default", "and back", "dtype", "then dtype", "copied"])
def test_lazy_modules(way: str) -> None:
    """What has no shape yet goes to the device, and stays the object that an optimizer has."""

    def made(**options: Any) -> Any:
        return nn.Sequential(nn.LazyConv2d(4, 3, **options), nn.LazyBatchNorm2d(**options), nn.ReLU())

    moves: dict[str, Callable[[], Any]] = {
        "cuda": lambda: made().cuda(1),
        "to": lambda: made().cuda().to("cuda:1"),
        "device": lambda: made(device="cuda:1"),
        "and back": lambda: made().cuda().cpu(),
        "dtype": lambda: made().to("cuda:1", torch.float64),
        "then dtype": lambda: made().cuda(1).double(),
        "copied": lambda: nn.Sequential(copy.deepcopy(made()[0].cuda(1)), nn.BatchNorm2d(4, device="cuda:1")),
    }
    with torch.device("cuda:1") if way == "default" else contextlib.nullcontext():
        net = moves.get(way, made)()
    place = torch.device("cpu" if way == "and back" else "cuda:1")
    dtype = torch.float64 if "dtype" in way else torch.float32
    before = [id(parameter) for parameter in net.parameters()]
    assert (net[0].weight.device, net[0].weight.is_cuda) == (place, way != "and back")
    net(torch.ones(2, 3, 5, 5, device=place, dtype=dtype)).sum().backward()
    assert {(one.device, one.dtype) for one in net.parameters()} == {(place, dtype)}
    assert {one.device for one in net.buffers()} == {place}
    assert [id(parameter) for parameter in net.parameters()] == before
    assert net[0].weight.grad.shape == (4, 3, 3, 3)
    assert all(isinstance(one, nn.Parameter) and one.requires_grad for one in net.parameters())
