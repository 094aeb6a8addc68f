"""The facts of pictures, from the values of a check. What is too large to be drawn has none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from grader.connection.connection import is_proxy
from grader.connection.spans import Spans
from grader.model.picture import Bar, Card, Grid, Moment, NamedShape, Picture, Shapes, Window

_MOST_COLUMNS = 8
_MOST_ROWS = 8
_MOST_ELEMENTS = 1024
_MOST_DIMS = 4
_WIDEST = 40


def grid(asked: torch.Tensor, yours: torch.Tensor, wrong: torch.Tensor, said: str) -> Picture | None:
    """Small values beside the asked ones. One dim is drawn as a row; of one number there is nothing to draw."""
    shape = tuple(asked.shape)
    if len(shape) not in (1, 2) or asked.numel() < 2 or shape[-1] > _MOST_COLUMNS or math.prod(shape[:-1]) > _MOST_ROWS:
        return None
    rows = [_rows(value, len(shape)) for value in (asked, yours)]
    if any(len(cell) > _WIDEST // shape[-1] for table in rows for row in table for cell in row):
        return None
    marks = tuple(tuple(bool(bad) for bad in row) for row in wrong.reshape(-1, shape[-1]).tolist())
    first, second = (tuple(map(tuple, table)) for table in rows)
    return Picture(grid=Grid(first, second, marks, len(shape)), said=said)


def _rows(value: torch.Tensor, dims: int) -> list[list[str]]:
    table = value.reshape(-1, value.shape[-1]) if dims == 2 else value.reshape(1, -1)
    return [[_cell(number) for number in row] for row in table.tolist()]


def _cell(number: Any) -> str:
    return f"{number:.4g}" if isinstance(number, float) else str(number)


def windows(named: Mapping[str, Any], said: str = "") -> Picture | None:
    """Tensors as windows on their storages, by what they are called; None if one is no tensor, or too large."""
    found = []
    memories: dict[int, int] = {}
    for name, value in named.items():
        if not isinstance(value, torch.Tensor) or is_proxy(value) or value.layout is not torch.strided:
            return None
        if not 1 <= value.dim() <= _MOST_DIMS or not 0 < value.numel() <= _MOST_ELEMENTS:
            return None
        storage = value.untyped_storage()
        memory = memories.setdefault(storage.data_ptr(), len(memories))
        size = storage.nbytes() // value.itemsize
        found.append(Window(name, tuple(value.shape), tuple(value.stride()), int(value.storage_offset()), size, memory))
    return Picture(windows=tuple(found), said=said)


def two_shapes(asked: tuple[int, ...], yours: tuple[int, ...], said: str) -> Picture | None:
    """Two shapes that have to be equal, one below the other."""
    if not asked or not yours or max(len(asked), len(yours)) > 2 * _MOST_DIMS:
        return None
    return Picture(shapes=Shapes((NamedShape("asked", asked), NamedShape("yours", yours))), said=said)


def counted(counter: str, numbers: Mapping[str, int], said: str = "", spans: Spans | None = None) -> Picture:
    """A count beside others of its kind, and what host and devices did meanwhile.

    Args:
        counter: its name.
        numbers: how many, by whose they are; the student's first.
        said: what the picture says as well.
        spans: what took virtual time, if it is to be drawn.
    """
    cards = (Card(counter, tuple(Bar(name, number) for name, number in numbers.items())),)
    if spans is None:
        return Picture(cards=cards, said=said)
    rows = tuple(Moment(*row) for row in spans.rows)
    return Picture(
        cards=cards,
        moments=rows,
        left_out=max(0, spans.count - len(rows)),
        said="\n".join(filter(None, (said, spans.drawn()))),
    )
