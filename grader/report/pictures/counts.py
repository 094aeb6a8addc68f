"""Counts as bars: yours, what is allowed, the reference's, the starter's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grader.model.picture import Card
from grader.report.pictures.canvas import BLUE, CHAR, INK, LINE, ORANGE, Canvas, Drawing, fitted

_MOST_NAME = 14
_WIDEST_BAR = 30
_LONGEST = 300
COUNTED: Mapping[str, tuple[str, str]] = {
    "ops": ("operation", "operations"),
    "bytes": ("byte of new memory", "bytes of new memory"),
    "peak": ("byte at the peak", "bytes at the peak"),
    "transfers": ("copy between devices", "copies between devices"),
    "transferred": ("byte between devices", "bytes between devices"),
    "syncs": ("wait for a device", "waits for a device"),
    "collectives": ("collective", "collectives"),
    "sent": ("byte sent to other ranks", "bytes sent to other ranks"),
    "escapes": ("way out of PyTorch", "ways out of PyTorch"),
    "versions": ("write in place", "writes in place"),
    "warnings": ("warning", "warnings"),
}
"""What each counter counts, in words: one, and many."""


def counted_as(counter: str) -> str:
    """What a counter counts, in words."""
    return COUNTED.get(counter, (counter, counter))[1]


def count_lines(cards: tuple[Card, ...], width: int, drawing: Drawing) -> Iterator[str]:
    """For each count a heading and a bar for each number, the largest as long as there is room for."""
    for card in cards:
        yield fitted(counted_as(card.counter), width)
        name = min(max(len(bar.name) for bar in card.bars), _MOST_NAME)
        digits = max(len(f"{bar.number:,}") for bar in card.bars)
        room = max(1, min(_WIDEST_BAR, width - name - digits - 5))
        most = max(1, *(bar.number for bar in card.bars))
        for bar in card.bars:
            # What is there is seen, however small it is beside the others.
            length = max(1, round(room * bar.number / most)) if bar.number else 0
            yield f"  {fitted(bar.name, name):<{name}} {bar.number:>{digits},} {drawing.work * length}".rstrip()


def count_sentence(cards: tuple[Card, ...]) -> str:
    """All numbers."""
    bars = ((card.counter, ", ".join(f"{bar.name} {bar.number:,}" for bar in card.bars)) for card in cards)
    told = (f"{counted_as(counter)}: {numbers}" for counter, numbers in bars)
    return f"{'; '.join(told)}."


def count_svg(cards: tuple[Card, ...]) -> str:
    """The same; yours has an edge of another colour, and its name in bold."""
    canvas = Canvas()
    y = 0
    for card in cards:
        canvas.words(0, y + LINE - 6, counted_as(card.counter), bold=True)
        left = (max(len(bar.name) for bar in card.bars) + 2) * CHAR
        most = max(1, *(bar.number for bar in card.bars))
        for row, bar in enumerate(card.bars, 1):
            top = y + row * (LINE + 4)
            canvas.words(0, top + LINE - 5, bar.name, bold=row == 1)
            length = max(2.0, _LONGEST * bar.number / most) if bar.number else 0.0
            if length:
                canvas.box(left, top, length, LINE, fill=ORANGE if row == 1 else BLUE, edge=INK)
            canvas.words(left + length + 8, top + LINE - 5, f"{bar.number:,}")
        y += (len(card.bars) + 1) * (LINE + 4) + 8
    return canvas.svg("Counts beside each other", count_sentence(cards))
