"""What a value is: its kind, shape, dtype, device and layout; of a module, its parameters and buffers.

Besides, `require`, with which a check says anything else.

Each failure has two texts: the property that does not hold, which a student may read of a hidden check, and the whole
story with numbers, for shown checks and for staff. A module stays in the student's worker; its parameters come as
copies: to change them, give it those of another module with `same_weights`, or its own `load_state_dict`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grader.check import show
from grader.connection.connection import is_proxy, kind_of, named, place_of, word_of
from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.wire.facts import Facts, facts_of


def require(condition: Any, public: str, story: str = "") -> None:
    """Fail unless a condition holds.

    Args:
        condition: anything that is true or false.
        public: what is wrong, in the student's words; must not tell a hidden input or its expected value.
        story: the same with numbers, for shown checks and staff.
    """
    if not condition:
        raise CheckFailed(public, story)


def is_kind(fits: bool, yours: Any, asked: str, what: str) -> None:
    """Fail unless a value is of a kind.

    Args:
        fits: whether it is.
        yours: the value.
        asked: the kind, in words.
        what: its name in messages.
    """
    if not fits:
        public = say("{} is {}, {} is asked", what, show.kind(yours, public=True), asked)
        raise CheckFailed(public, f"{what} is {show.kind(yours)}, {asked} is asked", about="kind")


def is_tensor(yours: Any, what: str = "the result") -> None:
    """The value is a tensor."""
    is_kind(isinstance(yours, torch.Tensor), yours, "a tensor", what)


def is_array(yours: Any, what: str = "the result") -> None:
    """The value is a NumPy array."""
    is_kind(isinstance(yours, np.ndarray), yours, "a NumPy array", what)


def is_instance(yours: Any, kind: Any, what: str = "the result") -> None:
    """The value is of a type: a plain one, one of PyTorch's, or a class of the student's; bool is no int here."""
    is_kind(is_of(yours, kind), yours, show.with_article(word_of(kind) if is_proxy(kind) else kind.__name__), what)


def is_of(yours: Any, kind: Any) -> bool:
    """Whether a value is of a type. What stays in a worker is examined there, and its answer is untrusted."""
    if is_proxy(yours):
        known = kind if is_proxy(kind) else f"{kind.__module__}.{kind.__qualname__}"
        connection = place_of(yours).connection
        return connection.call(named(connection, "is_instance", ""), (yours, known), {}, yours) is True
    # In Python True is an int; an exercise that asks for a number does not mean that.
    return not is_proxy(kind) and isinstance(yours, kind) and not (kind is int and isinstance(yours, bool))


def has_shape(yours: Any, what: str) -> None:
    """The value has a shape and a dtype: it is a tensor, an array or a NumPy number."""
    is_kind(hasattr(type(yours), "shape") and hasattr(type(yours), "dtype"), yours, "a tensor", what)


def kind(value: Any) -> str:
    """What a value is, in words for a message: "a tensor", "an int", "None (is a `return` missing?)"."""
    return show.kind(value, public=True)


def pair(head: str, asked: Any, yours: Any, first: str = "asked", second: str = "yours") -> str:
    """A head, and below it what is asked and what is there."""
    width = max(len(first), len(second)) + 2
    return f"{head}\n{first:<{width}}{asked}\n{second:<{width}}{yours}"


def said_by(story: str) -> str:
    """What a pair says below its head, which a picture says as well."""
    return story.partition("\n")[2]


def type_name(value: Any) -> str:
    """The class name of an object that stays in a worker, as the worker says; of anything else, its own."""
    return kind_of(value) if is_proxy(value) else type(value).__name__


def same_shape(yours: Any, asked: Any, what: str = "the result") -> None:
    """The shapes are equal; `asked` is a tensor, an array or a shape."""
    has_shape(yours, what)
    wanted = tuple(asked.shape if hasattr(asked, "shape") else asked)
    if show.shape(yours) != wanted:
        public = say("{} has the wrong shape", what)
        story = pair(public, wanted, show.shape(yours))
        raise CheckFailed(public, story, "shape", show.two_shapes(wanted, show.shape(yours), said_by(story)))


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
            raise CheckFailed(public, story, picture=show.windows({"asked": asked, "yours": yours}, said_by(story)))


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


def same_weights(module: Any, other: Any, what: str = "the module") -> None:
    """Give the module the parameters and buffers of another, the reference's most often; they must have the same names.

    Args:
        module: the student's.
        other: the one from which they are taken.
        what: its name in messages.
    """
    theirs = other.state_dict()
    is_instance(module, torch.nn.Module, what)
    mine = _tensors(module.state_dict(), say("the state of {}", what))
    # Names of another's are no words of the check file, so that nobody reads them of a hidden check.
    shapes = {name: tensor.shape for name, tensor in theirs.items()}
    _same_names(mine, shapes, say("an entry"), say("entries"), what, named=False)
    module.load_state_dict(theirs)


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


def tensors_of(module: Any, what: str) -> dict[str, torch.Tensor]:
    """All parameters and buffers of a module, by name."""
    return {**_named(module, "parameters", what), **_named(module, "buffers", what)}


def _named(module: Any, kind: str, what: str) -> dict[str, torch.Tensor]:
    is_instance(module, torch.nn.Module, what)
    return _tensors(dict(iter(getattr(module, f"named_{kind}")())), say("the parameters or buffers of {}", what))


def _tensors(found: Any, what: str) -> dict[str, torch.Tensor]:
    # A worker may answer anything.
    if isinstance(found, dict) and all(
        isinstance(key, str) and isinstance(each, torch.Tensor) for key, each in found.items()
    ):
        return found
    raise CheckFailed(say("{} could not be read", what))
