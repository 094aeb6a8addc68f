"""The virtual clock as a text: one row for each thing the host waited for or started, one for each kernel or copy."""

from __future__ import annotations

from collections.abc import Sequence

from grader.accelerator.clock import Span

_WIDTH = 80
_NAME = 29
_TIME = 10


def timeline(spans: Sequence[Span], *, rows: int = 20, width: int = _WIDTH) -> str:
    """Draw spans from left to right in the order of time.

    Args:
        spans: those of a clock.
        rows: the most rows; the longest spans are kept, and the last line tells how many are left out.
        width: of a line, in characters.

    Returns:
        ASCII text; `#` is work of a device, `=` of the host, `.` a wait of the host. "" where there are no spans.
    """
    if not spans:
        return ""
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    # The longest spans are kept, since they are what the time went to, and shown in the order of time again.
    shown = sorted(spans, key=lambda span: span.start - span.end)[:rows]
    shown.sort(key=lambda span: (span.start, span.end))
    room = width - _NAME - _TIME - 2
    scale = room / (end - start)
    lines = [f"{'':{_NAME}}|{time_text(start):<{room // 2}}{time_text(end):>{room - room // 2}}|"]
    for span in shown:
        # Each span is seen, at least as one character, and none leaves the frame.
        left = min(int((span.start - start) * scale), room - 1)
        length = max(1, min(round((span.end - span.start) * scale), room - left))
        mark = "#" if span.place != "host" else "." if span.name.startswith("wait") else "="
        who = "host" if span.place == "host" else f"dev{span.place}"
        label = f"{who} {span.name}"[: _NAME - 1]
        bar = f"{label:{_NAME}}|{' ' * left}{mark * length}".ljust(width - _TIME)
        lines.append(f"{bar}|{time_text(span.end - span.start):>{_TIME - 1}}")
    if len(spans) > rows:
        lines.append(f"{len(spans) - rows} shorter ones are left out")
    return "\n".join(line.rstrip() for line in lines)


def time_text(seconds: float) -> str:
    """A time for people, with three digits."""
    if seconds <= 0:
        return "0 s"
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{_three(seconds / unit)} {name}"
    return f"{_three(seconds / 1e-9)} ns"


def _three(number: float) -> str:
    # Not 1e+03, which `g` makes of 999.6.
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"
