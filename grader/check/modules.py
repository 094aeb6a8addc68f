"""What a check says about an `nn.Module`: its parameters and buffers, whether they learn, weights taken from another.

A module stays in the student's worker; its parameters come as tensors that belong to it: what is written into them, or
into their gradients, is written there before the next call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from grader.check import show
from grader.check.kinds import is_instance, pair, require
from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.wire.incoming import copies

Shapes = Mapping[str, Sequence[int]]


def has_parameters(
    module: Any,
    parameters: Shapes,
    *,
    buffers: Shapes | None = None,
    dtype: torch.dtype | None = None,
    what: str = "the module",
) -> None:
    """The module has parameters of these names and shapes, and no others.

    Args:
        module: the student's.
        parameters: shapes by name, such as {"weight": (4, 3)}.
        buffers: the same for buffers; any if nothing is said.
        dtype: of all parameters; any if nothing is said.
        what: its name in messages.
    """
    found = _named(module, "parameters", what)
    _same_names(found, parameters, say("a parameter"), say("parameters"), what)
    if buffers is not None:
        _same_names(_named(module, "buffers", what), buffers, say("a buffer"), say("buffers"), what)
    for name, tensor in found.items():
        public = say("a parameter of {} has the wrong dtype", what)
        story = f"{public}: {name} has {show.dtype(tensor)}, {dtype} is asked"
        require(dtype is None or tensor.dtype is dtype, public, story)


def learns(module: Any, *args: Any, what: str = "the module") -> None:
    """Every parameter that is to be trained gets a gradient that is not all zeros, from the squares of the result.

    Args:
        module: the student's. Its gradients are those of this call afterwards.
        args: what it is called with; best random numbers of several sizes.
        what: its name in messages.
    """
    parameters = {name: each for name, each in _named(module, "parameters", what).items() if each.requires_grad}
    require(parameters, say("{} has no parameter that can be trained", what))
    module.zero_grad()
    result = module(*args)
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        raise CheckFailed(say("the result of {} has no gradient", what))
    result.square().sum().backward()
    idle = [name for name, each in parameters.items() if each.grad is None or not bool((each.grad != 0).any())]
    public = say("a parameter of {} gets no gradient", what)
    require(not idle, public, f"{public}: {', '.join(idle)}")


def same_weights(module: Any, other: Any, what: str = "the module") -> None:
    """Give the module the parameters and buffers of another, the reference's most often; they must have the same names.

    Args:
        module: the student's.
        other: the one from which they are taken.
        what: its name in messages.
    """
    theirs = other.state_dict()
    mine = _tensors(module.state_dict() if _is_module(module, what) else None, say("the state of {}", what))
    # Names of another's are no words of the check file, so that nobody reads them of a hidden check.
    shapes = {name: tensor.shape for name, tensor in theirs.items()}
    _same_names(mine, shapes, say("an entry"), say("entries"), what, named=False)
    module.load_state_dict(dict(zip(theirs, copies(*theirs.values()), strict=True)))


def overfits(
    module: Any,
    batch: Sequence[Any],
    target: torch.Tensor,
    *,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = torch.nn.functional.mse_loss,
    steps: int = 60,
    lr: float = 0.05,
    to: float = 0.1,
    what: str = "the module",
) -> None:
    """The module learns one batch: its loss falls to a part of what it was.

    Args:
        module: the student's. It is trained, by Adam.
        batch: what it is called with.
        target: what it should give.
        loss: of a result and the target.
        steps: how many there are.
        lr: learning rate.
        to: the largest part of the first loss that may be left.
        what: its name in messages.
    """
    optimizer = torch.optim.Adam(_named(module, "parameters", what).values(), lr=lr)
    losses = []
    for _ in range(steps + 1):
        optimizer.zero_grad()
        found = loss(module(*batch), target)
        if not found.requires_grad:
            raise CheckFailed(say("the result of {} has no gradient", what))
        found.backward()
        optimizer.step()
        losses.append(float(found.detach()))
    public = say("{} does not learn one batch by heart", what)
    require(losses[-1] <= to * losses[0], public, f"{public}\nits loss is {losses[0]:g} first, {losses[-1]:g} last")


def tensors_of(module: Any, what: str) -> dict[str, torch.Tensor]:
    """All parameters and buffers of a module, by name."""
    return {**_named(module, "parameters", what), **_named(module, "buffers", what)}


def _is_module(module: Any, what: str) -> bool:
    is_instance(module, torch.nn.Module, what)
    return True


def _named(module: Any, kind: str, what: str) -> dict[str, torch.Tensor]:
    found = dict(getattr(module, f"named_{kind}")()) if _is_module(module, what) else None
    return _tensors(found, say("the parameters or buffers of {}", what))


def _tensors(found: Any, what: str) -> dict[str, torch.Tensor]:
    # A worker may answer anything.
    if isinstance(found, dict) and all(
        isinstance(key, str) and isinstance(each, torch.Tensor) for key, each in found.items()
    ):
        return found
    raise CheckFailed(say("{} could not be read", what))


def _same_names(
    found: Mapping[str, torch.Tensor], asked: Shapes, one: str, many: str, what: str, *, named: bool = True
) -> None:
    names = pair(f"the {many} of {what}", sorted(asked), sorted(found))
    for name, shape in asked.items():
        told = say("{} lacks {} `{}`", what, one, name)
        require(name in found, told if named else say("{} lacks {} that is asked", what, one), f"{told}\n{names}")
        told = say("`{}` of {} has the wrong shape", name, what)
        story = pair(told, tuple(shape), show.shape(found[name]))
        require(show.shape(found[name]) == tuple(shape), told if named else say("{} has the wrong shape", one), story)
    public = say("{} has {} that nobody asks for", what, many)
    require(len(found) == len(asked), public, f"{public}\n{names}")
