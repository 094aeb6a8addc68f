"""What traces a program without numbers: fake tensors, `opcheck`, `make_fx`."""

from __future__ import annotations

import warnings

import pytest
import torch
from accelerator.modes import grad_of, in_mode, raises
from torch import library, nn

pytestmark = pytest.mark.lane


def _double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@in_mode("cuda")
def test_opcheck() -> None:
    """`opcheck` accepts a right operator on the device, also where it traces backward, and refuses a wrong one."""
    warnings.filterwarnings("ignore", "The .grad attribute of a Tensor")  # PyTorch 2.14 reads it, on the CPU, too
    x = torch.ones(3, device="cuda:1", requires_grad=True)
    right = library.custom_op("traced::right", _double, mutates_args=())
    right.register_fake(torch.empty_like)
    right.register_autograd(lambda _, grad: grad * 2)
    assert set(library.opcheck(right, (x,)).values()) == {"SUCCESS"}
    wrong = library.custom_op("traced::wrong", _double, mutates_args=())
    wrong.register_fake(lambda x: x.new_empty(7))
    wrong.register_autograd(lambda _, grad: grad * 2)
    with pytest.raises(Exception, match=r"Shapes .* are not equal"):
        library.opcheck(wrong, (x,))


@in_mode("cuda")
def test_backward_of_fake_tensors() -> None:
    """A step of training runs over fake tensors, whose devices have the name that the program gave."""
    with torch._subclasses.FakeTensorMode() as mode:
        model = nn.Linear(2, 3, device="cuda:1")
        optimizer = torch.optim.Adam(model.parameters())
        loss = model(torch.ones(4, 2, device="cuda:1")).sum()
        loss.backward()
        optimizer.step()
        assert {str(one.device) for one in (loss, model.weight, grad_of(model.weight))} == {"cuda:1"}
        assert str(optimizer.state[model.weight]["exp_avg"].device) == "cuda:1"
        with raises(RuntimeError, "cuda:1"):
            model(torch.ones(4, 2, device="cuda:0"))
        assert str(mode.from_tensor(torch.ones(1)).device) == "cpu"


@in_mode("cuda")
def test_a_graph_of_forward_and_backward() -> None:
    """`make_fx` records forward and backward of a function on the device."""
    from torch.fx.experimental.proxy_tensor import make_fx

    def gradient(x: torch.Tensor) -> torch.Tensor:
        return torch.autograd.grad(x.sin().sum(), x)[0]

    x = torch.ones(2, device="cuda", requires_grad=True)
    for tracing_mode in ("real", "fake", "symbolic"):
        traced = make_fx(gradient, tracing_mode=tracing_mode)(x)
        assert torch.equal(traced(x), x.detach().cos()), tracing_mode
