"""Shapes below each other, aligned at the right as broadcasting aligns them: where they agree, stretch, clash."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model.picture import Shapes
from grader.report.pictures.canvas import CHAR, FAINT, LINE, PAPER, SKY, Canvas
from grader.report.pictures.drawing import Drawing, fitted, size

_MOST_NAME = 24
_AGREE, _STRETCH, _CLASH = "agree", "stretch", "clash"
_MARKS = {_AGREE: "=", _STRETCH: "~", _CLASH: "!"}
_BOX = 30


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


def lines(shapes: Shapes, width: int, drawing: Drawing) -> Iterator[str]:
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
        yield _row(fitted(text, name).ljust(name), numbers, cell)
    yield (" " * name + "".join(_MARKS[relation].rjust(cell) for relation, _ in columns)).rstrip()
    for text, numbers in rows[len(head) :]:
        yield _row(fitted(text, name).ljust(name), numbers, cell)
    if shapes.asked is not None:
        yield f"{'asked'.ljust(name)}   {size(shapes.asked)}"
    yield from _legend({relation for relation, _ in columns}, broadcast=shapes.broadcast)


def _row(name: str, numbers: list[int | None], cell: int) -> str:
    return (name + "".join(("" if number is None else str(number)).rjust(cell) for number in numbers)).rstrip()


def _legend(relations: set[str], *, broadcast: bool) -> Iterator[str]:
    words = {_STRETCH: "~ stretched", _CLASH: "! they clash" if broadcast else "! not the same", _AGREE: "= the same"}
    yield ", ".join(words[relation] for relation in (_AGREE, _STRETCH, _CLASH) if relation in relations)


def sentence(shapes: Shapes) -> str:
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


def svg(shapes: Shapes) -> str:
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
    return canvas.svg(title, sentence(shapes))
