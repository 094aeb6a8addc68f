"""Checks as they were collected: what is declared of each, and the values that outlive a run of it.

A check file is read once and serves every submission, and what a function writes into its argument is written into the
check's own tensor. So one submission could change the inputs of the next. Each run of a check gets copies of the values
at the top of its file, and of its parameters.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from grader.model import Check

_CHANGEABLE = (torch.Tensor, np.ndarray, list, dict, set)


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


class Values:
    """The values of one check file, as they were when it was read, and the parameters of its checks.

    Args:
        module: the check file's.
    """

    def __init__(self, module: ModuleType) -> None:
        self._space = vars(module)
        self._values = _changeable(self._space)
        self._parameters: dict[pytest.Function, dict[str, Any]] = {}

    def keep(self, item: pytest.Function) -> None:
        """Note the parameters of a check."""
        self._parameters[item] = _changeable(_parameters(item))

    def renew(self, item: pytest.Function) -> None:
        """Give a check copies of all of them, which share memory among each other as the originals do."""
        values, parameters = copy.deepcopy((self._values, self._parameters[item]))
        self._space.update(values)
        _parameters(item).update(parameters)


def _parameters(item: pytest.Function) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def _changeable(space: dict[str, Any]) -> dict[str, Any]:
    """Those values that a call could write into, copied; what Python cannot copy is no plain value, and left alone."""
    found = {name: value for name, value in space.items() if isinstance(value, _CHANGEABLE) and name[:2] != "__"}
    kept: dict[str, Any] = {}
    memo: dict[int, Any] = {}
    for name, value in found.items():
        try:
            kept[name] = copy.deepcopy(value, memo)
        except (TypeError, RuntimeError):  # a module among them, a tensor within a graph
            continue
    return kept
