"""What happened on a simulated accelerator during a call, drawn for a message from what a worker tells."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import torch

_ROWS = 12
_WIDTH = 68
_NAME = re.compile(r"(launch |wait for |)(.+)", re.ASCII)
_OWN = {
    *("host to device", "device to host", "device to device", "scalar to host", "staging"),
    *("copy", "synchronize", "event", "sleep"),
}


@dataclass(frozen=True)
class Spans:
    """What took virtual time, the first of it.

    Attributes:
        rows: name, place, start and end in seconds.
        count: how many there were in all.
    """

    rows: tuple[tuple[str, str, float, float], ...] = ()
    count: int = 0

    def drawn(self) -> str:
        """A timeline of host and devices; "" if nothing happened there."""
        from grader.accelerator import Span, timeline  # 30 ms, for a message only

        if not self.rows:
            return ""
        # The virtual clock has run since earlier calls; a message begins at 0.
        zero = self.rows[0][2]
        spans = [Span(name, place, start - zero, end - zero) for name, place, start, end in self.rows]
        more = f"\n{self.count - len(spans):,} more follow" if self.count > len(spans) else ""
        return timeline(spans, width=_WIDTH) + more


def read_spans(told: Any, count: int) -> Spans | None:
    """What a worker tells, as it should be, or None if it is not; words that are none of ours are left out."""
    if not isinstance(told, list):
        return None
    rows = []
    for row in told[:_ROWS]:
        # One row that is none makes the whole a made-up list. A place that we do not know is only not named.
        match row:
            case [str(name), str(place), float(start), float(end)] if 0 <= start <= end < math.inf:
                rows.append((_known(name), place if place in ("host", "0", "1") else "?", start, end))
            case _:
                return None
    return Spans(tuple(rows), count)


def _known(name: str) -> str:
    found = _NAME.fullmatch(name)
    if found is None:
        return "other"
    does, what = found.groups()
    # Words of a worker's own could carry a hidden input into a message, so only ours and names of operators pass.
    ours = what in _OWN or (what.isidentifier() and hasattr(torch.ops.aten, what))
    return does + (what if ours else "other")
