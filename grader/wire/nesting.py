"""How deep and how wide containers are once every shared part is counted where it occurs."""

from __future__ import annotations

from collections.abc import Mapping

from grader.wire.bounds import Caps
from grader.wire.held import KnownContainer
from grader.wire.rows import HASHED, PAIRED, ContainerRow

_ENTRIES = 100_000


def too_much(
    told: Mapping[int, ContainerRow], known: Mapping[int, KnownContainer], caps: Caps, *, changes: bool
) -> str | None:
    """Why some containers cannot be one message: one of them holds itself, is deep or huge. None if they can.

    Args:
        told: those that a message tells of, by number; an item ["known", number] may be another one.
        known: those that both ends know.
        caps: what a message may hold.
        changes: whether some of those that it tells of were known before, and something else.
    """
    weights: dict[int, tuple[int, int]] = {}

    def weigh(number: int, level: int) -> tuple[int, int]:
        """Depth and number of leaves of a container, every shared part counted where it occurs."""
        # Weighed once each, so that a hundred bytes which stand for a billion leaves take no billion steps.
        if number not in weights:
            if level > caps.depth:  # which a container that holds itself reaches, too
                raise OverflowError("containers are nested too deeply")
            kind, items = told.get(number) or known[number].row
            if kind in HASHED and len(items) > _ENTRIES:
                raise OverflowError("a dict or set has too many entries")
            parts = items if kind not in PAIRED else [part for item in items if isinstance(item, list) for part in item]
            depth, leaves = 0, 1 + len(parts)
            for part in parts:
                if isinstance(part, list) and part[:1] == ["known"] and len(part) == 2 and isinstance(part[1], int):
                    inner = part[1] in told or part[1] in known
                    more, wide = weigh(part[1], level + 1) if inner else (0, 1)
                    depth, leaves = max(depth, more), leaves + wide - 1
            if depth >= caps.depth or leaves > caps.expanded:
                raise OverflowError("containers are nested too deeply or too widely")
            weights[number] = depth + 1, leaves
        return weights[number]

    # Hashing walks through all that a key holds, every time, and shared parts again and again. So what is hashed is
    # counted together, while lists may share what they like.
    try:
        total = sum(weigh(number, 1)[1] for number, row in told.items() if row.kind in HASHED)
        for number in told:
            weigh(number, 1)
        # All that there is was weighed when it was told, but what holds one that changes is another thing now.
        if changes:
            for number in known:
                weigh(number, 1)
    except OverflowError as error:
        return str(error)
    return "dicts and sets have too many parts" if total > 4 * caps.expanded else None
