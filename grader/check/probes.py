"""Probes: code of ours that runs beside student code. What it reports is a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from grader.check import show
from grader.check.compare import CheckFailed, require
from grader.check.student import Party, RemoteFunction, raised_by_student

_LEFT = "the result of `{}` has no gradient: numbers left PyTorch on the way (a list, NumPy, .item(), .detach(), .data)"


class Probe:
    """The functions of an exercise's probe file, run in the student's worker.

    Their first argument is usually `student.something`, which arrives there as the function itself.
    """

    __slots__ = ("_name", "_party", "_path")

    def __init__(self, party: Party, path: Path) -> None:
        self._party = party
        self._path = path
        self._name = path.stem

    def __getattr__(self, name: str) -> RemoteFunction:
        """A function of the probe file."""
        self._party.load_probe(self._name, self._path.read_text(encoding="utf-8"))
        return RemoteFunction(self._party, name, f"probe:{self._name}")


def _built_in(function: RemoteFunction, name: str) -> Callable[..., Any]:
    if not isinstance(function, RemoteFunction):
        raise TypeError(f"{name} wants a function of the student's, such as student.total")
    return RemoteFunction(function._party, name, "probe:")


def count_operations(function: RemoteFunction, *args: Any, **kwargs: Any) -> Counter[str]:
    """How often each PyTorch operator was dispatched in one call, by name, with gradients off."""
    answer = _built_in(function, "count_operations")(function, *args, **kwargs)
    match answer:
        case [_, dict() as counts] if all(isinstance(n, str) and isinstance(c, int) for n, c in counts.items()):
            known = _known_operations(counts)
            function._party.counters["ops"] = max(known.total(), function._party.counters.get("ops", 0))
            return known
    raise CheckFailed(f"the operations of `{function}` could not be counted")


def _known_operations(counts: dict[str, int]) -> Counter[str]:
    """The counts under names that PyTorch has; a name that a worker made up could tell a hidden input."""
    known: Counter[str] = Counter()
    for name, count in counts.items():
        known[name if name.isidentifier() and hasattr(torch.ops.aten, name) else "other"] += count
    return known


def no_loop(
    function: RemoteFunction, small: tuple[Any, ...], large: tuple[Any, ...], *, slack: int = 0
) -> Counter[str]:
    """As many operations for a large input as for a small one: no Python loop over the elements.

    Args:
        function: a function of the student's.
        small: its arguments.
        large: arguments about ten times as large.
        slack: operations allowed on top.

    Returns:
        The operations of the large call.
    """
    few, many = count_operations(function, *small), count_operations(function, *large)
    count_small, count_large = few.total(), many.total()
    if count_large > count_small + slack:
        top = ", ".join(f"{name} {count} times" for name, count in many.most_common(3))
        public = f"`{function}` runs more operations the larger its input is: a loop in Python"
        raise CheckFailed(
            public, f"{public}\nsmall input  {count_small} operations\nlarge input  {count_large} operations ({top})"
        )
    return many


def gradients(function: RemoteFunction, *args: Any) -> list[torch.Tensor | None]:
    """The gradient of the sum of the result with respect to each tensor argument; None where there is none."""
    try:
        answer = _built_in(function, "gradients")(function, *args)
    except RuntimeError as error:
        raised = raised_by_student(error)
        if raised is not None and "requires grad" in raised.text:  # PyTorch's refusal to go to NumPy with a graph
            raise CheckFailed(_LEFT.format(function)) from None
        raise
    match answer:
        case [_, list() as grads] if len(grads) == len(args):
            return grads
    raise CheckFailed(f"the gradients of `{function}` could not be read")


def keeps_graph(function: RemoteFunction, *args: Any) -> None:
    """The result depends on the tensor arguments through PyTorch alone: nothing went through a list or NumPy."""
    wanted = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.dtype.is_floating_point]
    grads = gradients(function, *args)
    found = [grad for grad in grads if grad is not None]
    require(not wanted or found, _LEFT.format(function))


def gradcheck(function: RemoteFunction, *args: Any) -> None:
    """The gradients agree with finite differences, in float64."""
    difference = _built_in(function, "gradcheck")(function, *args)
    require(
        difference == "",
        f"the gradient of `{function}` is wrong",
        f"the gradient of `{function}` is wrong\n{show.show(difference)}",
    )
