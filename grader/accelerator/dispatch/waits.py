"""Why the host waits for an operator."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.dispatch.devices import fills_through_mask
from grader.accelerator.dispatch.record import Dispatch


def reason_to_wait(call: Dispatch) -> str:
    """Return the reason for which the host waits for an operator, such as "nonzero".

    The reason is "" if the host does not wait.
    """
    facts, args, kwargs = call.facts, call.args, call.kwargs
    if facts.indexing:
        return _reason_for_mask(call)
    if facts.name == "isin":
        return _reason_for_isin(*args[:2])
    if facts.name in ("equal", "_linalg_eigh", "_linalg_svd"):
        return facts.syncs_for if _host_reads_numbers(*args) else ""
    if facts.name.removesuffix("_") in ("masked_fill", "index_fill"):
        return "item" if isinstance(args[-1], SimTensor) else ""  # the number to fill with is read first
    if facts.name == "repeat_interleave" and kwargs.get("output_size") is not None:
        return ""  # the size that the repeats would give is known
    if facts.name == "histc":
        # Without limits those of the numbers are read first.
        low, high = (args[i] if len(args) > i else kwargs.get(name, 0) for i, name in ((2, "min"), (3, "max")))
        return "histc" if low == high else ""
    if facts.name == "normal" and isinstance(args[1] if len(args) > 1 else kwargs.get("std"), SimTensor):
        return "normal"  # none of the deviations may be negative
    return facts.syncs_for


def _reason_for_isin(elements: Any, among: Any) -> str:
    """Return "isin" if the host waits for `torch.isin`; else "".

    For many test elements, CUDA sorts and counts unique numbers, and the host waits for the count. For 100 elements,
    these are 19 test elements or more.

    Args:
        elements: the first argument of `torch.isin`; the host waits only if both arguments are tensors.
        among: the second argument of `torch.isin`, the test elements.
    """
    both = isinstance(elements, torch.Tensor) and isinstance(among, torch.Tensor)
    return "isin" if both and among.numel() >= int(10 * elements.numel() ** 0.145) else ""


def _host_reads_numbers(first: torch.Tensor, other: Any = None, *more: Any) -> bool:
    """Return whether a call of `equal`, `eigh` or `svd` makes the host read numbers from the device.

    False for tensors without elements, and for `equal` if the shapes differ or both are the same view.
    """
    del more
    if not isinstance(other, torch.Tensor):
        return first.numel() > 0
    same = first.data_ptr() == other.data_ptr() and first.stride() == other.stride()
    return first.shape == other.shape and first.numel() > 0 and not same


def _reason_for_mask(call: Dispatch) -> str:
    """Return the name of an operator that must first count the True values of its mask.

    It is "index" for `x[mask]`. It is "" for `x[mask] = 0`, and for any other operator that needs no count.
    """
    # One number that is written through a mask fills in place; any other mask has to be counted first, for the sizes.
    args = call.args
    masked = any(isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8) for index in args[1])
    if not masked:
        return ""
    # In the mode "cuda" a Python number is on the host, as on CUDA, and one that is on the device does not fill.
    on_host = call.machine.kind != "cuda" or not isinstance(args[2] if len(args) > 2 else None, SimTensor)
    return "" if on_host and fills_through_mask(args) else call.facts.name
