"""The `__dict__` of a tensor on the device shows what a program set on the tensor, as on CUDA, and not what we need."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping
from typing import Any

import torch

_DICT: Any = torch.Tensor.__dict__["__dict__"]

_HIDDEN = frozenset({"_inner", "_place", "_block", "_others", "_is_param"})
"""Attributes that tensors of the device have, and those of CUDA lack."""


def all_attributes(tensor: torch.Tensor) -> dict[str, Any]:
    """Return all attributes of a tensor of any device, with ours, such as `_inner`.

    It is the dict in which Python looks them up; `tensor.__dict__` shows only those of the program.
    """
    return _DICT.__get__(tensor)  # type: ignore[no-any-return]


def set_all_attributes(tensor: torch.Tensor, attributes: dict[str, Any]) -> None:
    """Set all attributes of a tensor of any device, ours included.

    The dict becomes the one in which Python looks them up.
    """
    _DICT.__set__(tensor, attributes)


def attributes_of_program(tensor: torch.Tensor) -> dict[str, Any]:
    """Return the attributes of a tensor of any device that a program set.

    After `x.label = "a"` they are `{"label": "a"}`.
    """
    return {name: value for name, value in all_attributes(tensor).items() if name not in _HIDDEN}


class ProgramAttributes(dict[str, Any]):
    """The attributes that a program set on a tensor of the device; a change of this dict is one of the tensor.

    Libraries copy the attributes of a tensor to another one, or call a class with them. With ours among them, both
    tensors would have one memory.
    """

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor_attributes = all_attributes(tensor)
        super().__init__(attributes_of_program(tensor))

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.tensor_attributes[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        del self.tensor_attributes[name]

    def pop(self, name: str, *default: Any) -> Any:
        """Remove an attribute and return its value; without such an attribute, return the default."""
        if name not in self and default:
            return default[0]
        value = self[name]
        del self[name]
        return value

    # A dict's own would not call the methods above. `MutableMapping.pop` needs an attribute that a dict lacks.
    update: Any = MutableMapping.update
    popitem: Any = MutableMapping.popitem
    clear: Any = MutableMapping.clear
    setdefault: Any = MutableMapping.setdefault

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        self.update(other)
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return copy.deepcopy(dict(self), memo)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def set_program_attributes(tensor: torch.Tensor, attributes: Mapping[str, Any]) -> None:
    """Replace the attributes that a program set on a tensor of the device.

    The assignment `tensor.__dict__ = attributes` does this.
    """
    if isinstance(attributes, ProgramAttributes):  # `torch.utils.swap_tensors` exchanges the dicts of two tensors
        set_all_attributes(tensor, attributes.tensor_attributes)
    elif "_inner" in attributes:  # as it does with one tensor of the device and one of the CPU
        set_all_attributes(tensor, dict(attributes))
    else:
        ours = {name: value for name, value in all_attributes(tensor).items() if name in _HIDDEN}
        set_all_attributes(tensor, {**attributes, **ours})
