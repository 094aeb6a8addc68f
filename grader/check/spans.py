"""What happened on a simulated accelerator during a call, drawn for a message from what a worker tells."""

from __future__ import annotations

import math
import re
from typing import Any

import torch

_ROWS = 12
_WIDTH = 68
_NAME = re.compile(r"(launch |wait for |)(.+)", re.ASCII)
_OWN = {
    *("host to device", "device to host", "device to device", "scalar to host", "staging"),
    *("copy", "synchronize", "event", "sleep"),
}


def drawn(told: Any, count: int) -> str | None:
    """The beginning of a timeline of host and devices; None if there is none to be had from what was told.

    Args:
        told: the first rows: name, place, start and end in seconds. Words that are none of ours are left out.
        count: how many rows there are in all.
    """
    from grader.accelerator import Span, timeline  # 30 ms that no check needs which passes

    if not isinstance(told, list):
        return None
    spans = []
    for row in told[:_ROWS]:
        match row:
            case [str(name), str(place), float(start), float(end)] if 0 <= start <= end < math.inf:
                spans.append(Span(_known(name), place if place in ("host", "0", "1") else "?", start, end))
            case _:
                return None
    zero = spans[0].start if spans else 0.0
    spans = [Span(span.name, span.place, span.start - zero, span.end - zero) for span in spans]
    more = f"\n{count - len(spans):,} more follow" if count > len(spans) else ""
    return timeline(spans, width=_WIDTH) + more


def _known(name: str) -> str:
    found = _NAME.fullmatch(name)
    if found is None:
        return "other"
    does, what = found.groups()
    ours = what in _OWN or (what.isidentifier() and hasattr(torch.ops.aten, what))
    return does + (what if ours else "other")
