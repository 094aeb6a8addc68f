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
from dataclasses import dataclass
from typing import Any

import torch

from grader.check.compare import CheckFailed, require
from grader.check.probes import built_in, keeps_graph
from grader.check.spans import Spans, read_spans
from grader.check.student import RemoteFunction

_CANARIES = ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "entr", "erfcx", "i0e", "i1", "ndtri")
"""Operators that no exercise needs, each of which runs by itself."""

_FLOAT_BYTES = 4
_MOST = 1 << 53
_LOOP = 2, 20
_ESCAPES = ("tolist", "numpy", "dlpack", "item", "float", "int", "complex", "storage", "data_ptr")
_COLLECTIVES = re.compile(
    r"(all_?gather|all_?reduce|all_?to_?all|barrier|broadcast|gather|recv|reduce|reduce_scatter|scatter|send)"
    r"(_base|_coalesced|_into_tensor|_into_tensor_coalesced|_single|_tensor|_tensor_coalesced)?"
)

_LIMITS = {
    "operations": ("ops", "runs more than {} operation{s}", "runs operations of PyTorch"),
    "bytes": ("bytes", "makes more than {} bytes of new memory", "makes new memory"),
    "peak": ("peak", "needs more than {} bytes of new memory at a time", "needs new memory"),
    "transfers": ("transfers", "copies more than {} between devices", "copies between devices"),
    "transferred": ("transferred", "copies more than {} bytes between devices", "copies between devices"),
    "waits": ("syncs", "waits more than {} for a device", "waits for a device"),
    "collectives": ("collectives", "calls more than {} collective{s}", "calls collectives"),
    "sent": ("sent", "hands more than {} bytes to collectives", "hands tensors to collectives"),
    "escapes": ("escapes", "takes numbers out of PyTorch more than {}", "takes numbers out of PyTorch"),
    "writes": ("versions", "writes more than {} into its arguments", "writes into its arguments"),
}
"""For each count: its name in the report, what is said where it is above a limit, and above 0."""

_TIMES = ("transfers", "waits", "escapes", "writes")

_ON_DEVICES = ("transfers", "transferred", "waits")


@dataclass(frozen=True)
class Counts:
    """What one call cost, as the worker claims.

    Attributes:
        operations: operators that PyTorch dispatched, by name, with gradients off.
        uses: uses of PyTorch in Python, those among them that run no operator.
        escapes: how numbers left PyTorch: tolist, numpy, dlpack, item, float, int, complex, storage, data_ptr.
        bytes: of new storages, all together.
        peak: bytes of new storages that were alive at a time, after any operator.
        transfers: copies between devices.
        transferred: bytes copied between devices.
        waits: how often the program waited for a device.
        collectives: by name.
        sent: bytes handed to collectives.
        writes: in-place changes of the arguments.
        spans: what host and devices did in virtual time, where an accelerator is simulated.
        result: what the call gave.
    """

    operations: Counter[str]
    uses: int
    escapes: Counter[str]
    bytes: int
    peak: int
    transfers: int
    transferred: int
    waits: int
    collectives: Counter[str]
    sent: int
    writes: int
    spans: Spans
    result: Any

    def total(self, name: str) -> int:
        """A count as one number."""
        value = getattr(self, name)
        return value.total() if isinstance(value, Counter) else int(value)


def count(function: RemoteFunction, *args: Any, **kwargs: Any) -> Counts:
    """Everything that one call costs. What a check looks at is best said by `uses_at_most`, which also reports it."""
    before, after = _canary(), _canary()
    answer = built_in(function, "count", [before, after, list(args), kwargs], args, kwargs)
    match answer:
        case [result, dict() as told]:
            counts = _read(told, result)
            if counts is not None:
                return _without(counts, (*before, *after), function)
    raise CheckFailed(f"what `{function}` costs could not be counted")


