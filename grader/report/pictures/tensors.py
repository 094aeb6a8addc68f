"""Pictures of tensors: a grid of values, storages as rows of boxes, shapes as broadcasting aligns them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator

from grader.model.picture import Grid, Shapes, Window
from grader.report.pictures.canvas import CHAR, FAINT, INK, LINE, PAPER, SKY, Canvas, Drawing, fitted, size

_BOX = 30
"""The height of a box in an SVG."""
_GAP = 4
_MOST_TOLD = 6
_MOST_ROWS, _MOST_BOXES, _MOST_ELEMENTS = 2, 24, 4096
_NAMES = 16
_MOST_NAME = 24
_AGREE, _STRETCH, _CLASH = "agree", "stretch", "clash"
_MARKS = {_AGREE: "=", _STRETCH: "~", _CLASH: "!"}


def grid_lines(grid: Grid, width: int, drawing: Drawing) -> Iterator[str]:
    """Both side by side, or one above the other where the terminal is narrow; wrong cells stand between marks."""
    asked = _block("asked", grid.asked, None, drawing)
    yours = _block("yours", grid.yours, grid.wrong, drawing)
    if len(asked[0]) + _GAP + len(yours[0]) <= width:
        yield from ((first + " " * _GAP + second).rstrip() for first, second in zip(asked, yours, strict=True))
    else:
        yield from (line.rstrip() for line in (*asked, *yours))
    yield "> < marks what is wrong"


def _block(
    name: str, rows: tuple[tuple[str, ...], ...], wrong: tuple[tuple[bool, ...], ...] | None, drawing: Drawing
) -> list[str]:
    widths = [max(len(row[place]) for row in rows) + 2 for place in range(len(rows[0]))]
    cells = [
        [_cell(text, bool(wrong and wrong[y][x]), widths[x]) for x, text in enumerate(row)]
        for y, row in enumerate(rows)
    ]
    body = drawing.boxes(cells)
    return [name.ljust(len(body[0])), *body]


def _cell(text: str, wrong: bool, width: int) -> str:
    inner = text.rjust(width - 2)
    return f">{inner}<" if wrong else f" {inner} "


def grid_sentence(grid: Grid) -> str:
    """Which cells are wrong, and what they should be."""
    places = [(y, x) for y, row in enumerate(grid.wrong) for x, bad in enumerate(row) if bad]
    told = [f"{_index(grid, y, x)} is {grid.yours[y][x]}, asked {grid.asked[y][x]}" for y, x in places[:_MOST_TOLD]]
    more = f"; and {len(places) - _MOST_TOLD} more" if len(places) > _MOST_TOLD else ""
    return f"Wrong elements: {'; '.join(told)}{more}."


def _index(grid: Grid, y: int, x: int) -> str:
    return "the number" if grid.dims == 0 else f"[{x}]" if grid.dims == 1 else f"[{y}, {x}]"


def grid_svg(grid: Grid) -> str:
    """Both side by side."""
    canvas = Canvas()
    longest = max(len(text) for rows in (grid.asked, grid.yours) for row in rows for text in row)
    cell = max(longest + 3, 5) * CHAR
    second = len(grid.asked[0]) * cell + _BOX
    for left, name, rows in ((0.0, "asked", grid.asked), (second, "yours", grid.yours)):
        canvas.words(left, LINE - 6, name, colour=FAINT)
        for y, row in enumerate(rows):
            for x, text in enumerate(row):
                place = left + x * cell, LINE + y * _BOX
                canvas.box(*place, cell, _BOX)
                canvas.words(place[0] + cell / 2, place[1] + LINE, text, middle=True)
                if name == "yours" and grid.wrong[y][x]:
                    canvas.wrong(*place, cell, _BOX)
    return canvas.svg("Values beside the asked ones", grid_sentence(grid))


def window_lines(windows: tuple[Window, ...], width: int, drawing: Drawing) -> Iterator[str]:
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
        yield " " + " ".join(str(place + i).center(cell) for i in range(len(chunk))).rstrip()
        yield from drawing.boxes([[text.center(cell) for text in chunk]])
        place += len(chunk)
    if window.storage > place:
        yield f"and {window.storage - place:,} more elements"
    if any(text.endswith("+") for text in texts):
        yield "+ is read by more than one index"


def window_sentence(windows: tuple[Window, ...]) -> str:
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


def window_svg(windows: tuple[Window, ...]) -> str:
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
    return canvas.svg("Tensors as windows on their storages", window_sentence(windows))


def columns_of(shapes: Shapes) -> list[tuple[str, list[int | None]]]:
    """From left to right: how the sizes of a column get along, and the sizes; None where a shape has no such dim."""
    dims = max((len(row.shape) for row in shapes.rows), default=0)
    padded = [(*[None] * (dims - len(row.shape)), *row.shape) for row in shapes.rows]
    found = []
    for place in range(dims):
        sizes = [row[place] for row in padded]
        found.append((_relation(sizes, broadcast=shapes.broadcast), sizes))
    return found


def _relation(sizes: list[int | None], *, broadcast: bool) -> str:
    if len(set(sizes)) == 1:
        return _AGREE
    if not broadcast or len({number for number in sizes if number not in (None, 1)}) > 1:
        return _CLASH
    return _STRETCH


def result(shapes: Shapes) -> tuple[int, ...] | None:
    """What operands of these shapes give; None where they clash."""
    found = []
    for relation, sizes in columns_of(shapes):
        if relation == _CLASH:
            return None
        found.append(next((number for number in sizes if number not in (None, 1)), 1))
    return tuple(int(number) for number in found)


def shape_lines(shapes: Shapes, width: int, drawing: Drawing) -> Iterator[str]:
    """A row for each shape, one for the marks, one for what comes out."""
    del drawing  # numbers and marks: the same in every character set
    columns = columns_of(shapes)
    rows = [(row.name, [sizes[place] for _, sizes in columns]) for place, row in enumerate(shapes.rows)]
    outcome = result(shapes) if shapes.broadcast else None
    if outcome is not None:
        rows.append(("give", list(outcome)))
    cell = max((len(str(number)) for _, numbers in rows for number in numbers if number is not None), default=1) + 3
    name = min(max((len(text) for text, _ in rows), default=0), _MOST_NAME, max(6, width - cell * len(columns)))
    head = rows[: len(shapes.rows)]
    for text, numbers in head:
        yield _shape_row(fitted(text, name).ljust(name), numbers, cell)
    yield (" " * name + "".join(_MARKS[relation].rjust(cell) for relation, _ in columns)).rstrip()
    for text, numbers in rows[len(head) :]:
        yield _shape_row(fitted(text, name).ljust(name), numbers, cell)
    if shapes.asked is not None:
        yield f"{'asked'.ljust(name)}   {size(shapes.asked)}"
    yield from _legend({relation for relation, _ in columns}, broadcast=shapes.broadcast)


def _shape_row(name: str, numbers: list[int | None], cell: int) -> str:
    return (name + "".join(("" if number is None else str(number)).rjust(cell) for number in numbers)).rstrip()


def _legend(relations: set[str], *, broadcast: bool) -> Iterator[str]:
    words = {_STRETCH: "~ stretched", _CLASH: "! they clash" if broadcast else "! not the same", _AGREE: "= the same"}
    yield ", ".join(words[relation] for relation in (_AGREE, _STRETCH, _CLASH) if relation in relations)


def shape_sentence(shapes: Shapes) -> str:
    """How the shapes get along, from the right."""
    told = " and ".join(f"{row.name} {size(row.shape)}" for row in shapes.rows)
    if not shapes.broadcast:
        return f"The shapes are {told}."
    outcome = result(shapes)
    clash = [place - len(columns_of(shapes)) for place, (kind, _) in enumerate(columns_of(shapes)) if kind == _CLASH]
    if outcome is None:
        return f"Broadcasting {told}: they clash in dim {clash[-1]}."
    asked = f"; {size(shapes.asked)} is asked" if shapes.asked is not None else ""
    return f"Broadcasting {told} gives {size(outcome)}{asked}."


def shape_svg(shapes: Shapes) -> str:
    """A row of boxes for each shape; where they stretch or clash, filled and marked."""
    canvas = Canvas()
    columns = columns_of(shapes)
    left = (max(len(row.name) for row in shapes.rows) + 2) * CHAR
    cell = 6 * CHAR
    for y, row in enumerate(shapes.rows):
        canvas.words(0, y * _BOX + LINE, row.name)
        for x, (relation, sizes) in enumerate(columns):
            if (number := sizes[y]) is not None:
                place = left + x * cell, float(y * _BOX), cell, float(_BOX)
                fill = SKY if relation == _STRETCH else PAPER
                canvas.box(*place, fill=fill)
                canvas.words(place[0] + cell / 2, y * _BOX + LINE, str(number), middle=True)
                if relation == _CLASH:
                    canvas.wrong(*place)
    y_of_marks = len(shapes.rows) * _BOX + LINE
    for x, (relation, _) in enumerate(columns):
        canvas.words(left + (x + 0.5) * cell, y_of_marks, _MARKS[relation], middle=True, bold=True)
    legend = next(_legend({relation for relation, _ in columns}, broadcast=shapes.broadcast))
    canvas.words(0, y_of_marks + LINE, legend, colour=FAINT)
    title = "Shapes as broadcasting aligns them" if shapes.broadcast else "Two shapes, aligned at the right"
    return canvas.svg(title, shape_sentence(shapes))
