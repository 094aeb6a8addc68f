"""Random numbers, autograd and modules on the simulated device."""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from accelerator.modes import grad_of, in_mode
from torch import nn


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
def test_gradients_on_every_index() -> None:
    """Gradients are on their leaf's device, also across devices and in a thread."""
    leaf = torch.ones(3, device="sim:1", requires_grad=True)
    # An older PyTorch warns of the default stream of another device.
    warns = not hasattr(torch._C, "_override_stale_capture_stream")
    with pytest.warns(UserWarning, match="AccumulateGrad") if warns else contextlib.nullcontext():
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


def _train(device: str, half: bool = False) -> list[float]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 16, 3))
    x, y = torch.randn(8, 1, 6, 6), torch.arange(8) % 3
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    weight = model[0].weight
    model.to(device)
    assert weight is model[0].weight
    scaler = torch.amp.GradScaler("cuda", enabled=half)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cuda", enabled=half):
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert {one.dtype for one in model.parameters()} == {torch.float32}
    return losses


@in_mode("cuda")
def test_training_is_that_of_the_cpu() -> None:
    """An optimizer made before the move keeps its parameters, and learns as on the CPU, nearly in half precision."""
    wanted = _train("cpu")
    assert _train("cuda:1") == pytest.approx(wanted, rel=1e-5)
    assert _train("cuda:1", half=True) == pytest.approx(wanted, rel=5e-3)


@in_mode("sim")
def test_model_goes_and_comes_back() -> None:
    """A model moves to the device and back, even while a graph holds it."""
    model = nn.Linear(2, 2)
    weight = model.weight
    loss = model.to("sim")(torch.ones(1, 2, device="sim")).sum()
    loss.backward()
    assert str(grad_of(weight).device) == "sim:0"
    model.cpu()
    assert (model.weight is weight, weight.device.type, grad_of(weight).device.type) == (True, "cpu", "cpu")
    move: Any = model
    assert move.sim(1) is model
    assert str(next(model.parameters()).device) == "sim:1"


@in_mode("cuda")
def test_lazy_modules() -> None:
    """What has no shape yet goes to the device, and stays the object that an optimizer has."""

    def made(**options: Any) -> Any:
        return nn.Sequential(nn.LazyConv2d(4, 3, **options), nn.LazyBatchNorm2d(**options), nn.ReLU())

    def by_default() -> Any:
        with torch.device("cuda:1"):
            return made()

    moves: dict[str, Callable[[], Any]] = {
        "default": by_default,
        "cuda": lambda: made().cuda(1),
        "to": lambda: made().cuda().to("cuda:1"),
        "device": lambda: made(device="cuda:1"),
        "and back": lambda: made().cuda().cpu(),
        "dtype": lambda: made().to("cuda:1", torch.float64),
        "then dtype": lambda: made().cuda(1).double(),
        "copied": lambda: nn.Sequential(copy.deepcopy(made()[0].cuda(1)), nn.BatchNorm2d(4, device="cuda:1")),
    }
    for way, move in moves.items():
        net = move()
        place = torch.device("cpu" if way == "and back" else "cuda:1")
        dtype = torch.float64 if "dtype" in way else torch.float32
        before = [id(parameter) for parameter in net.parameters()]
        assert (net[0].weight.device, net[0].weight.is_cuda) == (place, way != "and back"), way
        assert net[0].weight.get_device() == (-1 if way == "and back" else 1), way
        net(torch.ones(2, 3, 5, 5, device=place, dtype=dtype)).sum().backward()
        assert {(one.device, one.dtype) for one in net.parameters()} == {(place, dtype)}, way
        assert {one.device for one in net.buffers()} == {place}, way
        assert [id(parameter) for parameter in net.parameters()] == before, way
        assert net[0].weight.grad.shape == (4, 3, 3, 3), way
        assert all(isinstance(one, nn.Parameter) and one.requires_grad for one in net.parameters()), way
