"""The names that PyTorch gives its functions, methods and operators, as rules and uses have them."""

from __future__ import annotations

import difflib
import functools
import re
import types
from collections.abc import Callable, Collection
from typing import Any

import torch

from grader.model.public import Public

FREE = frozenset(
    (
        *("shape", "size", "dim", "ndim", "ndimension", "numel", "nelement", "len", "stride", "storage_offset"),
        *("dtype", "device", "layout", "itemsize", "element_size", "nbytes", "requires_grad", "is_leaf", "grad_fn"),
        *("is_tensor", "is_contiguous", "is_floating_point", "is_complex", "is_signed", "is_sparse", "is_cuda"),
        *("Tensor", "Size", "finfo", "iinfo", "result_type", "promote_types", "can_cast", "get_default_dtype"),
        *("broadcast_shapes", "no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "Module", "Parameter"),
    )
)
"""What describes a tensor, and makes none: always allowed."""

_PLACES = (torch, torch.Tensor, torch.nn.functional, torch.linalg, torch.special, torch.fft, torch.nn)
_ALIAS = re.compile(r"\s*(?:\w+\([^\n]*\n\s*)?Alias (?:of|for) :\w+:`~?\.?(?:torch\.)?([\w.]+?)(?:\(\))?`")
Rule = str | Callable[..., Any]


def canonical(name: str) -> str:
    """A name of PyTorch's as rules have it: `__rmatmul__` is matmul, `add_` is add, and an alias what it stands for."""
    bare = name.strip("_") if name.startswith("__") else name
    if name.startswith("__"):
        bare = bare[1:] if bare[:1] in ("r", "i") and hasattr(torch.Tensor, f"__{bare[1:]}__") else bare
    elif bare.endswith("_") and not bare.startswith("_"):
        bare = bare.removesuffix("_")
    return _aliases().get(bare, bare)


@functools.cache
def _aliases() -> dict[str, str]:
    """What names are aliases of, as PyTorch's documentation says."""
    found = {}
    for place in (torch, torch.linalg, torch.special, torch.Tensor):
        for name, value in vars(place).items():
            alias = _ALIAS.match(str(getattr(value, "__doc__", None) or "")) if callable(value) else None
            if alias and not name.startswith("_"):
                found[name] = alias[1].split(".")[-1]
    return found


def names_of(rules: Collection[Rule]) -> set[str]:
    """The names of rules as uses have them.

    Raises:
        ValueError: there is nothing of a name.
    """
    found: set[str] = set()
    for rule in rules:
        if isinstance(rule, str):
            found.add(_known(rule))
        else:
            home = (getattr(rule, "__module__", None) or "torch").split(".")[0]
            found.add(canonical(rule.__name__) if home == "torch" else f"{home}.{rule.__name__}")
    return found


def _known(name: str) -> str:
    first, _, rest = name.partition(".")
    if rest and first != "torch":
        return name
    last = name.split(".")[-1]
    if is_of_torch(last) or last in torch.Tensor.__dict__ or hasattr(torch.Tensor, last):
        return canonical(last)
    near = difflib.get_close_matches(last, [known for place in _PLACES for known in dir(place)], n=1)
    raise ValueError(f"PyTorch has no `{name}`" + (f"; did you mean {near[0]}?" if near else ""))


def shown_as(rule: Rule) -> str | Public:
    """A rule in messages, by words that stand in the check's file."""
    return rule if isinstance(rule, str) else rule.__name__


@functools.cache
def is_of_torch(name: str) -> bool:
    """Whether a function, method, property or class of PyTorch's goes by a name."""
    return any(name in vars(place) or name in vars(getattr(place, "__base__", place)) for place in _PLACES)


def looked_up(path: str) -> Any:
    """What a path names in PyTorch as it is loaded here, or None. Nothing is imported for it."""
    found: Any = torch
    for part in path.split(".")[1:]:
        found = vars(found).get(part) if isinstance(found, types.ModuleType) else getattr(found, part, None)
        if found is None:
            return None
    return found
