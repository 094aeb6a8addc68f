"""What a call costs, by counts that do not depend on the machine: operators, memory, copies, waits, collectives.

The counts come from a probe that runs beside student code (`grader.worker.counting`), so they are claims. Tampering is
noticed in three ways: operators and copies between devices that we ask for at random (canaries) must show in the
counts; two hooks of PyTorch's see the same call, and must tell the same of its growth; and a speed check (`as_fast_as`)
looks at time, which hidden operators take too.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

import torch

from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.remote.handle import Handle
from grader.remote.spans import Spans, read_spans
from grader.remote.witness import witnessed
from grader.wire.cost import Cost

_CANARIES = ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "entr", "erfcx", "i0e", "i1", "ndtri")
"""Operators that no exercise needs, each of which runs by itself."""

_FLOAT_BYTES = 4
_MOST = 1 << 53
_ESCAPES = ("tolist", "numpy", "dlpack", "item", "float", "int", "complex", "storage", "data_ptr")
_COLLECTIVES = re.compile(
    r"(all_?gather|all_?reduce|all_?to_?all|barrier|broadcast|gather|recv|reduce|reduce_scatter|scatter|send)"
    r"(_base|_coalesced|_into_tensor|_into_tensor_coalesced|_single|_tensor|_tensor_coalesced)?"
)


@dataclass(frozen=True)
class Counts:
    """What one call cost, as the worker claims.

    Attributes:
        ops: operators that PyTorch dispatched, by name, with gradients off.
        uses: uses of PyTorch in Python, those among them that run no operator.
        escapes: how numbers left PyTorch: tolist, numpy, dlpack, item, float, int, complex, storage, data_ptr.
        bytes: of new storages, all together.
        peak: bytes of new storages that were alive at a time, after any operator.
        transfers: copies between devices.
        transferred: bytes copied between devices.
        syncs: how often the program waited for a device.
        collectives: by name.
        sent: bytes handed to collectives.
        versions: in-place changes of the arguments.
        spans: what host and devices did in virtual time, where an accelerator is simulated.
        result: what the call gave.
        cpu_s: CPU seconds of the worker, as seen from outside, with the counting itself; None where they are not told.
    """

    ops: Counter[str]
    uses: int
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
    cpu_s: float | None

    def total(self, name: str) -> int:
        """A count as one number."""
        value = getattr(self, name)
        return value.total() if isinstance(value, Counter) else int(value)


def count(function: Handle, *args: Any, **kwargs: Any) -> Counts:
    """Everything that one call costs. What a check looks at is best said by `uses_at_most`, which also reports it."""
    before, after = _canary(), _canary()
    seen = witnessed(function, "count", [before, after, list(args), kwargs], args, kwargs)
    match seen.answer:
        case [result, dict() as told]:
            counts = _read(told, result, seen.cpu_s)
            if counts is not None:
                return _without(counts, (*before, *after), function)
    raise CheckFailed(say("what `{}` costs could not be counted", function))


def _canary() -> list[list[Any]]:
    # Chosen anew for each call and by chance that no seed repeats: canaries that were known in advance could be counted
    # without running.
    chance = random.SystemRandom()  # no verdict depends on it
    return [[chance.choice(_CANARIES), chance.randint(1, 16), chance.randint(1, 4)]]


def _read(told: dict[Any, Any], result: Any, cpu_s: float | None) -> Counts | None:
    """The counts, if they are counts at all. Names that a worker made up could tell a hidden input."""
    names = {field.name for field in fields(Cost)} - {"spans"}
    numbers = {name: told.get(name) for name in names}
    tables = ("ops", "escapes", "collectives")
    for name, value in numbers.items():
        values = list(value.values()) if name in tables and isinstance(value, dict) else [value]
        # `type` and not `isinstance`: True would pass for 1.
        if not all(type(number) is int and 0 <= number < _MOST for number in values):
            return None
        if name in tables:
            assert isinstance(value, dict)
            numbers[name] = _known(name, value)
    spans = read_spans(told.get("spans"), int(numbers.pop("span_count") or 0))
    return None if spans is None else Counts(**numbers, spans=spans, result=result, cpu_s=cpu_s)  # type: ignore[arg-type]


def known_collectives(called: dict[Any, Any]) -> Counter[str] | None:
    """How often each collective was called, of a claim; None if that is no such thing."""
    if not all(type(number) is int and 0 <= number < _MOST for number in called.values()):
        return None
    return _known("collectives", called)


def _known(table: str, counts: dict[Any, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, number in counts.items():
        text = str(name)
        if table == "ops":
            ours = text.isidentifier() and hasattr(torch.ops.aten, text)
        else:
            ours = text in _ESCAPES if table == "escapes" else _COLLECTIVES.fullmatch(text) is not None
        # An unknown name still counts, under a name of ours: a new operator of PyTorch's must not make a loop free.
        found[text if ours else "other"] += number
    return found


def _without(counts: Counts, canary: tuple[list[Any], ...], function: Handle) -> Counts:
    """The same without our own operators and copies, all of which must be there."""
    ops, own = Counter(counts.ops), Counter[str]()
    for name, elements, times in canary:
        ops["ones"] -= times
        ops[f"special_{name}"] -= times
        ops["_to_copy"] -= times
        # Each time makes two tensors of floats, `ones` and the operator's result; and copies the second to another
        # device, which waits for it.
        own["bytes"] += 2 * times * elements * _FLOAT_BYTES
        own["transfers"] += times
        own["transferred"] += times * elements * _FLOAT_BYTES
        own["syncs"] += times
    rest = {name: getattr(counts, name) - number for name, number in own.items()}
    # Fewer than we ran ourselves: somebody has changed the count.
    if any(number < 0 for number in (*ops.values(), *rest.values())):
        raise CheckFailed(say("the counting of what `{}` does was tampered with", function))
    fields = {name: getattr(counts, name) for name in Counts.__dataclass_fields__}
    return Counts(**{**fields, **rest, "ops": +ops})
