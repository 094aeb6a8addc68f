"""A small tensor beside the one that is asked, its wrong cells marked."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model.picture import Grid
from grader.report.pictures.canvas import CHAR, FAINT, LINE, Canvas
from grader.report.pictures.drawing import Drawing

_GAP = 4
_MOST_TOLD = 6
_ROOM = 30


def lines(grid: Grid, width: int, drawing: Drawing) -> Iterator[str]:
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
    drawn = [
        drawing.row([_cell(text, bool(wrong and wrong[y][x]), widths[x]) for x, text in enumerate(row)])
        for y, row in enumerate(rows)
    ]
    body = [drawing.top(widths), *drawn, drawing.bottom(widths)]
    return [name.ljust(len(body[0])), *body]


def _cell(text: str, wrong: bool, width: int) -> str:
    inner = text.rjust(width - 2)
    return f">{inner}<" if wrong else f" {inner} "


def sentence(grid: Grid) -> str:
    """Which cells are wrong, and what they should be."""
    places = [(y, x) for y, row in enumerate(grid.wrong) for x, bad in enumerate(row) if bad]
    told = [f"{_index(grid, y, x)} is {grid.yours[y][x]}, asked {grid.asked[y][x]}" for y, x in places[:_MOST_TOLD]]
    more = f"; and {len(places) - _MOST_TOLD} more" if len(places) > _MOST_TOLD else ""
    return f"Wrong elements: {'; '.join(told)}{more}."


def _index(grid: Grid, y: int, x: int) -> str:
    return "the number" if grid.dims == 0 else f"[{x}]" if grid.dims == 1 else f"[{y}, {x}]"


def svg(grid: Grid) -> str:
    """Both side by side."""
    canvas = Canvas()
    longest = max(len(text) for rows in (grid.asked, grid.yours) for row in rows for text in row)
    cell = max(longest + 3, 5) * CHAR
    second = len(grid.asked[0]) * cell + _ROOM
    for left, name, rows in ((0.0, "asked", grid.asked), (second, "yours", grid.yours)):
        canvas.words(left, LINE - 6, name, colour=FAINT)
        for y, row in enumerate(rows):
            for x, text in enumerate(row):
                place = left + x * cell, LINE + y * _ROOM
                canvas.box(*place, cell, _ROOM)
                canvas.words(place[0] + cell / 2, place[1] + LINE, text, middle=True)
                if name == "yours" and grid.wrong[y][x]:
                    canvas.wrong(*place, cell, _ROOM)
    return canvas.svg("Values beside the asked ones", sentence(grid))
