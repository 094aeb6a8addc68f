"""What is declared of a check, by its decorator, its docstring and its place → `Check`."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

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
    mark = item.get_closest_marker("graded")
    declared = dict(mark.kwargs) if mark is not None else {}
    call_s, shown = declared.pop("call_s", None), declared.pop("shown", None) or shown
    text = (item.function.__doc__ or "").strip().splitlines()
    title = text[0].rstrip(".") if text else item.name
    # Of a check with parameters pytest makes several, which one title could not tell apart.
    if "[" in item.name:
        title += f" [{item.name.split('[', 1)[1]}"
    check = Check(item.name.removeprefix("check_"), exercise, title, shown=shown, **declared)
    return CollectedCheck(check, item, call_s)
