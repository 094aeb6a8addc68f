"""The facts of a picture, as a check found them. `grader.report.pictures` draws them. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A small tensor beside the expected one, cell by cell; a tensor of one dim is one row.

    Attributes:
        expected: rows of cells, each a number as text.
        got: the same for the tensor that came.
        wrong: the cells that are wrong.
        dims: the number of dims of the tensor: 0, 1 or 2.
    """

    expected: tuple[tuple[str, ...], ...]
    got: tuple[tuple[str, ...], ...]
    wrong: tuple[tuple[bool, ...], ...]
    dims: int = 2


@dataclass(frozen=True)
class View:
    """A tensor as a view on a storage.

    Attributes:
        name: the name in messages.
        shape: its shape.
        strides: in elements.
        offset: the offset of its first element in the storage.
        storage: the number of elements of the storage.
        memory: the number of the storage: views with equal numbers share one.
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
        broadcast: True if they are operands, of which a 1 is stretched; else they have to be equal.
        expected: the shape that the result of operands must have, if it is known.
        misfits: the dims that do not fit, for each row, where the rows need not be equal otherwise.
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
        stream: the number of the stream, for a device.
        unit: the part of a device that works: "kernels", or a direction in which bytes go.
        nbytes: the number of bytes that are moved.
        shapes: the shapes of the tensors that an operator was given.
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
        moments: the moments of host and devices, in the order of the records.
        left_out: the number of further moments, which are left out.
        said: lines of the message that the picture says as well: whoever draws it leaves them out.
    """

    grid: Grid | None = None
    views: tuple[View, ...] = ()
    shapes: Shapes | None = None
    moments: tuple[Moment, ...] = ()
    left_out: int = 0
    said: str = ""
