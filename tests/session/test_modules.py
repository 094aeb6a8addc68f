"""What tests of an `nn.Module` usually say: each idiom holds for the right module, and sees a wrong one."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest
import torch
from support import Function
from torch.nn import functional

from grader.check import (
    CheckFailed,
    as_fast_as,
    count,
    gradients,
    has_parameters,
    is_instance,
    learns,
    on_device,
    overfits,
    same_values,
    same_weights,
    uses_at_most,
)
from grader.remote.handle import side_of
from grader.remote.side import Side
from grader.remote.student import Student

RIGHT = """
import math
from torch import nn

class Layer(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, into) / math.sqrt(into))
        self.bias = nn.Parameter(torch.zeros(out))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.drop = nn.Dropout(0.5)
    def forward(self, x):
        self.calls += 1
        return self.drop(x) @ self.weight.T + self.bias
    def extra_repr(self):
        return f"into={self.weight.shape[1]}"

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Layer(3, 8), nn.Linear(8, 2)
    def forward(self, x):
        return self.second(torch.relu(self.first(x)))

class Descent(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= group["lr"] * p.grad

def halving(optimizer):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5 ** epoch)

class Squares(torch.utils.data.Dataset):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i):
        if not 0 <= i < self.n: raise IndexError(i)
        return torch.tensor(float(i)), torch.tensor(float(i * i))

def loader(n, size):
    return torch.utils.data.DataLoader(Squares(n), batch_size=size)

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x ** 2

def cube(x): return Cube.apply(x)

def shapes_of(net, x):
    seen = []
    hooks = [m.register_forward_hook(lambda m, i, out: seen.append(tuple(out.shape))) for m in net.children()]
    net(x)
    for hook in hooks: hook.remove()
    return seen

def weighted(prediction, target):
    return ((prediction - target) ** 2).mean()
