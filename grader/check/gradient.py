"""What a check says about gradients. They are computed beside student code, and so they are untrusted."""

from __future__ import annotations

import math
from typing import Any

import torch

from grader.check import show
from grader.check.properties import is_instance, is_tensor, require
from grader.connection.connection import Proxy
from grader.connection.raised import raised_by_student
from grader.connection.student import own_probe
from grader.model.endings import CheckFailed
from grader.model.public import Public, say
from grader.wire.decode import copies

_LOST = say(
    " has no gradient: on the way the numbers went through something that records none "
    "(a list, NumPy, .item(), .detach(), .data, torch.no_grad(), integers, a comparison)"
)
_IN_PLACE = say(" has no gradient: an argument is changed in place, which PyTorch refuses where gradients are recorded")
_REFUSED = (
    ("Can't call numpy() on Tensor that requires grad", _LOST),
    ("a leaf Variable that requires grad is being used in an in-place operation", _IN_PLACE),
    ("a view of a leaf Variable that requires grad is being used in an in-place operation", _IN_PLACE),
    ("modified by an inplace operation", say(" has no gradient: what it needs was overwritten in place on the way")),
    (
        "arguments don't support automatic differentiation",
        say(" has no gradient: it was written by `out=`, where none is recorded"),
    ),
)
"""What PyTorch says where it refuses a gradient, and what that means."""

_BELONGS = 1e-3
"""How exact, relative and absolute, the product of gradient and arguments is: float32 sums of some hundred numbers."""


def gradients(function: Proxy, *args: Any) -> list[torch.Tensor | None]:
    """The gradient of the sum of the result with respect to each tensor argument; None where there is none."""
    try:
        answer = own_probe(function, "gradients", args, args, {})
    except RuntimeError as error:
        raised = raised_by_student(error)
        refused = next((why for text, why in _REFUSED if raised is not None and text in raised.text), None)
        if refused is None:
            raise
        raise CheckFailed(say("{}{}", _of(function), refused)) from None
    # A worker may answer anything; the list must be one and have a place for each argument.
    match answer:
        case [result, list() as grads] if len(grads) == len(args):
            is_tensor(result, _of(function))
            return grads
    raise CheckFailed(say("the gradients of `{}` could not be read", function))


def keeps_graph(function: Proxy, *args: Any, degree: float | None = None) -> None:
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
    require(not wanted or found, say("{}{}", _of(function), _LOST))
    if degree is None:
        return
    result = function(*copies(*args))
    is_tensor(result)
    products = [(grad.double() * arg.double()).sum() for grad, arg in zip(grads, args, strict=True) if grad is not None]
    asked, belongs = degree * float(result.detach().double().sum()), float(sum(products))
    public = say("the gradient does not belong to the result: a part of it was computed where no gradient is recorded")
    require(
        math.isclose(asked, belongs, rel_tol=_BELONGS, abs_tol=_BELONGS),
        public,
        f"{public}\ngradient . x is {belongs:g}, {degree:g} times the result is {asked:g}",
    )


def gradcheck(function: Proxy, *args: Any) -> None:
    """The gradients agree with finite differences, in float64."""
    difference = own_probe(function, "gradcheck", args, args, {})
    public = say("the gradient of `{}` is wrong", function)
    require(difference == "", public, f"{public}\n{show.show(difference)}")


def _of(function: Proxy) -> Public:
    return say("the result of `{}`", function)


def learns(module: Any, *args: Any, what: str = "the module") -> None:
    """Every parameter that is to be trained gets a gradient that is not all zeros, from the squares of the result.

    Args:
        module: the student's. Its gradients are those of this call afterwards.
        args: what it is called with; best random numbers of several sizes.
        what: its name in messages.
    """
    is_instance(module, torch.nn.Module, what)
    match own_probe(module, "idle_parameters", [list(args)], args, {}):
        case [int(count), bool(has_gradient), list() as idle] if all(isinstance(name, str) for name in idle):
            require(count, say("{} has no parameter that can be trained", what))
            require(has_gradient, say("the result of {} has no gradient", what))
            public = say("a parameter of {} gets no gradient", what)
            require(not idle, public, f"{public}: {', '.join(idle)}")
            return
    raise CheckFailed(say("the gradients of {} could not be read", what))
