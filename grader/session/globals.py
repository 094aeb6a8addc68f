"""Values that outlive a check: what stands at the top of a check file, and the parameters of its checks.

A check file is read once and serves every submission, and what a function writes into its argument is written into the
check's own tensor. So one submission could change the inputs of the next. Each run of a check gets copies.
"""

from __future__ import annotations

import copy
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

_CHANGEABLE = (torch.Tensor, np.ndarray, list, dict, set)


class Kept:
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
