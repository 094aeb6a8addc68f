"""The built-in probes, called as a worker calls them."""

from __future__ import annotations

from typing import Any

import torch

from grader.worker.builtin_probes import gradcheck, training_step


class Forgetful(torch.autograd.Function):
    """x ** 3, whose backward forgets the gradient that arrives."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        x: torch.Tensor = ctx.saved_tensors[0]
        return 3 * x**2


def test_gradcheck_says_what_differs() -> None:
    """A wrong gradient comes back as a text, a right one as none."""
    assert "mismatch" in gradcheck(Forgetful.apply, torch.rand(3))
    assert gradcheck(torch.exp, torch.rand(3)) == ""
    assert gradcheck(lambda x, mask: x.masked_fill(mask, 0.0), torch.rand(3), torch.tensor([True, False, True])) == ""


def test_gradcheck_allows_for_the_dtype_of_the_result() -> None:
    """A right gradient is right where the result is rounded to a less precise dtype; a wrong one is not in float32."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        assert gradcheck(lambda x, dtype=dtype: x.exp().to(dtype), torch.rand(3)) == ""
        assert gradcheck(lambda x, dtype=dtype: x.detach().exp().to(dtype), torch.rand(3))
    forgetful: Any = Forgetful.apply
    assert "mismatch" in gradcheck(lambda x: forgetful(x).float(), torch.rand(3))


def step(model: Any, criterion: Any, optimizer: Any, x: torch.Tensor, y: torch.Tensor) -> float:
    optimizer.zero_grad()
    return adds_up(model, criterion, optimizer, x, y)


def adds_up(model: Any, criterion: Any, optimizer: Any, x: torch.Tensor, y: torch.Tensor) -> float:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return float(loss.detach())


def test_second_step_shows_gradients_of_the_first() -> None:
    """A step without `zero_grad` moves the parameters elsewhere, from the second call on."""
    batch, made = [torch.rand(4, 3), torch.rand(4, 1)], ("nn.Linear(3, 1)", "nn.MSELoss()")
    sgd = "torch.optim.SGD(model.parameters(), lr=0.1)"

    def weight(function: Any, steps: int) -> torch.Tensor:
        after: dict[str, torch.Tensor] = training_step(function, batch, *made, sgd, steps, 0)[2]
        return after["weight"]

    assert torch.equal(weight(step, 1), weight(adds_up, 1))
    assert not torch.equal(weight(step, 2), weight(adds_up, 2))
