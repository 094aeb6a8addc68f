"""How much a call may cost, in counts: at most so many, the same for more numbers, none at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from grader.check import pictures
from grader.check.counts import Counts, count
from grader.check.evidence import same_of_reference, spends_no_time_on_loops
from grader.check.gradient import keeps_graph
from grader.check.kinds import require
from grader.connection.connection import Proxy, connection_of, word_of
from grader.connection.student import own_probe
from grader.model.endings import CheckFailed
from grader.model.public import Limit, Public, say
from grader.wire.decode import copies

_LEAVES = say("takes numbers out of PyTorch")
_LIMITS: Mapping[str, tuple[Callable[[str], Public], Public]] = {
    "ops": (lambda most: say("runs more than {} operations", most), say("runs operations of PyTorch")),
    "bytes": (lambda most: say("makes more than {} bytes of new memory", most), say("makes new memory")),
    "peak": (lambda most: say("needs more than {} bytes of new memory at a time", most), say("needs new memory")),
    "transfers": (lambda often: say("copies more than {} between devices", often), say("copies between devices")),
    "transferred": (lambda most: say("copies more than {} bytes between devices", most), say("copies between devices")),
    "syncs": (lambda often: say("waits more than {} for a device", often), say("waits for a device")),
    "collectives": (lambda most: say("calls more than {} collectives", most), say("calls collectives")),
    "sent": (lambda most: say("hands more than {} bytes to collectives", most), say("hands tensors to collectives")),
    "escapes": (lambda often: say("takes numbers out of PyTorch more than {}", often), _LEAVES),
    "versions": (lambda often: say("writes more than {} into its arguments", often), say("writes into its arguments")),
}
"""For each count: what is said where it is above a limit, and above 0."""

_TIMES = ("transfers", "syncs", "escapes", "versions")

_ON_DEVICES = ("transfers", "transferred", "syncs")

_TIMES_OPS, _SPARE_OPS = 20, 100
"""So many times the operations of the reference are no loop, and so many more: an elimination by hand has 60."""


def uses_at_most(function: Proxy, args: tuple[Any, ...], **limits: int) -> Counts:
    """One call costs no more than this.

    Args:
        function: a function of the student's.
        args: its arguments.
        limits: any of ops, bytes, peak, transfers, transferred, syncs, collectives, sent, escapes, versions.

    Raises:
        CheckFailed: it costs more.
        ValueError: there is no such count.
    """
    if unknown := set(limits) - set(_LIMITS):
        raise ValueError(f"there is no count {', '.join(sorted(unknown))}; there are {', '.join(_LIMITS)}")
    # All counts come from one call, so that they tell of the same work.
    counts = count(function, *args)
    for name, most in limits.items():
        above, above_none = _LIMITS[name]
        found = counts.total(name)
        report(function, name, found)
        # The limit may be told of a hidden input, what was counted may not: it can tell the input's size.
        public = say("`{}` {}", function, above(_limit(name, most)) if most else above_none)
        detail = getattr(counts, name)
        inner = f": {dict(detail.most_common(5))}" if isinstance(detail, Counter) else ""
        if found > most:
            numbers, drawn = f"counted {found:,}, at most {most:,} is asked{inner}", _drawn(counts, name)
            said = "" if inner else numbers
            picture = pictures.counted(name, {"yours": found, "at most": most}, said, counts.spans if drawn else None)
            about = "memory" if name == "bytes" else "performance"
            raise CheckFailed(public, "\n".join(filter(None, (public, numbers, drawn))), about, picture)
    return counts


def count_ops(function: Proxy, *args: Any, **kwargs: Any) -> Counter[str]:
    """How often each PyTorch operator was dispatched in one call, by name, with gradients off."""
    counts = count(function, *args, **kwargs)
    report(function, "ops", counts.ops.total())
    return counts.ops


def no_loop(function: Proxy, small: tuple[Any, ...], large: tuple[Any, ...], *, slack: int = 0) -> Counter[str]:
    """As many operations for a large input as for a small one: no Python loop over the elements.

    Args:
        function: a function of the student's.
        small: its arguments, as small as in checks on values: who is right there must be right for large ones.
        large: arguments ten times as large, or more.
        slack: operations allowed on top.

    Returns:
        The operations of the large call. Where there is a reference, operations and CPU time are compared with it as
        well: let one large input have 10,000 elements, so that a loop shows however it is hidden.
    """
    # Two sizes and no fixed number: what an honest answer costs differs, that it does not grow is the same for all.
    few, many = count(function, *small), count(function, *large)
    report(function, "ops", many.total("ops"))
    if many.total("ops") > few.total("ops") + slack:
        public = say("`{}` runs more operations the larger its input is: a loop in Python", function)
        top = ", ".join(f"{name} {n} times" for name, n in many.ops.most_common(3))
        numbers = {"small input": few.total("ops"), "large input": many.total("ops")}
        lines = [f"{name}  {number} operations" for name, number in numbers.items()]
        story = "\n".join([public, *lines]) + f" ({top})"
        raise CheckFailed(public, story, "performance", pictures.counted("ops", numbers))
    if (theirs := same_of_reference(function)) is not None:
        # Whoever runs useless operations where the input is small has as many for both.
        most = _TIMES_OPS * count(theirs, *copies(*large)).total("ops") + _SPARE_OPS
        public = say("`{}` runs far more operations than the reference: a loop in Python", function)
        require(
            many.total("ops") <= most, public, f"{public}\nit runs {many.total('ops'):,}, at most {most:,} are expected"
        )
        spends_no_time_on_loops(function, theirs, small, large)
    return many.ops


def no_new_storage(function: Proxy, *args: Any) -> Counts:
    """The call makes no new memory: it gives views, or works in place."""
    return uses_at_most(function, args, bytes=0)


def stays_in_torch(function: Proxy, *args: Any) -> None:
    """No number leaves PyTorch on the way: by name (`tolist`, `numpy`, `item` ...), and by the gradient that stays."""
    counts = count(function, *args)
    report(function, "escapes", counts.escapes.total())
    # One way is told and no more, in an order of ours: which there were, and in which order, is a worker's to say.
    first = min(counts.escapes, default="")
    names = " and ".join(f"`{name}`" for name in counts.escapes)
    story = f"`{word_of(function)}` takes numbers out of PyTorch (by {names})"
    require(not counts.escapes, say("`{}` takes numbers out of PyTorch (by `{}`)", function, first), story)
    # Who hides the name from the hook still loses the gradient.
    keeps_graph(function, *args)


def poisoned(function: Proxy, *args: Any, **kwargs: Any) -> Any:
    """The result of a call in which uninitialized memory holds NaN, or the largest integer. Compare it."""
    return own_probe(function, "poisoned", [list(args), kwargs], args, kwargs)


def report(function: Proxy, name: str, found: int) -> None:
    """Note a count for the report, the largest of a check."""
    counters = connection_of(function).record.counters
    # A check may count several calls; the report has one number of each name.
    counters[name] = max(found, counters.get(name, 0))


def _drawn(counts: Counts, name: str) -> str:
    """The timeline, below a message about what devices cost."""
    return counts.spans.drawn() if name in _ON_DEVICES else ""


def _limit(name: str, most: int) -> str:
    """A limit in words: a number, or how many times."""
    if name not in _TIMES:
        return Limit(f"{most:,}")
    return say("once") if most == 1 else say("twice") if most == 2 else say("{} times", Limit(f"{most:,}"))
