"""What a call costs, by counts that do not depend on the machine: operators, memory, copies, waits, collectives.

The counts come from a probe that runs beside student code (`grader.worker.counting`), so they are untrusted. They
explain a result; see `evidence` for what decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch

from grader.check.evidence import reads_openly
from grader.connection.connection import Proxy
from grader.connection.spans import Spans, read_spans
from grader.connection.student import own_probe
from grader.model.endings import CheckFailed
from grader.model.public import say

_MOST = 1 << 53
ESCAPES = ("tolist", "numpy", "dlpack", "item", "float", "int", "complex", "storage", "data_ptr", "apply_", "map_")
_COLLECTIVES = re.compile(
    r"(all_?gather|all_?reduce|all_?to_?all|barrier|broadcast|gather|recv|reduce|reduce_scatter|scatter|send)"
    r"(_base|_coalesced|_into_tensor|_into_tensor_coalesced|_single|_tensor|_tensor_coalesced)?"
)


_TABLES = ("ops", "escapes", "collectives")


@dataclass(frozen=True)
class Counts:
    """What one call cost, as the worker says.

    Attributes:
        ops: operators that PyTorch dispatched, by name, with gradients off.
        escapes: how numbers left PyTorch: tolist, numpy, dlpack, item, float, int, complex, storage, data_ptr,
            apply_, map_.
        bytes: of new storages, all together.
        peak: bytes of new storages that were alive at a time, after any operator.
        transfers: copies between devices.
        transferred: bytes copied between devices.
        syncs: how often the program waited for a device.
        collectives: by name.
        sent: bytes handed to collectives.
        versions: in-place changes of the arguments.
        spans: what host and devices did in virtual time, if an accelerator is simulated.
        result: what the call returned.
    """

    ops: Counter[str]
    escapes: Counter[str]
    bytes: int
    peak: int
    transfers: int
    transferred: int
    syncs: int
    collectives: Counter[str]
    sent: int
    versions: int
    spans: Spans
    result: Any

    def total(self, name: str) -> int:
        """A count as one number."""
        value = getattr(self, name)
        return value.total() if isinstance(value, Counter) else int(value)


def count(function: Proxy, *args: Any, allow: Collection[str] = (), **kwargs: Any) -> Counts:
    """Everything that one call costs. `uses_at_most` says most of what checks need, and reports it.

    Args:
        function: a function of the student's.
        *args: its arguments.
        allow: see `reads_openly`.
        **kwargs: its arguments by name.
    """
    reads_openly(function, allow)
    match own_probe(function, "count", [list(args), kwargs], args, kwargs):
        case [result, dict() as found]:
            counts = _read(found, result)
            if counts is not None:
                return counts
    raise CheckFailed(say("what `{}` costs could not be counted", function))


def _read(found: dict[Any, Any], result: Any) -> Counts | None:
    """The counts, if they are counts at all. Names that a worker made up could carry a hidden input."""
    names = Counts.__dataclass_fields__.keys() - {"spans", "result"}
    numbers = {name: found.get(name) for name in names}
    for name, value in numbers.items():
        values = list(value.values()) if name in _TABLES and isinstance(value, dict) else [value]
        if not all(_is_count(number) for number in values):
            return None
        if name in _TABLES:
            assert isinstance(value, dict)
            numbers[name] = _known(name, value)
    spans, span_count = found.get("spans"), found.get("span_count")
    read = read_spans(spans, span_count) if _is_count(span_count) else None  # type: ignore[arg-type]
    return None if read is None else Counts(**numbers, spans=read, result=result)  # type: ignore[arg-type]


def _is_count(number: object) -> bool:
    return type(number) is int and 0 <= number < _MOST  # `type` and not `isinstance`: True would pass for 1


def known_collectives(called: dict[Any, Any]) -> Counter[str] | None:
    """How often each collective was called, as a worker says; None if it says no such thing."""
    return _known("collectives", called) if all(map(_is_count, called.values())) else None


def _known(table: str, counts: dict[Any, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, number in counts.items():
        text = str(name)
        if table == "ops":
            ours = text.isidentifier() and hasattr(torch.ops.aten, text)
        else:
            ours = text in ESCAPES if table == "escapes" else _COLLECTIVES.fullmatch(text) is not None
        # An unknown name still counts, under a name of ours: a new operator of PyTorch's must not make a loop free.
        found[text if ours else "other"] += number
    return found
