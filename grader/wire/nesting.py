"""How deep and how wide containers are once every shared part is counted where it occurs."""

from __future__ import annotations

from collections.abc import Mapping

from grader.wire.bounds import Caps
from grader.wire.rows import HASHED, PAIRED, ContainerRow

_ENTRIES = 100_000


def too_much(containers: Mapping[int, ContainerRow], caps: Caps) -> str | None:
    """Why some containers cannot be one message: one of them holds itself, is deep or huge. None if they can.

    Args:
        containers: a row for each number; an item ["known", number] may be another of them.
        caps: what a message may hold.
    """
    weights: dict[int, tuple[int, int]] = {}

    def weigh(number: int, level: int) -> tuple[int, int]:
        """Depth and number of leaves of a container, every shared part counted where it occurs."""
        # Weighed once each, so that a hundred bytes which stand for a billion leaves take no billion steps.
        if number not in weights:
            if level > caps.depth:  # which a container that holds itself reaches, too
                raise OverflowError("containers are nested too deeply")
            kind, items = containers[number]
            if kind in HASHED and len(items) > _ENTRIES:
                raise OverflowError("a dict or set has too many entries")
            parts = items if kind not in PAIRED else [part for item in items if isinstance(item, list) for part in item]
            depth, leaves = 0, 1 + len(parts)
            for part in parts:
                if isinstance(part, list) and part[:1] == ["known"] and len(part) == 2 and isinstance(part[1], int):
                    more, wide = weigh(part[1], level + 1) if part[1] in containers else (0, 1)
                    depth, leaves = max(depth, more), leaves + wide - 1
            if depth >= caps.depth or leaves > caps.expanded:
                raise OverflowError("containers are nested too deeply or too widely")
            weights[number] = depth + 1, leaves
        return weights[number]

    # Hashing walks through all that a key holds, every time, and shared parts again and again. So what is hashed is
    # counted together, while lists may share what they like.
    try:
        total = sum(weigh(number, 1)[1] for number, row in containers.items() if row.kind in HASHED)
        for number in containers:
            weigh(number, 1)
    except OverflowError as error:
        return str(error)
    return "dicts and sets have too many parts" if total > 4 * caps.expanded else None
