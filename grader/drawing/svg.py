"""Tensors as an SVG: a box for each element, the storage below, one colour for each storage.

Each box of a tensor and its place in the storage have the same `data-place`, so that a page can mark both. No script is
in the SVG. Colours never carry information alone: each storage has a letter, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from xml.sax.saxutils import escape, quoteattr

from grader.drawing.tensor import DrawnTensor
from grader.model.picture import View

_CELL_W, _CELL_H, _GAP = 44, 30, 14
_LINE = 20
_MOST_COLUMNS, _MOST_ROWS, _MOST_BLOCKS, _MOST_PLACES = 12, 8, 6, 48
_PER_ROW = 12
_PALETTE = (
    ("#0072B2", "#d5ebf8"),
    ("#a3541b", "#fbe2d3"),
    ("#00795a", "#d3efe5"),
    ("#8a4a79", "#f5deee"),
    ("#6f6400", "#f3efc4"),
)
"""Of Okabe and Ito, the ink darkened until it can be read on its own light shade and on white."""


@dataclass
class _Sheet:
    """An SVG that grows downwards."""

    parts: list[str]
    width: float = 0
    y: float = 6

    def text(self, x: float, text: str, *, size: int = 13, fill: str = "#1b1f24", bold: bool = False) -> None:
        """Add a line of text at the bottom of the sheet."""
        weight = ' font-weight="700"' if bold else ""
        self.parts.append(
            f'<text x="{x}" y="{self.y + 14}" font-size="{size}" fill="{fill}"{weight}>{escape(text)}</text>'
        )
        self.width = max(self.width, x + len(text) * size * 0.62)
        self.y += _LINE


def storage_letter(memory: int, order: Sequence[int]) -> str:
    """Return the letter that names a storage in a drawing: A for the first one, B for the second.

    Args:
        memory: the number of the storage.
        order: the numbers of all storages, in the order of the drawing.
    """
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[order.index(memory) % 26]


def cells_svg(tensors: Sequence[DrawnTensor], title: str, description: str) -> str:
    """Return an SVG of tensors, with a box for each element, and their storages below them.

    Args:
        tensors: facts of the tensors; those without strides are left out.
        title: the title of the drawing, for readers who cannot see it.
        description: a description of what it shows, for the same readers.
    """
    drawn = [(facts, facts.view) for facts in tensors if facts.view is not None]
    order = list(dict.fromkeys(view.memory for _, view in drawn))
    sheet = _Sheet([])
    for memory in order:
        mine = [(facts, view) for facts, view in drawn if view.memory == memory]
        ink, shade = _PALETTE[order.index(memory) % len(_PALETTE)]
        letter = storage_letter(memory, order)
        for facts, view in mine:
            _draw_tensor(sheet, facts, view, letter, ink, shade)
        _draw_storage(sheet, mine, letter, ink, shade)
        sheet.y += _GAP
    width, height = max(sheet.width + 12, 120), sheet.y
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cells" role="img" aria-label={quoteattr(description)} '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="6" fill="#ffffff"/>'
    )
    return f"{head}{''.join(sheet.parts)}</svg>"


def _draw_tensor(sheet: _Sheet, facts: DrawnTensor, view: View, letter: str, ink: str, shade: str) -> None:
    """Draw a tensor as grids of cells, under a title and its layout.

    A grid has the rows and columns of the last two dims; each index of the other dims has a grid.
    """
    sheet.text(8, f"{facts.name}", bold=True, fill=ink)
    layout = f"shape {view.shape}  strides {view.strides}  offset {view.offset}"
    sheet.text(8, layout)
    sheet.text(8, facts.sentence, fill="#4b5563", size=12)
    sheet.y += 4
    if 0 in view.shape:
        sheet.text(16, "no elements", fill="#4b5563")
        return
    *outer, rows, columns = (1, 1, *view.shape)
    if len(view.shape) >= 2:
        outer = list(view.shape[:-2])
    else:
        outer = []
    blocks = list(islice(product(*(range(min(size, _MOST_BLOCKS)) for size in outer)), _MOST_BLOCKS + 1))
    for block in blocks[:_MOST_BLOCKS]:
        if block:
            sheet.text(16, f"[{', '.join(map(str, block))}]", fill="#4b5563", size=12)
        for row in range(min(rows, _MOST_ROWS)):
            for column in range(min(columns, _MOST_COLUMNS)):
                index = (
                    (*block, row, column)[len(block) + 2 - min(2, len(view.shape)) :]
                    if not block
                    else (*block, row, column)
                )
                place = view.offset + sum(step * at for step, at in zip(view.strides, index, strict=True))
                flat = _flat_index(index, view.shape)
                text = facts.values[flat] if flat < len(facts.values) else ""
                where = f"{facts.name}[{', '.join(map(str, index))}]" if index else facts.name
                hint = f"{where} is element {place} of storage {letter}"
                _box(sheet, 16 + column * _CELL_W, text, ink, shade, f"{letter}{place}", hint)
            if columns > _MOST_COLUMNS:
                _dots(sheet, 16 + _MOST_COLUMNS * _CELL_W)
            sheet.width = max(sheet.width, 16 + (min(columns, _MOST_COLUMNS) + (columns > _MOST_COLUMNS)) * _CELL_W)
            sheet.y += _CELL_H
        if rows > _MOST_ROWS:
            sheet.text(16, f"and {rows - _MOST_ROWS:,} more rows", fill="#4b5563", size=12)
        sheet.y += 6
    if len(blocks) > _MOST_BLOCKS:
        sheet.text(16, "and more", fill="#4b5563", size=12)
    sheet.y += 6


def _flat_index(index: Sequence[int], shape: Sequence[int]) -> int:
    """Return the row-major index of the element at an index of several dims.

    In the shape (2, 3), the element at (1, 2) is number 5.
    """
    number = 0
    for at, size in zip(index, shape, strict=True):
        number = number * size + at
    return number


def _draw_storage(sheet: _Sheet, mine: Sequence[tuple[DrawnTensor, View]], letter: str, ink: str, shade: str) -> None:
    """Draw a storage as rows of numbered elements, with the values that its views read.

    The argument `mine` has each drawn tensor on this storage, with its view.
    """
    sizes = {facts.itemsize for facts, _ in mine}
    _, first = mine[0]
    sheet.text(8, f"storage {letter}: {first.storage:,} elements", fill=ink, bold=True, size=12)
    if len(sizes) > 1:
        sheet.text(8, "its views have elements of different sizes", fill="#4b5563", size=12)
    texts: dict[int, str] = {}
    counts: dict[int, int] = {}
    for facts, view in mine:
        if facts.itemsize != mine[0][0].itemsize:
            continue
        for place, index in _offsets_with_indices(view):
            flat = _flat_index(index, view.shape)
            counts[place] = counts.get(place, 0) + 1
            if flat < len(facts.values):
                texts.setdefault(place, facts.values[flat])
    shown = min(first.storage, _MOST_PLACES)
    for start in range(0, shown, _PER_ROW):
        row = range(start, min(start + _PER_ROW, shown))
        for column, place in enumerate(row):
            x = 16 + column * _CELL_W
            number = (
                f'<text x="{x + _CELL_W / 2}" y="{sheet.y + 12}" font-size="11" text-anchor="middle" fill="#4b5563">'
            )
            sheet.parts.append(f"{number}{place}</text>")
        sheet.y += 16
        for column, place in enumerate(row):
            read = place in counts
            hint = f"element {place} of storage {letter}" + ("" if read else ", which no tensor here reads")
            colours = (ink, shade) if read else ("#6b7280", "#ffffff")
            _box(
                sheet, 16 + column * _CELL_W, texts.get(place, ""), *colours, f"{letter}{place}", hint, dashed=not read
            )
        sheet.width = max(sheet.width, 16 + len(row) * _CELL_W)
        sheet.y += _CELL_H + 4
    if first.storage > shown:
        sheet.text(16, f"and {first.storage - shown:,} more elements", fill="#4b5563", size=12)
    if any(count > len(mine) for count in counts.values()):
        sheet.text(16, "some elements are read by more than one index of a tensor", fill="#4b5563", size=12)


def _offsets_with_indices(view: View) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the storage offset and the index of each element of a view.

    For strides (1, 3) they begin with `(0, (0, 0))` and `(3, (0, 1))`. Of a large view only the first 4096 are yielded.
    """
    if 0 in view.shape:
        return
    for index in islice(product(*(range(min(size, 4096)) for size in view.shape)), 4096):
        yield view.offset + sum(step * at for step, at in zip(view.strides, index, strict=True)), index


def _box(
    sheet: _Sheet, x: float, text: str, ink: str, shade: str, place: str, hint: str, *, dashed: bool = False
) -> None:
    size = 13 if len(text) <= 5 else 10 if len(text) <= 7 else 8.5
    stroke = ' stroke-dasharray="3 3"' if dashed else ""
    sheet.parts.append(
        f'<g class="cell" data-place="{place}"><title>{escape(hint)}</title>'
        f'<rect x="{x}" y="{sheet.y}" width="{_CELL_W}" height="{_CELL_H}" fill="{shade}" stroke="{ink}"{stroke}/>'
        f'<text x="{x + _CELL_W / 2}" y="{sheet.y + 20}" font-size="{size}" text-anchor="middle" fill="#1b1f24">'
        f"{escape(text)}</text></g>"
    )


def _dots(sheet: _Sheet, x: float) -> None:
    sheet.parts.append(f'<text x="{x + 8}" y="{sheet.y + 19}" font-size="13" fill="#4b5563">...</text>')
