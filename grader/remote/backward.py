"""Where a backward pass that a check began goes on in a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from grader.model.endings import CannotJudge
from grader.model.public import say
from grader.wire.handles import Origin, Remote

if TYPE_CHECKING:
    from grader.remote.side import Side


def go_on(
    side: Side, number: int, gradient: torch.Tensor, given: Sequence[torch.Tensor], adds_up: bool
) -> Sequence[torch.Tensor | None]:
    """Go on with the backward pass of a tensor that a worker gave; see `wire.exchange.Backward`.

    Raises:
        CannotJudge: what comes back are no gradients of these tensors.
        RuntimeError: there is no such graph any more.
    """
    if side.sitting.worker is None:
        raise RuntimeError("a graph is gone: its worker has ended")
    what = f"{side.sitting.owner} backward pass"
    probe = Remote(Origin(side, ["named", "probe:", "backward"], what))
    of = Remote(Origin(side, ["known", number], "the result"))
    found = side.send(probe, (of, gradient, [*given], adds_up), {}, what)
    fits = isinstance(found, list) and len(found) == len(given)
    if not fits or not all(map(_is_gradient, found, given)):
        raise CannotJudge(say("{} gives a gradient that does not fit what it is of", what))
    return [*found]


def _is_gradient(found: Any, of: torch.Tensor) -> bool:
    return found is None or (isinstance(found, torch.Tensor) and found.shape == of.shape and found.dtype == of.dtype)
