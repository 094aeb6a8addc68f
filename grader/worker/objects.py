"""Objects of a student's, asked by a check: whatever it does with a handle is done here, with the object."""

from __future__ import annotations

import asyncio
import builtins
import copy
import dataclasses
import gc
import inspect
import math
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from grader.wire.handles import name_of_class
from grader.wire.special import BINARY

_MOST_TEXT = 10_000
_MOST_PARAMETERS = 100
_MOST_PARTS = 100_000
_WORDS = {"and": operator.and_, "or": operator.or_, "divmod": divmod}


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda obj, other: function(other, obj)


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    found: Callable[[Any, Any], Any] = getattr(operator, f"__i{name}__")
    return found


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    name: _WORDS.get(name) or getattr(operator, f"__{name}__") for name in BINARY
}

_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    **{f"__{name}__": function for name, function in _BINARY.items()},
    **{f"__r{name}__": _reflected(function) for name, function in _BINARY.items()},
    **{f"__i{name}__": _in_place(name) for name in BINARY if name != "divmod"},
    **{f"__{name}__": getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs")},
    **{f"__{name}__": getattr(operator, name) for name in ("invert", "index", "contains")},
    **{f"__{name}__": getattr(operator, name) for name in ("getitem", "setitem", "delitem")},
    **{f"__{name}__": getattr(math, name) for name in ("trunc", "floor", "ceil")},
    **{f"__{name}__": getattr(builtins, name) for name in ("hash", "bool", "int", "float", "complex", "round")},
    **{f"__{name}__": getattr(builtins, name) for name in ("len", "iter", "reversed", "dir")},
    "__repr__": lambda obj: repr(obj)[:_MOST_TEXT],
    "__str__": lambda obj: str(obj)[:_MOST_TEXT],
    "__format__": lambda obj, form: format(obj, form)[:_MOST_TEXT],
    "__enter__": lambda obj: type(obj).__enter__(obj),
}


def operate(obj: Any, name: str, *values: Any) -> Any:
    """What a special method of an object gives, called as Python calls it."""
    return _OPERATIONS[name](obj, *values)


def following(iterator: Any) -> list[Any]:
    """The next item of an iterator, in a list; an empty one at its end."""
    try:
        return [next(iterator)]
    except StopIteration:
        return []


def leave(obj: Any, raised: list[str] | None) -> bool:
    """Leave a `with` block, in which the check may have raised: told as the nearest builtin error."""
    if raised is None:
        return bool(type(obj).__exit__(obj, None, None, None))
    kind = getattr(builtins, raised[0])
    try:
        error = kind(raised[1])
    except TypeError:  # such as UnicodeDecodeError, which wants five arguments
        kind, error = Exception, Exception(raised[1])
    return bool(type(obj).__exit__(obj, kind, error, None))


def set_attribute(obj: Any, name: str, value: Any) -> None:
    """Set an attribute."""
    setattr(obj, name, value)


def delete_attribute(obj: Any, name: str) -> None:
    """Delete an attribute."""
    delattr(obj, name)


def copied(obj: Any, deep: bool) -> Any:
    """A copy of an object."""
    return copy.deepcopy(obj) if deep else copy.copy(obj)


def is_instance(kind: Any, obj: Any) -> bool:
    """Whether an object is an instance of a class."""
    return isinstance(obj, kind)


def is_subclass(kind: Any, other: Any) -> bool:
    """Whether a class is a subclass of another."""
    return issubclass(other, kind)


def bases(kind: Any) -> list[str]:
    """The classes that a class derives from, each with the name of its module."""
    return [f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__[1:]]


def kinds(obj: Any) -> list[str]:
    """The class of an object and those that it derives from, where they are known by name."""
    return [name for base in type(obj).__mro__ if (name := name_of_class(base))]


def fields(obj: Any) -> list[list[Any]]:
    """The fields of a dataclass: name, type, and the default in a list, if there is one."""
    rows = dataclasses.fields(obj)[:_MOST_PARAMETERS]
    nothing = dataclasses.MISSING
    return [[row.name, _text_of(row.type), [] if row.default is nothing else [row.default]] for row in rows]


def _text_of(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else str(kind)[:_MOST_TEXT]


def awaited(obj: Any) -> Any:
    """What comes of something that is awaited, in a loop of its own."""

    async def wait() -> Any:
        return await obj

    return asyncio.run(wait())


def signature(function: Any) -> list[list[Any]]:
    """The parameters of something that can be called: name, kind, whether there is a default, and the default."""
    rows = list(inspect.signature(function).parameters.values())[:_MOST_PARAMETERS]
    nothing = inspect.Parameter.empty
    return [[row.name, row.kind.name, row.default is not nothing, _plain(row.default)] for row in rows]


def _plain(value: Any) -> Any:
    return None if value is inspect.Parameter.empty else value


def keeps(objects: list[Any], values: list[Any]) -> list[bool]:
    """Whether some objects lead to each of these values, or to a tensor over its memory."""
    seen: dict[int, Any] = {}
    places = set()
    todo = [*objects]
    while todo and len(seen) < _MOST_PARTS:
        part = todo.pop()
        if id(part) in seen or isinstance(part, (type, types.ModuleType)):
            continue
        seen[id(part)] = part
        if isinstance(part, torch.Tensor):
            places.add(part.untyped_storage().data_ptr())
        if isinstance(part, types.FunctionType):  # not its module, in which anything may be
            todo += [part.__closure__, part.__defaults__]
        else:
            todo += gc.get_referents(part)
    return [
        id(value) in seen or (isinstance(value, torch.Tensor) and value.untyped_storage().data_ptr() in places)
        for value in values
    ]


def backward(
    tensor: torch.Tensor, gradient: torch.Tensor, given: list[torch.Tensor], adds_up: bool
) -> list[torch.Tensor | None]:
    """Go on with a backward pass that a check began.

    The graph stays: the check may have used the tensor twice.

    Args:
        tensor: where it goes on.
        gradient: of the tensor.
        given: tensors whose gradients the check adds up itself, where it does that.
        adds_up: whether the gradients of others are added up here.

    Returns:
        Those of `given`, in this pass.
    """
    leaves = [each for each in given if each.is_leaf and each.requires_grad]
    if not adds_up:
        grads = torch.autograd.grad([tensor], leaves, [gradient], retain_graph=True, allow_unused=True)
        asked = dict(zip(map(id, leaves), grads, strict=True))
        return [asked.get(id(each)) for each in given]
    before = [each.grad for each in leaves]
    try:
        for each in leaves:
            each.grad = None
        torch.autograd.backward([tensor], [gradient], retain_graph=True)
        found = {id(each): each.grad for each in leaves}
    finally:
        for each, grad in zip(leaves, before, strict=True):
            each.grad = grad
    return [found.get(id(each)) for each in given]
