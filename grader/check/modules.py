"""What a check says about an `nn.Module`: its parameters and buffers, whether they learn, weights taken from another.

A module stays in the student's worker, and is trained there. Its parameters come as copies: to change them, give it
those of another module with `same_weights`, or its own `load_state_dict`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from grader.check import show
from grader.check.kinds import is_instance, pair, require
from grader.connection.student import own_probe
from grader.model.endings import CheckFailed
from grader.model.public import say

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
    _is_module(module, what)
    match own_probe(module, "idle_parameters", [list(args)], args, {}):
        case [int(count), bool(has_gradient), list() as idle] if all(isinstance(name, str) for name in idle):
            require(count, say("{} has no parameter that can be trained", what))
            require(has_gradient, say("the result of {} has no gradient", what))
            public = say("a parameter of {} gets no gradient", what)
            require(not idle, public, f"{public}: {', '.join(idle)}")
            return
    raise CheckFailed(say("the gradients of {} could not be read", what))


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
    module.load_state_dict(theirs)


def tensors_of(module: Any, what: str) -> dict[str, torch.Tensor]:
    """All parameters and buffers of a module, by name."""
    return {**_named(module, "parameters", what), **_named(module, "buffers", what)}


def _is_module(module: Any, what: str) -> bool:
    is_instance(module, torch.nn.Module, what)
    return True


def _named(module: Any, kind: str, what: str) -> dict[str, torch.Tensor]:
    found = dict(iter(getattr(module, f"named_{kind}")())) if _is_module(module, what) else None
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
