"""What functions return for all inputs of a check, also for those behind the first that fails.

A check ends at the first thing that is wrong, often with an empty or a constant input, for which many mistakes do the
same. So a check is run with the reference in the student's place, and the calls that it makes then are made of the
student's functions. Of each result a digest is left, by which the host compares answers; it says nothing of an input.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from grader.check_process.connections import Connections
from grader.check_process.run_check import PlannedRun
from grader.connection.connection import Connection, is_proxy, kind_of
from grader.connection.raised import raised_by_student
from grader.connection.record import Record, SentCall
from grader.connection.student import Student
from grader.model import DeviceKind, Outcome, Verdict
from grader.model.check import ENDED, ITEM
from grader.model.endings import CheckFailed, NotUsable, WorkerLost
from grader.wire.table import nested_values

MOST_CALLS = 50
"""So many calls of a check are made again."""

_MOST_BYTES = 1 << 18
"""A call with more in its arguments is left out: what is wrong shows with a small input, too."""

_STEPS = 1000
"""Of the largest number of a result: so many steps are different."""

_OFFSETS = (0.31, 0.81)
"""Numbers are rounded on two grids: the last digits of a sum depend on the order in which it was made, and what lies at
an edge of one grid lies within a cell of the other."""

_MOST_ITEMS = 12
"""A result of more items has no digest for each of them."""

_DEEPEST = 20
_VARIES = "varies"
"""In place of the digests of a result that another seed of the worker's generators changes: it says nothing."""