"""

FAULTS: dict[str, dict[str, str]] = {
    "a module": {"class Layer(nn.Module):": "class Layer:"},
    "names and shapes": {"torch.randn(out, into)": "torch.randn(into, out).T.contiguous()[:, :1]"},
    "dtype": {"torch.zeros(out)": "torch.zeros(out, dtype=torch.float64)"},
    "buffers": {'self.register_buffer("calls", torch.zeros((), dtype=torch.int64))': "self.calls = 0"},
    "submodules": {"nn.Linear(8, 2)": "nn.Linear(2, 8)"},
    "a parameter": {"self.bias = nn.Parameter(torch.zeros(out))": "self.bias = torch.zeros(out)"},
    "requires grad": {"nn.Parameter(torch.zeros(out))": "nn.Parameter(torch.zeros(out), requires_grad=False)"},
    "all learn": {"@ self.weight.T + self.bias": "@ self.weight.T.detach() + self.bias"},
    "backward": {"@ self.weight.T + self.bias": "@ self.weight.T.detach() + self.bias"},
    "gradients of inputs": {"self.drop(x) @": "self.drop(x.detach()) @"},
    "state out": {"@ self.weight.T + self.bias": "@ self.weight.T - self.bias"},
    "state in": {"@ self.weight.T + self.bias": "@ self.weight.T - self.bias"},
    "same weights": {"@ self.weight.T + self.bias": "@ self.weight.T * 1.01 + self.bias"},
    "train and eval": {"self.drop = nn.Dropout(0.5)": "self.drop = nn.Identity()"},
    "buffer counts": {"self.calls += 1": "pass"},
    "overfits": {"self.second(torch.relu(self.first(x)))": "self.second(torch.relu(self.first(x.detach()))).detach()"},
    "trains": {"self.second(torch.relu(self.first(x)))": "self.second(torch.relu(self.first(x * 0)))"},
    "saves and loads": {"self.bias = nn.Parameter(torch.zeros(out))": "self.bias = torch.randn(out)"},
    "text": {"into={": "to={"},
    "optimizer": {"p -= group": "p += group"},
    "scheduler": {"0.5 ** epoch": "0.9 ** epoch"},
    "dataset": {"float(i * i)": "float(i)"},
    "data loader": {"Squares(n), batch_size=size": "Squares(n), batch_size=size, drop_last=True"},
    "autograd function": {"3 * x ** 2": "2 * x ** 2"},
    "hooks": {"net.children()": "net.modules()"},
    "loss": {".mean()": ".sum()"},
    "copy": {"    def extra_repr": "    def __deepcopy__(self, memo): return self\n    def extra_repr"},
    "counts": {"self.drop(x) @": "sum(self.drop(x) for _step in range(9)) @"},
    "no grad": {"    def forward(self, x):\n        self.c": "    @torch.enable_grad()\n    def forward(self, x):\n        self.c"},  # noqa: E501
}  # fmt: skip


def a_module(s: Any, _: Any) -> None:
    layer = s.Layer(3, 2)
    is_instance(layer, torch.nn.Module)
    assert isinstance(layer, torch.nn.Module) and issubclass(s.Layer, torch.nn.Module)
    assert isinstance(s.Net().second, torch.nn.Linear)


def names_and_shapes(s: Any, _: Any) -> None:
    has_parameters(s.Layer(3, 2), {"weight": (2, 3), "bias": (2,)})
    assert {name: tuple(p.shape) for name, p in s.Layer(3, 2).named_parameters()} == {"weight": (2, 3), "bias": (2,)}


def dtype(s: Any, _: Any) -> None:
    has_parameters(s.Layer(3, 2), {"weight": (2, 3), "bias": (2,)}, dtype=torch.float32)
    assert all(p.dtype == torch.float32 for p in s.Layer(3, 2).parameters())


def buffers(s: Any, _: Any) -> None:
    has_parameters(s.Layer(3, 2), {"weight": (2, 3), "bias": (2,)}, buffers={"calls": ()})
    assert dict(s.Layer(3, 2).named_buffers())["calls"].dtype == torch.int64


def submodules(s: Any, _: Any) -> None:
    net = s.Net()
    assert [name for name, _ in net.named_children()] == ["first", "second"]
    assert net.second.out_features == 2 and sum(p.numel() for p in net.parameters()) == 3 * 8 + 8 + 8 * 2 + 2


def a_parameter(s: Any, _: Any) -> None:
    assert isinstance(s.Layer(3, 2).bias, torch.nn.Parameter)


def requires_grad(s: Any, _: Any) -> None:
    layer = s.Layer(3, 2)
    assert layer.bias.requires_grad and layer.bias.is_leaf and not layer.calls.requires_grad
    layer(torch.ones(1, 3))
    assert layer.bias.requires_grad  # asking for it has changed nothing
    layer.weight.requires_grad_(False)
    layer(torch.ones(1, 3))
    assert not layer.weight.requires_grad


def all_learn(s: Any, _: Any) -> None:
    learns(s.Net(), torch.randn(5, 3))


def backward(s: Any, _: Any) -> None:
    layer = s.Layer(3, 2)
    layer(torch.randn(5, 3)).pow(2).mean().backward()
    for parameter in layer.parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0
    layer.zero_grad()
    assert layer.weight.grad is None


def of_inputs(s: Any, _: Any) -> None:
    layer = s.Layer(3, 2).eval()
    x: Any = torch.randn(5, 3, requires_grad=True)
    layer(x).sum().backward()
    assert torch.allclose(x.grad, layer.weight.detach().sum(0).expand(5, 3))
    (found,) = gradients(layer, torch.randn(5, 3))
    assert found is not None and torch.allclose(found, x.grad)


def state_out(s: Any, _: Any) -> None:
    layer, mine = s.Layer(3, 2).eval(), torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.bias.copy_(torch.tensor([1.0, 2.0]))
    state = layer.state_dict()
    assert set(state) == {"weight", "bias", "calls"}
    mine.load_state_dict({name: state[name] for name in ("weight", "bias")})
    x = torch.randn(5, 3)
    torch.testing.assert_close(layer(x), mine(x))


def state_in(s: Any, _: Any) -> None:
    layer, mine = s.Layer(3, 2).eval(), torch.nn.Linear(3, 2)
    told = layer.load_state_dict({**mine.state_dict(), "calls": torch.tensor(0)})
    assert told.missing_keys == [] and told.unexpected_keys == []
    torch.testing.assert_close(layer.weight, mine.weight)
    x = torch.randn(5, 3)
    torch.testing.assert_close(layer(x), mine(x))


def of_reference(s: Any, reference: Any) -> None:
    layer, other = s.Layer(3, 2).eval(), reference.Layer(3, 2).eval()
    same_weights(layer, other)
    x = torch.randn(5, 3)
    same_values(layer(x), other(x))


def modes(s: Any, _: Any) -> None:
    layer, x = s.Layer(30, 2), torch.randn(5, 30)
    assert layer.training and not torch.equal(layer(x), layer(x))
    assert not layer.eval().training and torch.equal(layer(x), layer(x))
    layer.train()
    assert layer.drop.training


def buffer_counts(s: Any, _: Any) -> None:
    layer = s.Layer(3, 2)
    for _step in range(3):
        layer(torch.ones(1, 3))
    assert layer.calls == 3


def by_heart(s: Any, _: Any) -> None:
    overfits(s.Net().eval(), [torch.randn(4, 3)], torch.randn(4, 2), to=0.3)


def trains(s: Any, _: Any) -> None:
    net, x = s.Net().eval(), torch.randn(16, 3)
    optimizer, losses = torch.optim.SGD(net.parameters(), lr=0.1), []
    for _step in range(30):
        loss = functional.mse_loss(net(x), x[:, :2])
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[-1] < 0.6 * losses[0]


def saves(s: Any, _: Any) -> None:
    layer, other, file = s.Layer(3, 2).eval(), s.Layer(3, 2).eval(), io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file))
    x = torch.randn(5, 3)
    assert torch.equal(layer(x), other(x))


def text(s: Any, _: Any) -> None:
    assert "into=3" in repr(s.Layer(3, 2))


def optimizer(s: Any, _: Any) -> None:
    mine: Any = torch.nn.Linear(3, 2)
    theirs = s.Layer(3, 2)
    theirs(torch.randn(5, 3)).sum().backward()
    before, gradient = theirs.weight.detach().clone(), theirs.weight.grad.clone()
    descent = s.Descent(theirs.parameters(), lr=0.5)
    descent.step()
    torch.testing.assert_close(theirs.weight, before - 0.5 * gradient)
    mine(torch.randn(5, 3)).sum().backward()
    before = mine.weight.detach().clone()
    s.Descent([*mine.parameters()], lr=0.5).step()  # of parameters that the check made
    torch.testing.assert_close(mine.weight, before - 0.5 * mine.weight.grad)


def scheduler(s: Any, _: Any) -> None:
    descent = s.Descent(s.Layer(3, 2).parameters(), lr=0.8)
    schedule, rates = s.halving(descent), []
    for _step in range(3):
        rates.append(descent.param_groups[0]["lr"])
        descent.step()
        schedule.step()
    assert rates == pytest.approx([0.8, 0.4, 0.2])
    assert schedule.get_last_lr() == pytest.approx([0.1])


def dataset(s: Any, _: Any) -> None:
    data: Any = s.Squares(4)
    assert len(data) == 4 and isinstance(data, torch.utils.data.Dataset)
    data = s.Squares(4)
    assert [(float(x), float(y)) for x, y in data] == [(0.0, 0.0), (1.0, 1.0), (2.0, 4.0), (3.0, 9.0)]
    with pytest.raises(IndexError):
        data[4]
    mine = torch.utils.data.DataLoader(data, batch_size=2)  # a loader of the check's takes it as well
    assert [batch[1].tolist() for batch in mine] == [[0.0, 1.0], [4.0, 9.0]]


def data_loader(s: Any, _: Any) -> None:
    loader = s.loader(5, 2)
    assert isinstance(loader, torch.utils.data.DataLoader) and len(loader) == 3
    assert [tuple(x.shape) for x, _ in loader] == [(2,), (2,), (1,)]


def autograd_function(s: Any, _: Any) -> None:
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert issubclass(s.Cube, torch.autograd.Function)
    s.cube(x).sum().backward()
    torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)
    y = s.Cube.apply(x)
    assert y.requires_grad and y.grad_fn is not None and not y.is_leaf


def hooks(s: Any, _: Any) -> None:
    assert s.shapes_of(s.Net(), torch.randn(4, 3)) == [(4, 8), (4, 2)]


def loss(s: Any, _: Any) -> None:
    x, y = torch.randn(4, requires_grad=True), torch.randn(4)
    found = s.weighted(x, y)
    torch.testing.assert_close(found, functional.mse_loss(x, y))
    found.backward()
    torch.testing.assert_close(x.grad, 2 * (x.detach() - y) / 4)


def copies(s: Any, _: Any) -> None:
    layer = s.Layer(3, 2).eval()
    other = copy.deepcopy(layer)
    with torch.no_grad():
        other.weight.zero_()
    assert not other(torch.ones(1, 3)).any() and layer(torch.ones(1, 3)).any()


def counts(s: Any, _: Any) -> None:
    layer = s.Layer(3, 2).eval()
    uses_at_most(layer, (torch.randn(5, 3),), ops=6)
    uses_at_most(layer.forward, (torch.randn(5, 3),), ops=6)
    assert count(layer, torch.randn(5, 3)).ops.total() == count(layer.forward, torch.randn(5, 3)).ops.total()


def no_grad(s: Any, _: Any) -> None:
    layer = s.Layer(3, 2)
    with torch.no_grad():
        assert not layer(torch.ones(1, 3)).requires_grad
    assert layer(torch.ones(1, 3)).requires_grad


IDIOMS: dict[str, Any] = {
    "a module": a_module,
    "names and shapes": names_and_shapes,
    "dtype": dtype,
    "buffers": buffers,
    "submodules": submodules,
    "a parameter": a_parameter,
    "requires grad": requires_grad,
    "all learn": all_learn,
    "backward": backward,
    "gradients of inputs": of_inputs,
    "state out": state_out,
    "state in": state_in,
    "same weights": of_reference,
    "train and eval": modes,
    "buffer counts": buffer_counts,
    "overfits": by_heart,
    "trains": trains,
    "saves and loads": saves,
    "text": text,
    "optimizer": optimizer,
    "scheduler": scheduler,
    "dataset": dataset,
    "data loader": data_loader,
    "autograd function": autograd_function,
    "hooks": hooks,
    "loss": loss,
    "copy": copies,
    "counts": counts,
    "no grad": no_grad,
}


def begun(function: Function, text: str, owner: str = "your", **more: Any) -> Side:
    torch.manual_seed(1)
    side = side_of(function(text, owner=owner, **more))
    side.begin_check(1, recording=False)
    return side


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_holds_for_the_right_module_and_sees_a_wrong_one(function: Function, name: str) -> None:
    """The same lines that a test in one process would have."""
    wrong = RIGHT
    for right, fault in FAULTS[name].items():
        assert right in wrong
        wrong = wrong.replace(right, fault)
    reference = Student(begun(function, RIGHT, "the reference's"))
    IDIOMS[name](Student(begun(function, RIGHT)), reference)
    with pytest.raises(Exception) as seen:
        IDIOMS[name](Student(begun(function, wrong)), reference)
    assert not isinstance(seen.value, NotImplementedError)


def test_a_module_moves_to_a_device_whole(function: Function) -> None:
    """Parameters and buffers, those that are no parameters of anybody's included."""
    on_device(Student(begun(function, RIGHT, device="sim")).Layer(3, 2).to("sim"), "sim")
    fault = {'self.register_buffer("calls", torch.zeros((), dtype=torch.int64))': "self.calls = 0"}
    fault |= {"    def extra_repr": "    def _apply(self, fn, recurse=True): return self\n    def extra_repr"}
    wrong = RIGHT
    for right, text in fault.items():
        wrong = wrong.replace(right, text)
    with pytest.raises(CheckFailed, match="a parameter or buffer of the result is on cpu"):
        on_device(Student(begun(function, wrong, device="sim")).Layer(3, 2).to("sim"), "sim")


