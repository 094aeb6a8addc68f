"""Storages as rows of boxes: in each box the index that reads it, for each tensor that is a window on the storage."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator

from grader.model.picture import Window
from grader.report.pictures.canvas import CHAR, FAINT, INK, LINE, PAPER, SKY, Canvas
from grader.report.pictures.drawing import Drawing, fitted, size

_MOST_ROWS = 2
_MOST_BOXES = 24
_MOST_ELEMENTS = 4096
_NAMES = 16
_BOX = 30


def lines(windows: tuple[Window, ...], width: int, drawing: Drawing) -> Iterator[str]:
    """Each tensor: its layout in a line, below it the boxes of its storage."""
    for number, window in enumerate(windows):
        yield from _told(window, width)
        if (before := _same_memory(windows, number)) is not None:
            yield fitted(f"  in the storage of {windows[before].name}:", width)
        elif any(other.memory != window.memory for other in windows[:number]):
            yield "  in a storage of its own:"
        yield from (f"  {line}" for line in _boxes(window, width - 2, drawing))


def _told(window: Window, width: int) -> Iterator[str]:
    facts = f"shape {size(window.shape)}, strides {size(window.strides)}, offset {window.offset}"
    whole = f"{window.name}: {facts}"
    if len(whole) <= width:
        yield whole
    else:
        yield fitted(f"{window.name}:", width)
        yield from (f"  {part}" for part in facts.split(", offset")[0].replace("), ", ")\n").split("\n"))
        yield f"  offset {window.offset}"


def _same_memory(windows: tuple[Window, ...], number: int) -> int | None:
    """The first of those before that has the same storage."""
    mine = windows[number].memory
    return next((place for place, other in enumerate(windows[:number]) if other.memory == mine), None)


def readers(window: Window) -> dict[int, list[tuple[int, ...]]]:
    """By place in the storage, the indices that read it; of a large tensor the first ones."""
    found: dict[int, list[tuple[int, ...]]] = {}
    # As many of each dim as are looked at in all: what comes behind them is not asked for.
    every = itertools.product(*(range(min(length, _MOST_ELEMENTS)) for length in window.shape))
    for index in itertools.islice(every, _MOST_ELEMENTS):
        place = window.offset + sum(map(operator.mul, index, window.strides))
        found.setdefault(place, []).append(index)
    return found


def _texts(window: Window) -> list[str]:
    """What stands in the first boxes: an index, with a plus where there are more of them."""
    read = readers(window)
    rows = [read.get(place, []) for place in range(min(window.storage, _MOST_BOXES))]
    return [(",".join(map(str, row[0])) or "()") + ("+" if len(row) > 1 else "") if row else "" for row in rows]


def _boxes(window: Window, width: int, drawing: Drawing) -> Iterator[str]:
    texts = _texts(window)
    cell = max((len(text) for text in (*texts, str(len(texts)))), default=1) + 2
    each = max(1, (width - 1) // (cell + 1))
    chunks = [texts[start : start + each] for start in range(0, len(texts), each)]
    # Whole, or its beginning: one row tells how it goes on.
    if len(chunks) > _MOST_ROWS or window.storage > len(texts):
        chunks = chunks[:1]
    place = 0
    for chunk in chunks:
        widths = [cell] * len(chunk)
        yield " " + " ".join(str(place + i).center(cell) for i in range(len(chunk))).rstrip()
        yield drawing.top(widths)
        yield drawing.row([text.center(cell) for text in chunk])
        yield drawing.bottom(widths)
        place += len(chunk)
    if window.storage > place:
        yield f"and {window.storage - place:,} more elements"
    if any(text.endswith("+") for text in texts):
        yield "+ is read by more than one index"


def sentence(windows: tuple[Window, ...]) -> str:
    """The layouts, and who shares a storage."""
    parts = []
    for number, window in enumerate(windows):
        before = _same_memory(windows, number)
        where = (
            f"a storage of {window.storage:,} elements"
            if before is None
            else f"the storage of {windows[before].name} itself"
        )
        own = ", its own" if before is None and number and window.memory != windows[0].memory else ""
        layout = f"shape {size(window.shape)}, strides {size(window.strides)} and offset {window.offset}"
        parts.append(f"{window.name} has {layout} in {where}{own}")
    return f"{'; '.join(parts)}."


def svg(windows: tuple[Window, ...]) -> str:
    """The same: boxes that are read are filled."""
    canvas = Canvas()
    y = 0.0
    for number, window in enumerate(windows):
        before = _same_memory(windows, number)
        where = "" if before is None else f" (in the storage of {windows[before].name})"
        facts = f"shape {size(window.shape)}, strides {size(window.strides)}, offset {window.offset}"
        canvas.words(0, y + LINE - 6, f"{window.name}: {facts}{where}")
        texts = _texts(window)
        cell = (max((len(text) for text in texts), default=1) + 2) * CHAR
        for place, text in enumerate(texts[:_NAMES]):
            canvas.words((place + 0.5) * cell, y + 2 * LINE - 4, str(place), middle=True, colour=FAINT)
            canvas.box(place * cell, y + 2 * LINE, cell, _BOX, fill=SKY if text else PAPER)
            canvas.words((place + 0.5) * cell, y + 3 * LINE, text, middle=True, colour=INK)
        if window.storage > _NAMES:
            canvas.words(min(len(texts), _NAMES) * cell + 8, y + 3 * LINE, f"and {window.storage - _NAMES:,} more")
        y += 2 * LINE + _BOX + 16
    return canvas.svg("Tensors as windows on their storages", sentence(windows))