class AllCalls:
    """Calls a student's functions with all inputs of a check, also after the first failure.

    The host compares the results with those of known wrong answers.

    Args:
        connections: the connections, which open the reference in the student's place.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._of: tuple[str, int, DeviceKind] | None = None
        self._calls: dict[str, list[SentCall]] = {}

    def run(self, planned: PlannedRun, student: Connection) -> Outcome:
        """Make all calls of a check with student code, and return digests of the results.

        The outcome has them by the name of the function, such as `{"total": ("8207b457e229:8207b457e229", "varies")}`.
        A result that depends on the seed of student code is "varies".

        Args:
            planned: the check, ready to run.
            student: the connection to the code that is called.
        """
        results: dict[str, list[str]] = {}
        for call in self._recorded_calls(planned, student.device):
            first, second = (self._digests_of_call(student, call, seed) for seed in (0, 1))
            results.setdefault(call.name, []).append(first if first == second else _VARIES)
            if student.record.lost is not None:
                break
        told = {name: tuple(rows) for name, rows in results.items()}
        return Outcome(planned.row.check.id, Verdict.NOT_RUN, device=student.device, results=told)

    def _recorded_calls(self, planned: PlannedRun, device: DeviceKind) -> list[SentCall]:
        """Return the calls of a check, recorded with the reference in the student's place.

        They are cached. Without a reference, return []. Left out are calls with proxies or large arguments, calls on
        several ranks, and calls that a probe makes: those have the arguments of the probe. Of the others, the first
        `MOST_CALLS` are returned.
        """
        exercise, check = planned.row.file.exercise, planned.row.check.id
        if exercise.reference is None:
            return []
        # They serve all answers that are compared with this seed; those of another exercise would fill the memory.
        if self._of != (key := (exercise.id, planned.job.seed, device)):
            self._of = key
            self._calls.clear()
        if check not in self._calls:
            with closing(self._connections.open_reference(exercise, device)) as stand_in:
                # Nothing runs next: fixtures that others share must not keep this connection.
                replace(planned, following=None).run(stand_in, recording=True)
                alone = (each for each in stand_in.record.sent if each.ranks == 1 and not each.by_probe)
                small = (each for each in alone if sum(map(len, each.encoded.memory)) <= _MOST_BYTES)
                whole = [each for each in small if not any(map(is_proxy, nested_values(list(each.read().values))))]
            self._calls[check] = whole[:MOST_CALLS]
        return self._calls[check]

    def _digests_of_call(self, student: Connection, sent: SentCall, seed: int) -> str:
        """Call student code, and return digests of the result and the arguments afterwards.

        If the call fails, return how it failed, such as "raised: ValueError" or "missing".
        """
        record, call = Record(seed), sent.read()
        student.begin_check(record)
        self._connections.waiting.begin_check(record.budget)
        try:
            value = getattr(Student(student), call.name)(*call.args, **call.kwargs)
        except WorkerLost as lost:
            return ENDED if lost.verdict is Verdict.CRASHED else f"lost: {lost.verdict}"
        except NotUsable:
            return "missing"
        except CheckFailed:
            return "unreadable"
        except Exception as error:
            raised = raised_by_student(error)
            if raised is None:  # a fault of ours
                raise
            return ENDED if raised.builtin == "SystemExit" else f"raised: {raised.builtin}"
        return digests_of_results(value, call.values)


def digests_of_results(value: Any, arguments: Sequence[Any]) -> str:
    """Return digests of a result and of the arguments after the call, and of each item of a result of several items.

    For a tensor it is "A:B". For `{"mean": x, "std": y}` it is "A:B|3f0c91=C:D|77ab02=E:F|arguments=G:H": a mistake in
    one item can be known although another item is wrong, too. The items are those of a dict, or of a tuple that has a
    tensor. A tuple of numbers may be one value, such as a shape.
    """
    items: dict[str, Any] = {}
    if isinstance(value, dict):
        items = {hashlib.sha256(repr(key).encode("utf-8", "backslashreplace")).hexdigest()[:6]: each
                 for key, each in value.items()}  # fmt: skip
    elif isinstance(value, tuple) and any(isinstance(each, torch.Tensor | np.ndarray) for each in value):
        items = {str(place): each for place, each in enumerate(value)}
    if not 2 <= len(items) <= _MOST_ITEMS:
        items = {}
    parts = {**items, "arguments": [*arguments]} if items else {}
    return ITEM.join([digests_of([value, *arguments]), *(f"{name}={digests_of(each)}" for name, each in parts.items())])


def digests_of(value: Any) -> str:
    """Return two digests of a value, as "A:B".

    For `torch.tensor([1.0, 2.0])` they are "8207b457e229:8207b457e229". Values that are nearly equal have at least one
    digest in common.

    Args:
        value: a result of student code. Its strides, the width of its dtype and whether a sequence is a list do not
            change a digest.
    """
    plain = (repr(_rounded_lists(value, offset, _DEEPEST)).encode("utf-8", "backslashreplace") for offset in _OFFSETS)
    return ":".join(hashlib.sha256(text).hexdigest()[:12] for text in plain)


def _rounded_lists(value: Any, offset: float, deepest: int) -> object:
    """Return a value as nested lists of rounded numbers and strings, for a digest.

    `torch.tensor([1.0, 2.0])` becomes `([2], [500, 1000], [], 693)`: the shape, thousandths of the largest number, what
    is not finite, and the rounded logarithm of the largest number.

    Args:
        value: the value.
        offset: the fraction of a rounding step by which numbers are shifted before they are rounded.
        deepest: the number of levels of nesting that count; what is nested deeper is left out.
    """
    if deepest == 0:  # a list may hold itself
        return "deep"
    if is_proxy(value):
        return kind_of(value)
    if isinstance(value, dict):
        rows = ((repr(key), _rounded_lists(each, offset, deepest - 1)) for key, each in value.items())
        return sorted(rows, key=lambda row: row[0])
    if isinstance(value, (list, tuple)):
        return [_rounded_lists(each, offset, deepest - 1) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    tensor = _tensor_of(value)
    if tensor is None:
        return value.tolist() if isinstance(value, np.ndarray) else repr(value)
    if not tensor.dtype.is_floating_point:
        return [*tensor.shape], tensor.to(torch.int64).flatten().tolist()
    numbers = tensor.to(torch.float64).flatten()
    finite = numbers.isfinite()
    largest = numbers[finite].abs().max().item() if finite.any() else 0.0
    size = math.floor(math.log(largest) * _STEPS + offset) if largest else None
    steps = torch.where(finite, numbers / (largest or 1.0) * _STEPS + offset, 0.0).floor().to(torch.int64)
    return [*tensor.shape], steps.tolist(), [str(each) for each in numbers[~finite].tolist()], size


def _tensor_of(value: Any) -> torch.Tensor | None:
    """Return a number, an array or a tensor as a tensor on the CPU.

    Return None for another value, for an integer that is too large, and for an array without numbers.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc":
            return None
        dtype = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64, "c": np.complex128}[value.dtype.kind]
        return _as_real(torch.from_numpy(np.array(value, dtype=dtype)))
    if isinstance(value, torch.Tensor):
        return _as_real(value.detach().cpu())
    if isinstance(value, bool | float | complex) or (isinstance(value, int) and abs(value) < 1 << 62):
        return _as_real(torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None))
    return None


def _as_real(tensor: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor.resolve_neg()
