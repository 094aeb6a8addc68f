"""What is declared of a check, by its decorator, its docstring and its place → `Check`."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from grader.check.declare import Declared, declared_of
from grader.model import Check


@dataclass(frozen=True)
class CollectedCheck:
    """One check with its pytest function.

    Attributes:
        check: what is declared of it.
        item: runs it.
        call_s: CPU seconds of one call, or None for the exercise's own limit.
    """

    check: Check
    item: pytest.Function
    call_s: float | None


def collected_check(item: pytest.Function, exercise: str, *, shown: bool) -> CollectedCheck:
    """A check as it was collected.

    Args:
        item: the pytest function.
        exercise: its id.
        shown: whether its file lies among what students have.
    """
    told = declared_of(item.get_closest_marker) or Declared()
    text = (item.function.__doc__ or "").strip().splitlines()
    title = text[0].rstrip(".") if text else item.name
    # Of a check with parameters pytest makes several, which one title could not tell apart.
    if "[" in item.name:
        title += f" [{item.name.split('[', 1)[1]}"
    check = Check(
        id=item.name.removeprefix("check_"),
        exercise=exercise,
        title=title,
        contract=told.contract,
        category=told.category,
        share=told.share,
        shown=told.shown or shown,
        try_this=told.try_this,
        device=told.device,
    )
    return CollectedCheck(check, item, told.call_s)