def uses_at_most(function: RemoteFunction, args: tuple[Any, ...], **limits: int) -> Counts:
    """One call costs no more than this.

    Args:
        function: a function of the student's.
        args: its arguments.
        limits: any of operations, bytes, peak, transfers, transferred, waits, collectives, sent, escapes, writes.

    Raises:
        CheckFailed: it costs more.
        ValueError: there is no such count.
    """
    if unknown := set(limits) - set(_LIMITS):
        raise ValueError(f"there is no count {', '.join(sorted(unknown))}; there are {', '.join(_LIMITS)}")
    counts = count(function, *args)
    for name, most in limits.items():
        _, above, above_none = _LIMITS[name]
        found = counts.total(name)
        report(function, name, found)
        often = _often(most) if name in _TIMES else f"{most:,}"
        public = f"`{function}` {above.format(often, s='' if most == 1 else 's') if most else above_none}"
        detail = getattr(counts, name)
        inner = f": {dict(detail.most_common(5))}" if isinstance(detail, Counter) else ""
        if found > most:
            story = f"{public}\ncounted {found:,}, at most {most:,} is asked{inner}{_drawn(counts, name)}"
            raise CheckFailed(public, story)
    return counts


def count_operations(function: RemoteFunction, *args: Any, **kwargs: Any) -> Counter[str]:
    """How often each PyTorch operator was dispatched in one call, by name, with gradients off."""
    counts = count(function, *args, **kwargs)
    report(function, "operations", counts.operations.total())
    return counts.operations


def no_loop(
    function: RemoteFunction, small: tuple[Any, ...], large: tuple[Any, ...], *, slack: int = 0
) -> Counter[str]:
    """As many operations for a large input as for a small one: no Python loop over the elements.

    Args:
        function: a function of the student's.
        small: its arguments.
        large: arguments about ten times as large.
        slack: operations allowed on top.

    Returns:
        The operations of the large call.
    """
    few, many = same_count(function, small, large, of="operations", slack=slack)
    if many.uses > _LOOP[0] * few.uses + _LOOP[1] + slack:
        public = f"`{function}` uses PyTorch more often the larger its input is: a loop in Python"
        raise CheckFailed(public, f"{public}\nsmall input  {few.uses} times\nlarge input  {many.uses} times")
    return many.operations


def same_count(
    function: RemoteFunction, small: tuple[Any, ...], large: tuple[Any, ...], *, of: str, slack: int = 0
) -> tuple[Counts, Counts]:
    """A count is the same for a large input as for a small one.

    Args:
        function: a function of the student's.
        small: its arguments.
        large: arguments about ten times as large.
        of: the count: operations, transfers, waits, collectives or escapes.
        slack: how many more are allowed.

    Returns:
        All counts of both calls.
    """
    few, many = count(function, *small), count(function, *large)
    count_small, count_large = few.total(of), many.total(of)
    report(function, of, count_large)
    if count_large > count_small + slack:
        does = {"operations": "runs more operations", "collectives": "calls more collectives"}.get(
            of, f"{_LIMITS[of][2]} more often"
        )
        public = f"`{function}` {does} the larger its input is: a loop in Python"
        detail = getattr(many, of)
        top = ", ".join(f"{name} {n} times" for name, n in detail.most_common(3)) if isinstance(detail, Counter) else ""
        word = of if of in ("operations", "collectives") else "times"
        raise CheckFailed(
            public,
            f"{public}\nsmall input  {count_small} {word}\nlarge input  {count_large} {word}"
            + (f" ({top})" if top else "")
            + _drawn(many, of),
        )
    return few, many


def no_new_storage(function: RemoteFunction, *args: Any) -> Counts:
    """The call makes no new memory: it gives views, or works in place."""
    return uses_at_most(function, args, bytes=0)


def stays_in_torch(function: RemoteFunction, *args: Any) -> None:
    """No number leaves PyTorch on the way: by name (`tolist`, `numpy`, `item` ...), and by the gradient that stays."""
    counts = count(function, *args)
    report(function, "escapes", counts.escapes.total())
    names = " and ".join(f"`{name}`" for name in counts.escapes)
    require(not counts.escapes, f"`{function}` takes numbers out of PyTorch (by {names})")
    keeps_graph(function, *args)


