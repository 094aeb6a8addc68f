"""The facts of the picture below the message of a shown check: of what failed, or of shapes that were broadcast.

A hidden check has none, because every number in a picture could reveal its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from grader.connection.raised import raised_by_student
from grader.connection.record import Call, Record
from grader.model import Check, Verdict
from grader.model.endings import CheckFailed
from grader.model.picture import NamedShape, Picture, Shapes

_WITH_PICTURE = (Verdict.FAILED, Verdict.CRASHED)
_CLASH = "must match the size of tensor"
"""What PyTorch says of operands that cannot be broadcast."""

_MOST_DIMS = 6


def picture_of(check: Check, verdict: Verdict, error: BaseException | None, record: Record) -> Picture | None:
    """Return the picture that explains why a shown check failed, or None.

    The picture is data, which a report draws.

    Args:
        check: the check.
        verdict: the verdict of the check.
        error: the exception that it raised.
        record: the record of the check's calls.
    """
    if not check.shown or verdict not in _WITH_PICTURE or error is None:
        return None
    given = tuple(each for sent in record.sent[-1:] for each in _shapes_given(sent.read()))
    raised = raised_by_student(error)
    if raised is not None:
        # The operands of the line that raised are not known; drawn are the arguments, where they clash themselves.
        clashes = _CLASH in raised.text and _broadcast(given) is None
        return Picture(shapes=Shapes(given, broadcast=True)) if clashes and len(given) > 1 else None
    picture = error.picture if isinstance(error, CheckFailed) else None
    if picture is None or picture.shapes is None or len(given) < 2:
        return picture
    # A wrong shape that the arguments give by broadcasting is drawn as that.
    expected, got = (row.shape for row in picture.shapes.rows)
    stretched = any(row.shape != got for row in given) and _broadcast(given) == got
    return replace(picture, shapes=Shapes(given, broadcast=True, expected=expected)) if stretched else picture


def _shapes_given(call: Call) -> Iterator[NamedShape]:
    """Yield the shapes of the tensors among the arguments of a call.

    The first argument of a call is named "argument 1"; one that is passed by name has that name.
    """
    for name, value in (
        *((f"argument {place}", each) for place, each in enumerate(call.args, 1)),
        *call.kwargs.items(),
    ):
        if isinstance(value, torch.Tensor) and value.dim() <= _MOST_DIMS:
            yield NamedShape(name, tuple(value.shape))


def _broadcast(given: tuple[NamedShape, ...]) -> tuple[int, ...] | None:
    """Return the shape that these shapes broadcast to; None if they do not fit."""
    try:
        return tuple(torch.broadcast_shapes(*(row.shape for row in given)))
    except RuntimeError:
        return None