def test_a_layer_is_timed(function: Function) -> None:
    """It is made again in fresh processes, with the weights that it has."""
    student, reference = Student(begun(function, RIGHT)), Student(begun(function, RIGHT, "the reference's"))
    layer, other = student.Layer(20, 20).eval(), reference.Layer(20, 20).eval()
    same_weights(layer, other)
    for each in (layer, layer.forward):
        found = as_fast_as(each, other, lambda n: (torch.randn(n, 20),), size=5_000, at_most=50, rtol=1e-3, atol=1e-3)
        assert found.below


def test_helpers_say_what_is_wrong(function: Function) -> None:
    """In words that a hidden check may say, with the names in the story."""
    student = Student(begun(function, RIGHT.replace("@ self.weight.T", "@ self.weight.T.detach()")))
    layer = student.Layer(3, 2)
    with pytest.raises(CheckFailed, match="a parameter of the module gets no gradient: weight"):
        learns(layer, torch.randn(5, 3))
    with pytest.raises(CheckFailed, match="the module lacks a parameter `scale`"):
        has_parameters(layer, {"weight": (2, 3), "bias": (2,), "scale": ()})
    with pytest.raises(CheckFailed, match="`weight` of the module has the wrong shape"):
        has_parameters(layer, {"weight": (3, 2), "bias": (2,)})
    with pytest.raises(CheckFailed, match="the module has parameters that nobody asks for"):
        has_parameters(layer, {"weight": (2, 3)})
    with pytest.raises(CheckFailed, match="the module is a tensor"):
        learns(torch.ones(2), torch.randn(5, 3))
    with pytest.raises(CheckFailed, match="`weight` of the module has the wrong shape"):
        same_weights(layer, student.Layer(4, 2))
