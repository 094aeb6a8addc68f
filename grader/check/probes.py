"""Probes: code of ours that runs beside student code. What it reports is a claim."""

from __future__ import annotations

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


def built_in(
    function: RemoteFunction, name: str, values: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a probe of our own reports of one call; the call is noted as the student's.

    Args:
        function: a function of the student's.
        name: of the probe.
        values: what the probe takes after the function.
        args: of the call.
        kwargs: of the call.
    """
    if not isinstance(function, RemoteFunction):
        raise TypeError(f"{name} wants a function of the student's, such as student.total")
    party = function.party
    if party.recording:
        function.note(args, kwargs)
    return party.call(RemoteFunction(party, name, "probe:"), (function, *values), {}, function.what)


def gradients(function: RemoteFunction, *args: Any) -> list[torch.Tensor | None]:
    """The gradient of the sum of the result with respect to each tensor argument; None where there is none."""
    try:
        answer = built_in(function, "gradients", list(args), args, {})
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
    difference = built_in(function, "gradcheck", list(args), args, {})
    require(
        difference == "",
        f"the gradient of `{function}` is wrong",
        f"the gradient of `{function}` is wrong\n{show.show(difference)}",
    )
