"""The facts of a picture, as a check found them. `grader.report.pictures` draws them. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A small tensor beside the expected one, cell by cell; a tensor of one dim is one row.

    Attributes:
        expected: rows of cells, each a number as text.
        got: the same for the tensor that came.
        wrong: which of its cells are wrong.
        dims: how many the tensor has: 0, 1 or 2.
    """

    expected: tuple[tuple[str, ...], ...]
    got: tuple[tuple[str, ...], ...]
    wrong: tuple[tuple[bool, ...], ...]
    dims: int = 2


@dataclass(frozen=True)
class View:
    """A tensor as a view on a storage.

    Attributes:
        name: what messages call it.
        shape: its shape.
        strides: in elements.
        offset: of its first element in the storage.
        storage: how many elements the storage has.
        memory: which storage it is: equal numbers share one.
    """

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: int
    memory: int = 0


@dataclass(frozen=True)
class NamedShape:
    """A shape, and the name of the tensor that has it."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Shapes:
    """Shapes that stand below each other, aligned at the right.

    Attributes:
        rows: the shapes.
        broadcast: whether they are operands, of which a 1 is stretched; else they have to be equal.
        expected: for operands: the shape that their result must have, if it is known.
        misfits: for each row, which of its dims do not fit, where the rows need not be equal otherwise.
    """

    rows: tuple[NamedShape, ...]
    broadcast: bool = False
    expected: tuple[int, ...] | None = None
    misfits: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Moment:
    """Something that took time on a simulated machine.

    Attributes:
        name: the operator, a copy, a launch or a wait.
        place: "host", or the number of a device.
        start: in virtual seconds.
        end: in virtual seconds.
        stream: of a device: the number of the stream.
        unit: of a device: the part of it that works, "kernels" or a direction in which bytes go.
        nbytes: how many bytes are moved.
        shapes: of the tensors that an operator was given.
    """

    name: str
    place: str
    start: float
    end: float
    stream: int = 0
    unit: str = ""
    nbytes: int = 0
    shapes: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Picture:
    """The facts of the picture below the message of a shown check: in `grid`, `views`, `shapes` or `moments`.

    Attributes:
        grid: values beside the expected ones.
        views: tensors in their storages.
        shapes: shapes, aligned.
        moments: what host and devices did, in the order of the records.
        left_out: of the moments, how many more there were.
        said: lines of the message that the picture says as well: whoever draws it leaves them out.
    """

    grid: Grid | None = None
    views: tuple[View, ...] = ()
    shapes: Shapes | None = None
    moments: tuple[Moment, ...] = ()
    left_out: int = 0
    said: str = ""