def poisoned(function: RemoteFunction, *args: Any, **kwargs: Any) -> Any:
    """The result of a call in which memory that nobody wrote to holds NaN, or the largest integer. Compare it."""
    return built_in(function, "poisoned", [list(args), kwargs], args, kwargs)


def no_warning(function: RemoteFunction, *args: Any, **kwargs: Any) -> Any:
    """The call causes no warning, and switches none off. Gives its result."""
    answer = built_in(function, "warned", [list(args), kwargs], args, kwargs)
    match answer:
        case [result, list() as told, bool() as heard] if all(isinstance(row, list) and len(row) == 2 for row in told):
            report(function, "warnings", len(told))
            text = "\n".join(f"{row[0]}: {row[1]}" for row in told)
            require(not told, f"`{function}` causes a warning", f"`{function}` causes a warning\n{text}")
            require(heard and not _silences(function), f"`{function}` switches warnings off; mend their cause")
            return result
    raise CheckFailed(f"the warnings of `{function}` could not be read")


def report(function: RemoteFunction, name: str, found: int) -> None:
    """Note a count for the report, the largest of a check."""
    counters = function.party.counters
    word = _LIMITS[name][0] if name in _LIMITS else name
    counters[word] = max(found, counters.get(word, 0))


def _drawn(counts: Counts, name: str) -> str:
    """The timeline, below a message about what devices cost."""
    return f"\n{counts.spans.drawn()}" if counts.spans.rows and name in _ON_DEVICES else ""


def _often(times: int) -> str:
    return "once" if times == 1 else "twice" if times == 2 else f"{times:,} times"


def _canary() -> list[list[Any]]:
    chance = random.SystemRandom()  # no verdict depends on it
    return [[chance.choice(_CANARIES), chance.randint(1, 16), chance.randint(1, 4)]]


def _read(told: dict[Any, Any], result: Any) -> Counts | None:
    """The counts, if they are counts at all. Names that a worker made up could tell a hidden input."""
    names = {*Counts.__dataclass_fields__, "span_count"} - {"spans", "result"}
    numbers = {name: told.get(name) for name in names}
    tables = ("operations", "escapes", "collectives")
    for name, value in numbers.items():
        values = list(value.values()) if name in tables and isinstance(value, dict) else [value]
        if not all(type(number) is int and 0 <= number < _MOST for number in values):
            return None
        if name in tables:
            assert isinstance(value, dict)
            numbers[name] = _known(name, value)
    spans = read_spans(told.get("spans"), int(numbers.pop("span_count") or 0))
    return None if spans is None else Counts(**numbers, spans=spans, result=result)  # type: ignore[arg-type]


def _known(table: str, counts: dict[Any, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, number in counts.items():
        text = str(name)
        if table == "operations":
            ours = text.isidentifier() and hasattr(torch.ops.aten, text)
        else:
            ours = text in _ESCAPES if table == "escapes" else _COLLECTIVES.fullmatch(text) is not None
        found[text if ours else "other"] += number
    return found


def _without(counts: Counts, canary: tuple[list[Any], ...], function: RemoteFunction) -> Counts:
    """The same without our own operators and copies, all of which must be there."""
    operations, own = Counter(counts.operations), Counter[str]()
    for name, elements, times in canary:
        operations["ones"] -= times
        operations[f"special_{name}"] -= times
        operations["_to_copy"] -= times
        own["bytes"] += 2 * times * elements * _FLOAT_BYTES
        own["transfers"] += times
        own["transferred"] += times * elements * _FLOAT_BYTES
        own["waits"] += times
    rest = {name: getattr(counts, name) - number for name, number in own.items()}
    if any(number < 0 for number in (*operations.values(), *rest.values())):
        raise CheckFailed(f"the counting of what `{function}` does was tampered with")
    fields = {name: getattr(counts, name) for name in Counts.__dataclass_fields__}
    return Counts(**{**fields, **rest, "operations": +operations})


def _silences(function: RemoteFunction) -> bool:
    """Whether the submission names what switches warnings off."""
    words = (b"catch_warnings", b"simplefilter", b"filterwarnings", b"showwarning")
    return any(word in text for text in function.party.sitting.files.values() for word in words)
