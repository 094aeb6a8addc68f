"""What one call costs, counted beside student code: operators, memory, copies and waits, collectives, escapes.

Student code could change these counts. They explain a result; what decides points is in `check.evidence`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.accelerator.machine import machine_or_none
from grader.worker.hooks import Operators, Uses, leaves
from grader.worker.surroundings import fill_memory

_MOST_SPANS = 20


def count(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Call with gradients off; give the result and what was counted, by the names of `check.counts.Counts`."""
    machine = machine_or_none()
    before = machine.counters() if machine else {}
    first = len(machine.clock.spans) if machine else 0
    # Held, as the call may put others in their places. Tensors made in inference mode have no version.
    given = [tensor for tensor in leaves([args, kwargs], torch.Tensor) if not tensor.is_inference()]
    versions = sum(tensor._version for tensor in given)
    with torch.no_grad(), Operators([args, kwargs]) as operators, Uses() as uses:
        result = function(*args, **kwargs)
    found = {
        "ops": dict(operators.counts),
        "escapes": dict(uses.escapes),
        "bytes": operators.memory.total,
        "peak": operators.memory.peak,
        "transfers": operators.transfers,
        "transferred": operators.transferred,
        "syncs": operators.syncs,
        "collectives": dict(operators.collectives),
        "sent": operators.sent,
        "versions": sum(tensor._version for tensor in given) - versions,
        "spans": [],
        "span_count": 0,
    }
    if machine is not None:
        # The simulated accelerator sees more than the hook, such as the copy of a `tolist`.
        now = machine.counters()
        for name, counter in (("transfers", "transfers"), ("transferred", "transferred_bytes"), ("syncs", "syncs")):
            found[name] = max(found[name], int(now[counter]) - int(before[counter]))
        spans = machine.clock.spans[first:]
        found["span_count"] = len(spans)
        found["spans"] = [[row.name, row.place, float(row.start), float(row.end)] for row in spans[:_MOST_SPANS]]
    return result, found


def warm_up() -> None:
    """Count something, in a process that forks: what PyTorch makes for the first count, its children have then."""
    count(lambda x: x[x > 0].square().sum(), [torch.zeros(8)], {})


def poisoned(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call where uninitialized memory holds NaN, or the largest integer.

    PyTorch fills what `empty` gives. Besides, freed memory is left full of such numbers, for code that switches the
    filling off.
    """
    was = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    fill_memory(False)  # else this call would find what all other calls find
    torch._C._set_deterministic_algorithms(True, warn_only=True)  # the public function imports PyTorch's compiler
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    try:
        # All bits set: NaN in every floating type. Eight blocks of each size, freed at once, lie where the allocator
        # looks first.
        for power in range(4, 20):
            dirt = [torch.full((1 << power,), 0xFF, dtype=torch.uint8, device="cpu") for _ in range(8)]
            del dirt
        return function(*args, **kwargs)
    finally:
        torch._C._set_deterministic_algorithms(was[0], warn_only=was[1])
        torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]
        fill_memory(True)
