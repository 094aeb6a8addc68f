"""Pictures of facts: lines for a terminal in UTF-8, a sentence for screen readers. `html` has the same lines as an SVG.

A check gathers the facts, which `model.picture` declares. A wrong element stands between marks, or in colour where
there is colour; the sentence names it in any case.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, product, zip_longest

import click

from grader.accelerator.timeline import COPIES, shift_spans, time_text, timeline
from grader.model.picture import Grid, Moment, Picture, Shapes, View
from grader.model.score import pluralize
from grader.report.safe import column_count, for_terminal, pad, shorten, wrap

_GAP = 4
_LEAST_NAME = 8
_MOST_CELLS_NAMED = 6
_MOST_ROWS, _MOST_BOXES, _MOST_ELEMENTS = 2, 24, 4096
_AGREE, _STRETCH, _CLASH = "=", "~", "!"
_MARKED = re.compile(r"(?<=│)>([^│]*)<(?=│)")
_MARKS = "> <"
_ON_DEVICE_COPIES = (*COPIES, "scalar to host")


@dataclass(frozen=True)
class _Part:
    """A part of a picture.

    Attributes:
        title: the title.
        draw: a function of a width that yields its lines.
        sentence: a sentence that says the same.
        marked: True if marks in the lines stand for a colour.
    """

    title: str
    draw: Callable[[int], Iterator[str]]
    sentence: str
    marked: bool = False


def _parts(picture: Picture) -> Iterator[_Part]:
    """Yield the parts of a picture: a grid of values, views on storages, shapes, a timeline.

    A part is left out if the picture has no facts for it.
    """
    if (grid := picture.grid) is not None:
        title = "Expected values beside those of your code"
        yield _Part(title, partial(_grid_lines, grid), _grid_sentence(grid), marked=True)
    if views := picture.views:
        yield _Part("Tensors as views on their storages", partial(_view_lines, views), _view_sentence(views))
    if (shapes := picture.shapes) is not None:
        title = "Shapes as broadcasting aligns them" if shapes.broadcast else "Shapes, aligned at the right"
        yield _Part(title, partial(_shape_lines, shapes), _shape_sentence(shapes))
    if moments := picture.moments:
        draw = partial(_timeline_lines, moments, picture.left_out)
        yield _Part("What host and devices did", draw, _timeline_sentence(moments, picture.left_out))


def lines_of(picture: Picture, width: int, *, plain: bool = False, colours: bool = False) -> list[str]:
    """Return the lines of a picture, safe for a terminal.

    Args:
        picture: the facts of the picture.
        width: the width of the terminal; sentences replace a picture that does not fit.
        plain: True if the sentences replace the picture even if it fits.
        colours: True if wrong elements are red, and have no marks.
    """
    drawn: list[str] = []
    fits = not plain
    for part in _parts(picture):
        lines = [for_terminal(line, one_line=True) for line in part.draw(width)]
        fits = fits and all(column_count(line) <= width for line in lines)
        drawn += map(_with_red_cells, lines) if colours and part.marked else lines
    return drawn if fits else wrap(for_terminal(sentence_of(picture), one_line=True), "", width, "")


def sentence_of(picture: Picture) -> str:
    """Return a picture as sentences for those who cannot see it, one for each part."""
    return " ".join(part.sentence for part in _parts(picture))


def title_of(picture: Picture) -> str:
    """Return the title of a picture."""
    return ". ".join(part.title for part in _parts(picture))


def _box_rows(rows: list[list[str]]) -> list[str]:
    """Return the lines of a table with borders around its cells.

    All cells of a column must have the same width.
    """
    lines = ["─" * len(cell) for cell in rows[0]]
    return [f"┌{'┬'.join(lines)}┐", *(f"│{'│'.join(row)}│" for row in rows), f"└{'┴'.join(lines)}┘"]


# -- values


def _with_red_cells(line: str) -> str:
    """Return a line of a grid, with red colour for the cells between `>` and `<`.

    The red colour replaces these signs, in the legend of the grid, too.
    """
    if line.startswith(_MARKS):
        return f"{_mark_red(' ' * len(_MARKS))}{line.removeprefix(_MARKS)}"
    return _MARKED.sub(lambda cell: _mark_red(f" {cell[1]} "), line)


def _mark_red(text: str) -> str:
    # Reversed, so that it is seen as well by who does not tell red from green.
    return click.style(text, fg="red", bold=True, reverse=True)


def _grid_lines(grid: Grid, width: int) -> Iterator[str]:
    """Yield the lines of the grids `expected` and `got`, side by side if there is room.

    Wrong elements stand between the signs `>` and `<`.
    """
    expected, got = _grid_block("expected", grid.expected, None), _grid_block("got", grid.got, grid.wrong)
    if len(expected[0]) + _GAP + len(got[0]) <= width:
        yield from ((first + " " * _GAP + second).rstrip() for first, second in zip(expected, got, strict=True))
    else:
        yield from (line.rstrip() for line in (*expected, *got))
    yield f"{_MARKS} marks wrong elements"


def _grid_block(name: str, rows: tuple[tuple[str, ...], ...], wrong: tuple[tuple[bool, ...], ...] | None) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    cells = []
    for y, row in enumerate(rows):
        marks = ("><" if wrong and wrong[y][x] else "  " for x in range(len(row)))
        parts = zip(row, widths, marks, strict=True)
        cells.append([mark[0] + text.rjust(width) + mark[1] for text, width, mark in parts])
    body = _box_rows(cells)
    width = max(len(name), len(body[0]))
    return [line.ljust(width) for line in (name, *body)]


def _grid_sentence(grid: Grid) -> str:
    """Return a sentence that says which cells are wrong, and what they should be.

    An example is "Wrong elements: at [1] expected 2, got 3."
    """
    places = [(y, x) for y, row in enumerate(grid.wrong) for x, bad in enumerate(row) if bad]
    cells = []
    for y, x in places[:_MOST_CELLS_NAMED]:
        index = ("the only element", f"[{x}]", f"[{y}, {x}]")[grid.dims]
        cells.append(f"at {index} expected {grid.expected[y][x]}, got {grid.got[y][x]}")
    more = f"; and {len(places) - len(cells)} more" if len(places) > len(cells) else ""
    return f"Wrong elements: {'; '.join(cells)}{more}."


# -- storages


def _view_lines(views: tuple[View, ...], width: int) -> Iterator[str]:
    """Yield the lines of each tensor: its layout, and below it the boxes of its storage."""
    for number, view in enumerate(views):
        sizes = f"shape {view.shape}", f"strides {view.strides}", f"offset {view.offset}"
        whole = f"{view.name}: {', '.join(sizes)}"
        parts = [shorten(f"{view.name}:", width), *(f"  {part}" for part in sizes)]
        yield from [whole] if column_count(whole) <= width else parts
        if (before := _earlier_view(views, number)) is not None:
            yield shorten(f"  in the storage of {before.name}:", width)
        elif number:
            yield "  in a storage of its own:"
        yield from (f"  {line}" for line in _storage_boxes(view, width - 2))


def _earlier_view(views: tuple[View, ...], number: int) -> View | None:
    """Return the first view before `views[number]` that has the same storage, or None."""
    return next((other for other in views[:number] if other.memory == views[number].memory), None)


def indices_by_offset(view: View) -> dict[int, list[tuple[int, ...]]]:
    """Return the indices of a view that read each element of its storage, by its offset.

    A view of shape (2,), stride 2 and offset 1 returns `{1: [(0,)], 3: [(1,)]}`. Of a large view only the first indices
    are looked at.
    """
    read: dict[int, list[tuple[int, ...]]] = {}
    # As many of each dim as are looked at in all: further ones are not reached.
    every = product(*(range(min(length, _MOST_ELEMENTS)) for length in view.shape))
    for index in islice(every, _MOST_ELEMENTS):
        place = view.offset + sum(map(operator.mul, index, view.strides))
        read.setdefault(place, []).append(index)
    return read


def _storage_boxes(view: View, width: int) -> Iterator[str]:
    """Yield lines with a box for each element of a storage.

    A box has the index that reads the element, and a plus if several indices read it. Of a long storage only the
    beginning is drawn.
    """
    read = indices_by_offset(view)
    rows = [read.get(place, []) for place in range(min(view.storage, _MOST_BOXES))]
    texts = [(",".join(map(str, row[0])) or "()") + ("+" if len(row) > 1 else "") if row else "" for row in rows]
    cell = max((len(text) for text in (*texts, str(len(texts)))), default=1) + 2
    each = max(1, (width - 1) // (cell + 1))
    chunks = [texts[start : start + each] for start in range(0, len(texts), each)]
    # Whole, or its beginning: one row shows the pattern.
    if len(chunks) > _MOST_ROWS or view.storage > len(texts):
        chunks = chunks[:1]
    place = 0
    for chunk in chunks:
        yield " " + " ".join(str(place + i).center(cell) for i in range(len(chunk))).rstrip()
        yield from _box_rows([[text.center(cell) for text in chunk]])
        place += len(chunk)
    if view.storage > place:
        yield f"and {view.storage - place:,} more elements"
    if any(text.endswith("+") for text in texts):
        yield "+ is read by more than one index"


def _view_sentence(views: tuple[View, ...]) -> str:
    """Return a sentence with the layout of each view, and which views share a storage.

    For one view: "x has shape (2, 3), strides (3, 1) and offset 0 in a storage of 6 elements."
    """
    parts = []
    for number, view in enumerate(views):
        before = _earlier_view(views, number)
        own = ", its own" if number else ""
        storage = f"a storage of {view.storage:,} elements{own}"
        where = f"the storage of {before.name} itself" if before is not None else storage
        layout = f"shape {view.shape}, strides {view.strides} and offset {view.offset}"
        parts.append(f"{view.name} has {layout} in {where}")
    return f"{'; '.join(parts)}."


# -- shapes


def _aligned_dims(shapes: Shapes) -> list[tuple[str, tuple[int | None, ...]]]:
    """Return a sign for each aligned dim, and the sizes of the shapes in it, from the left.

    `(3, 1)` and `(4,)` return `[("~", (3, None)), ("~", (1, 4))]`, as both dims are stretched. "=" stands for equal
    sizes, and "!" for sizes that clash. A shape that lacks the dim has the size None.
    """
    dims = [*zip_longest(*(row.shape[::-1] for row in shapes.rows))][::-1]
    return [(_relation(shapes, sizes), sizes) for sizes in dims]


def _relation(shapes: Shapes, sizes: Sequence[int | None]) -> str:
    if len(set(sizes)) == 1:
        return _AGREE
    return _CLASH if not shapes.broadcast or len({*sizes} - {None, 1}) > 1 else _STRETCH


def _broadcast_shape(shapes: Shapes) -> tuple[int, ...] | None:
    """Return the shape that these shapes broadcast to; None if they do not broadcast.

    `(3, 1)` and `(4,)` return `(3, 4)`.
    """
    fits = _aligned_dims(shapes)
    if any(relation == _CLASH for relation, _ in fits):
        return None
    return tuple(next((number for number in sizes if number not in (None, 1)), 1) or 0 for _, sizes in fits)


def _shape_lines(shapes: Shapes, width: int) -> Iterator[str]:
    """Yield the lines that show how shapes align: one for each shape, then the legend.

    Between them, lines may show a sign for each dim, and the resulting or the expected shape.
    """
    fits = _aligned_dims(shapes) or [(_AGREE, tuple(None for _ in shapes.rows))]
    names = [row.name for row in shapes.rows]
    rows = [_shape_cells([sizes[place] for _, sizes in fits]) for place in range(len(names))]
    if shapes.misfits:
        for row, shape, misfits in zip(rows, shapes.rows, shapes.misfits, strict=True):
            for dim in misfits:
                cell = len(row) - len(shape.shape) + dim
                row[cell] = re.sub(r"\d+", r">\g<0><", row[cell])
    else:
        names, rows = [*names, ""], [*rows, [relation for relation, _ in fits]]
    if shapes.broadcast and (outcome := _broadcast_shape(shapes)) is not None:
        names, rows = [*names, "give"], [*rows, _shape_cells(outcome or (None,))]
    # Numbers stand below each other, with any text behind them.
    ends = [max(len(text) - len(text.rstrip(",)<")) for text in column) for column in zip(*rows, strict=True)]
    rows = [
        [text + " " * (end - len(text) + len(text.rstrip(",)<"))) for text, end in zip(row, ends, strict=True)]
        for row in rows
    ]
    cell = max((len(text) for row in rows for text in row), default=1) + 2
    longest = max(map(column_count, [*names, "expected" if shapes.expected is not None else ""]))
    room = min(longest, max(_LEAST_NAME, width - cell * len(fits)))
    for name, row in zip(names, rows, strict=True):
        yield (pad(shorten(name, room), room) + "".join(text.rjust(cell) for text in row)).rstrip()
    if shapes.expected is not None:
        yield f"{'expected'.ljust(room)}   {shapes.expected}"
    if shapes.misfits:
        yield "> < marks dims that do not fit"
        return
    clash = "! they clash" if shapes.broadcast else "! not the same"
    relations = {relation for relation, _ in fits}
    yield ", ".join(text for text in ("= the same", "~ stretched", clash) if text[0] in relations)


def _shape_cells(sizes: Sequence[int | None]) -> list[str]:
    """Return the cells of a row that shows a shape as Python writes it.

    `[None, 3, 4]` returns `["", "(3,", "4)"]`: a cell is empty where the shape lacks the dim.
    """
    own = sum(size is not None for size in sizes)
    if not own:
        return ["" for _ in sizes[1:]] + ["()" for _ in sizes[:1]]
    texts = [f"{size}," for size in sizes[len(sizes) - own : -1]] + [f"{sizes[-1]}{',)' if own == 1 else ')'}"]
    return [*("" for _ in sizes[own:]), f"({texts[0]}", *texts[1:]]


def _shape_sentence(shapes: Shapes) -> str:
    """Return a sentence that says how shapes broadcast, or in which dim they clash.

    An example is "Broadcasting a (3,) and b (4,): they clash in dim -1."
    """
    operands = " and ".join(f"{row.name} {row.shape}" for row in shapes.rows)
    if not shapes.broadcast:
        return f"The shapes are {operands}."
    outcome, fits = _broadcast_shape(shapes), _aligned_dims(shapes)
    if outcome is None:
        last = max(place for place, (relation, _) in enumerate(fits) if relation == _CLASH)
        return f"Broadcasting {operands}: they clash in dim {last - len(fits)}."
    if shapes.expected is not None:
        return f"Expected shape {shapes.expected}; broadcasting {operands} gives {outcome}."
    return f"Broadcasting {operands} gives {outcome}."


# -- time


def _timeline_lines(moments: tuple[Moment, ...], left_out: int, width: int) -> Iterator[str]:
    """Yield the lines of a timeline that begins at 0.

    Each moment has a row with a bar. The last lines explain the shades of the bars.
    """
    spans = shift_spans(moments, -min(one.start for one in moments))
    yield from timeline(spans, rows=len(spans), width=width, marks="█▒░", side="│").split("\n")
    if left_out:
        yield f"{left_out:,} more follow"
    legend = ["█ a device works", "▒ the host works", "░ the host waits"]
    yield from [whole] if len(whole := ", ".join(legend)) <= width else legend


def _timeline_sentence(moments: tuple[Moment, ...], left_out: int) -> str:
    """Return a sentence that counts the kernels, copies and waits in a timeline.

    For example, "In 8 us of virtual time 1 kernel and 0 copies ran, and the host waited 1 time, for 6 us in all."
    """
    waits = [one for one in moments if one.place == "host" and one.name.startswith("wait")]
    on_device = [one for one in moments if one.place != "host"]
    copies = sum(one.name in _ON_DEVICE_COPIES for one in on_device)
    whole = max(one.end for one in moments) - min(one.start for one in moments)
    ran = f"{pluralize(len(on_device) - copies, 'kernel')} and {copies} cop{'y' if copies == 1 else 'ies'} ran"
    text = f"In {time_text(whole)} of virtual time {ran}, and the host waited {pluralize(len(waits), 'time')}"
    if waits:
        text += f", for {time_text(sum(one.end - one.start for one in waits))} in all"
    return f"{text}; {left_out:,} more steps follow." if left_out else f"{text}."
