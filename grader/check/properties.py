"""Shape, dtype, device and layout of tensors and arrays."""

from __future__ import annotations

from typing import Any

import torch

from grader.check import pictures, show
from grader.check.kinds import has_shape, is_of, is_tensor, pair, said_by
from grader.check.modules import tensors_of
from grader.connection.connection import is_proxy
from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.wire.facts import Facts, facts_of


def same_shape(yours: Any, asked: Any, what: str = "the result") -> None:
    """The shapes are equal; `asked` is a tensor, an array or a shape."""
    has_shape(yours, what)
    wanted = tuple(asked.shape if hasattr(asked, "shape") else asked)
    if show.shape(yours) != wanted:
        public = say("{} has the wrong shape", what)
        story = pair(public, wanted, show.shape(yours))
        raise CheckFailed(public, story, "shape", pictures.two_shapes(wanted, show.shape(yours), said_by(story)))


def same_dtype(yours: Any, asked: Any, what: str = "the result") -> None:
    """The dtypes are equal; `asked` is a tensor, an array or a dtype."""
    has_shape(yours, what)
    # By name, as PyTorch and NumPy have types of their own for the same dtype.
    wanted = str(getattr(asked, "dtype", asked)).removeprefix("torch.")
    if show.dtype(yours) != wanted:
        public = say("{} has dtype {}, {} is asked", what, show.dtype(yours, public=True), wanted)
        raise CheckFailed(public, f"{what} has dtype {show.dtype(yours)}, {wanted} is asked", about="dtype")


def on_device(yours: Any, asked: str, what: str = "the result") -> None:
    """The tensor, or all of a module, is on a device; "cuda" allows any index, "cuda:1" only that one."""
    if is_proxy(yours) and is_of(yours, torch.nn.Module):
        for tensor in tensors_of(yours, what).values():
            on_device(tensor, asked, say("a parameter or buffer of {}", what))
        return
    is_tensor(yours, what)
    device = facts(yours).device
    place = device if device in show.DEVICES else "another device"  # a worker's free text goes into no message
    if asked not in (device, device.split(":")[0]):
        raise CheckFailed(say("{} is on {}, {} is asked", what, place, asked), about="device")


def same_layout(yours: Any, asked: Any, what: str = "the result") -> None:
    """Shape, strides and storage offset are equal."""
    if isinstance(asked, torch.Tensor):
        is_tensor(yours, what)  # the strides of an array are in bytes
    same_shape(yours, asked, what)
    for name, mine, wanted in (
        (say("strides"), strides_of(yours), strides_of(asked)),
        (say("storage offset"), offset_of(yours), offset_of(asked)),
    ):
        if mine != wanted:
            public = say("{} has the wrong {}", what, name)
            story = pair(public, wanted, mine)
            raise CheckFailed(public, story, picture=pictures.windows({"asked": asked, "yours": yours}, said_by(story)))


def facts(tensor: torch.Tensor) -> Facts:
    """What the worker says of a tensor: `requires_grad`, `is_leaf`, `grad_fn`, `version`, `device`. It is untrusted.

    A tensor that a check made has its own facts.
    """
    is_tensor(tensor)
    return facts_of(tensor)


def strides_of(value: Any) -> tuple[int, ...]:
    """The strides: of a tensor in elements, of an array in bytes."""
    return tuple(value.stride()) if isinstance(value, torch.Tensor) else tuple(value.strides)


def offset_of(value: Any) -> int:
    """The storage offset of a tensor, in elements; 0 of anything else."""
    return int(value.storage_offset()) if isinstance(value, torch.Tensor) else 0
