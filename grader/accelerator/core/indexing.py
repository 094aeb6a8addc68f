"""The index in `x[...]`: lists and arrays become tensors, and some lists stand for a tuple of indices."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch

_MOST_AS_TUPLE = 32
"""A longer list is always one index. The number is PyTorch's: `treatSequenceAsTuple`, python_variable_indexing.cpp."""

_SEVERAL = "Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of x[seq]"


def as_index(index: Any, device: torch.device) -> Any:
    """Return the index of `x[index]` with tensors on a device for its lists and arrays.

    For `x` on cuda:0, `(0, [0, 2])` becomes `(0, torch.tensor([0, 2], device="cuda:0"))`.

    Args:
        index: the index between the brackets.
        device: the device of `x`, by its inner name.
    """
    if isinstance(index, (int, slice, torch.Tensor)):
        return index
    # Left to PyTorch, the lists of an index would become tensors on the device that is current.
    if not isinstance(index, tuple) and _is_list_for_tuple(index):
        warnings.warn(_SEVERAL, UserWarning, stacklevel=3)
        index = tuple(index)
    if isinstance(index, tuple):
        return tuple(_as_tensor(part, device) for part in index)
    return _as_tensor(index, device)


def _is_list_for_tuple(index: Any) -> bool:
    """Return True if a list stands for a tuple with an index for each dim, as in old NumPy.

    An example is `x[[[0, 1], [1, 2]]]`.
    """
    if not isinstance(index, list) or len(index) >= _MOST_AS_TUPLE:
        return False
    return any(
        part is None or part is ... or isinstance(part, (slice, list, tuple, range, str, np.ndarray, torch.Tensor))
        for part in index
    )


def _as_tensor(part: Any, device: torch.device) -> Any:
    if not isinstance(part, (list, np.ndarray)):
        return part
    empty = part.size == 0 if isinstance(part, np.ndarray) else not part
    made = torch.as_tensor(part, device=device, **({"dtype": torch.int64} if empty else {}))
    # PyTorch makes whole numbers of all items of a list, and an empty list becomes int64, too.
    return made.long() if made.is_floating_point() else made
