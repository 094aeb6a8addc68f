"""Rows of a message as records, to plain data and back."""

from __future__ import annotations

import json

import pytest

from grader.wire.frames import Caps, ProtocolFault
from grader.wire.handles import HandleRow
from grader.wire.rows import (
    ArrayRow,
    BlockRow,
    Claims,
    ContainerRow,
    Layout,
    ObjectRow,
    Place,
    Row,
    TensorRow,
    Told,
)

ROWS: list[Row] = [
    TensorRow(Layout("float32", (2, 3), (3, 1), 0), Place(1, 0, 24), Claims(grad_fn="AddBackward0"), 5),
    TensorRow(Layout("bool", (), (), 0), Place(), Claims(), None),
    ArrayRow("<f8", (2,), (-8,), 1, 8, True),
    HandleRow("function", "", ("builtins.function",), ("__call__",)),
    ContainerRow("dict", [["key", ["known", 1]]]),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_rows_come_back_as_they_were(row: Row) -> None:
    """A row that was made plain, written as JSON and read is the same record."""
    told = Told([ObjectRow(1, row)], [ObjectRow(2, row)], [BlockRow(3, 8, 0, True)], [4], fresh=True)
    assert Told.read(json.loads(json.dumps(told.plain(asks=True))), Caps(), asks=False) == told


def test_a_worker_cannot_make_the_check_forget() -> None:
    """The answering end does not say what to forget or that a check begins, and is not heard when it does."""
    told = Told([], [], [], [4], fresh=True)
    assert told.plain(asks=False) == {"new": [], "changed": [], "blocks": []}
    assert Told.read(told.plain(asks=True), Caps(), asks=True) == Told([], [], [])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_rows_are_of_their_length(row: Row) -> None:
    """A row with a part more or less is a fault."""
    for plain in ([*row.plain(), None], row.plain()[:-1]):
        with pytest.raises(ProtocolFault):
            ObjectRow.read([1, plain])


@pytest.mark.parametrize("value", [True, 1.0, "1", None, -1, 1 << 32])
def test_a_number_is_an_integer_within_bounds(value: object) -> None:
    """What merely equals a number, or is out of bounds, is a fault."""
    with pytest.raises(ProtocolFault, match="a number is missing or out of bounds"):
        ObjectRow.read([value, ["list", []]])
