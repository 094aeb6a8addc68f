"""Parts of an explanation that several reasons share: drawings of shapes, names of dtypes, and remedies."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from grader.drawing.drawing import Drawing
from grader.drawing.failures import Operand
from grader.model.picture import NamedShape, Picture, Shapes

MOST_READ = 1 << 16
"""Of an index with so many numbers, each is looked at."""

_MOST_DIMS = 8

Found = tuple[list[str], Drawing | None]
"""The sentences of a reason, and its drawing."""


def shapes_drawing(operands: Sequence[Operand], *, broadcast: bool) -> Drawing | None:
    """Return the drawing of the operands' shapes; None if fewer than two of them can be drawn.

    Args:
        operands: the operands; one of too many dims cannot be drawn.
        broadcast: True if the call broadcasts the operands; if not, it needs equal shapes.
    """
    rows = tuple(NamedShape(one.name, one.shape) for one in operands if len(one.shape) <= _MOST_DIMS)
    return Drawing(Picture(shapes=Shapes(rows, broadcast=broadcast))) if len(rows) > 1 else None


def misfits_drawing(*operands: tuple[Operand, Sequence[int]]) -> Drawing | None:
    """Return a drawing of shapes that marks the dims which do not fit.

    `misfits_drawing((x, [-1]), (w, [0]))` marks the last dim of x and the first one of w. Return None for fewer than
    two operands, and for too many dims.

    Args:
        operands: pairs of an operand and its dims that do not fit, in which -1 is the last dim.
    """
    rows = tuple(NamedShape(one.name, one.shape) for one, _ in operands)
    if len(rows) < 2 or any(len(row.shape) > _MOST_DIMS for row in rows):
        return None
    misfits = tuple(tuple(dim % len(one.shape) for dim in dims) for one, dims in operands)
    return Drawing(Picture(shapes=Shapes(rows, misfits=misfits)))


def named_shapes(operands: Sequence[Operand]) -> str:
    """Return the names of operands with their shapes, such as "x (2, 3) and y (4,)"."""
    return " and ".join(f"{one.name} {one.shape}" for one in operands)


def dtype_name(value: torch.Tensor | torch.dtype) -> str:
    """Return a dtype's name, or that of a tensor's dtype, without "torch."."""
    return str(value.dtype if isinstance(value, torch.Tensor) else value).removeprefix("torch.")


def remedy(operand: Operand, call: str) -> str:
    """Return the sentence that proposes a call of a method on an operand, such as "Try: x.long()."."""
    return f"Try: {operand.code}.{call}." if operand.code else f"Try: .{call} of {operand.name}."


def explain_unequal_dtypes(operands: Sequence[Operand], rule: str) -> Found:
    """Return the explanation of a call whose operands have different dtypes.

    It has the rule with the dtypes, as in "...: x has int64, the weight has float32.", then a remedy, as in
    "Try: x.to(torch.float32)."

    Args:
        operands: the operands, the input first. A later one without source code, such as a weight, belongs to a layer
            and keeps its dtype.
        rule: the sentence that says that the operands need one dtype.
    """
    said = ", ".join(f"{one.name} has {dtype_name(one.value)}" for one in operands)
    # A layer's own tensors stay as they are: what it is given takes their dtype.
    fixed = [one.value.dtype for one in operands[1:] if not one.code]
    wanted = fixed[0] if fixed else operands[0].value.dtype
    for one in () if fixed else operands[1:]:
        wanted = torch.promote_types(wanted, one.value.dtype)
    other = next((one for one in operands if one.code and one.value.dtype is not wanted), operands[0])
    return [f"{rule}: {said}.", remedy(other, f"to({wanted})")], None
