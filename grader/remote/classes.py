"""What is known here of the classes of objects that live in a worker: what it told of them."""

from __future__ import annotations

import functools
import sys

from grader.wire.handles import Remote, class_named

_FUNCTIONS = ("function", "method", "builtin_function_or_method")
_CLASSES = 1000
_PUBLIC = frozenset((*sys.stdlib_module_names, "torch", "numpy"))
_COME_AS_THEY_ARE = frozenset((bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, object))
_MIXED = ("torch.nn.", "torch.optim.", "torch.utils.data.", "collections.", "enum.")
"""Where the classes are of which two may be the bases of one, which is made here."""


def told_of(handle: Remote) -> str:
    """What it is, as far as the worker says, for staff and for shown checks."""
    kind = type(handle)
    text = getattr(kind, "_text_of_object", "")
    if type_of(handle) in _FUNCTIONS:
        return "a function (are its `()` missing?)"
    return str(text) or f"an object of type {type_of(handle)}"


def type_of(handle: Remote) -> str:
    """The name of its class, as the worker says."""
    return str(getattr(type(handle), "_type_of_object", type(handle).__name__))


@functools.lru_cache(maxsize=_CLASSES)
def joined(bases: tuple[str, ...]) -> type | None:
    """A class of PyTorch's or Python's own that has all of those that an object's class derives from, if there is."""
    found: list[type] = []
    for base in map(public_class, bases):
        if base is not None and not any(issubclass(near, base) for near in found):
            found.append(base)
    if len(found) > 1 and all(base.__module__.startswith(_MIXED) for base in found):
        try:
            return type("Object", tuple(found), {})
        except TypeError:  # not every two can be the bases of one class
            return found[0]
    return found[0] if found else None


def public_class(name: str) -> type | None:
    """The class of that name, if it belongs to PyTorch, NumPy or Python, and its instances can stay with a worker."""
    found = class_named(name) if name.split(".")[0] in _PUBLIC else None
    # Of the others an instance comes as what it is: what stays in a worker is none, whatever it is said to be.
    return None if found in _COME_AS_THEY_ARE else found
