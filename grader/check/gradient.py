"""What a check says about gradients. They are computed beside student code, so they are claims."""

from __future__ import annotations

import math
from typing import Any

import torch

from grader.check import show
from grader.check.kinds import is_tensor, require
from grader.model.endings import CheckFailed
from grader.model.public import Public, say
from grader.remote.handle import Handle
from grader.remote.probe import built_in
from grader.remote.raised import raised_by_student
from grader.wire.incoming import copies

_BELONGS = 1e-3
"""How exact, relative and absolute, the product of gradient and arguments is: float32 sums of some hundred numbers."""


def gradients(function: Handle, *args: Any) -> list[torch.Tensor | None]:
    """The gradient of the sum of the result with respect to each tensor argument; None where there is none."""
    try:
        answer = built_in(function, "gradients", list(args), args, {})
    except RuntimeError as error:
        raised = raised_by_student(error)
        if raised is not None and "requires grad" in raised.text:  # PyTorch's refusal to go to NumPy with a graph
            raise CheckFailed(_left(function)) from None
        raise
    # A worker may answer anything; the list must be one and have a place for each argument.
    match answer:
        case [_, list() as grads] if len(grads) == len(args):
            return grads
    raise CheckFailed(say("the gradients of `{}` could not be read", function))


def keeps_graph(function: Handle, *args: Any, degree: float | None = None) -> None:
    """The result depends on the tensor arguments through PyTorch alone: nothing went through a list or NumPy.

    Args:
        function: a function of the student's.
        args: its arguments.
        degree: of a result that grows by the factor c ** degree where all tensor arguments grow by c, such as 2 of a
            sum of squares. Then gradient . x must be degree times the result, so a gradient that is only borrowed
            from the arguments shows.
    """
    # Without a floating-point argument there is no gradient to lose, and nothing is asked.
    wanted = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.dtype.is_floating_point]
    grads = gradients(function, *args)
    found = [grad for grad in grads if grad is not None]
    require(not wanted or found, _left(function))
    if degree is None:
        return
    result = function(*copies(*args))
    is_tensor(result)
    products = [(grad.double() * arg.double()).sum() for grad, arg in zip(grads, args, strict=True) if grad is not None]
    asked, belongs = degree * float(result.detach().double().sum()), float(sum(products))
    public = say("the gradient does not belong to the result: the numbers left PyTorch on the way")
    require(
        math.isclose(asked, belongs, rel_tol=_BELONGS, abs_tol=_BELONGS),
        public,
        f"{public}\ngradient . x is {belongs:g}, {degree:g} times the result is {asked:g}",
    )


def gradcheck(function: Handle, *args: Any) -> None:
    """The gradients agree with finite differences, in float64."""
    difference = built_in(function, "gradcheck", list(args), args, {})
    public = say("the gradient of `{}` is wrong", function)
    require(difference == "", public, f"{public}\n{show.show(difference)}")


def _left(function: Handle) -> Public:
    return say(
        "the result of `{}` has no gradient: numbers left PyTorch on the way "
        "(a list, NumPy, .item(), .detach(), .data)",
        function,
    )
