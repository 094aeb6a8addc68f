"""Built-in probes: code of ours that runs beside student code and reports facts. A fact reported here is a claim."""

from __future__ import annotations

import ast
import contextlib
import io
import math
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.accelerator.clock import Span
from grader.accelerator.machine import machine_or_none
from grader.worker.counting import count, kept, poisoned
from grader.worker.listening import heard, listen
from grader.worker.objects import (
    awaited,
    backward,
    bases,
    copied,
    delete_attribute,
    fields,
    following,
    is_instance,
    is_subclass,
    keeps,
    kinds,
    leave,
    operate,
    set_attribute,
    signature,
)
from grader.worker.raising import family
from grader.worker.ranks import on_ranks
from grader.worker.used import used

__all__ = [
    "awaited",
    "backward",
    "bases",
    "copied",
    "count",
    "delete_attribute",
    "family",
    "fields",
    "following",
    "gradcheck",
    "gradients",
    "heard",
    "is_instance",
    "is_subclass",
    "keeps",
    "kept",
    "kinds",
    "last",
    "leave",
    "listen",
    "moments",
    "on_ranks",
    "operate",
    "poisoned",
    "set_attribute",
    "signature",
    "tried",
    "used",
    "warned",
]

_MAX_TEXT = 300
_MAX_LINES = 10_000
_MOST_WARNINGS = 100
_MOST_SPANS = 4000


def last(*args: Any) -> Any:
    """The last argument: a call that does nothing, which tells what asking and answering cost."""
    return args[-1]


def tried(module: str, text: str) -> str:
    """What lines print with the names of a module, and what the last one gives.

    Args:
        module: the exercise module, which is loaded.
        text: the lines, which an author wrote.
    """
    names = {"math": math, "np": np, "sys": sys, "torch": torch, **vars(sys.modules[module])}
    lines = ast.parse(text)
    # As at a prompt, which shows what each line gives.
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Interactive(lines.body), "lines", "single"), names)  # noqa: S102  the course's own
    return printed.getvalue()[:_MAX_LINES]


def moments() -> list[list[Any]]:
    """What took virtual time since this was asked last, the first of it, as rows of plain values."""
    machine = machine_or_none()
    if machine is None:
        return []
    spans = machine.clock.spans[:_MOST_SPANS]
    machine.clock.spans.clear()
    return [_row(span) for span in spans]


def _row(span: Span) -> list[Any]:
    times = float(span.start), float(span.end)
    return [span.name, span.place, *times, span.stream, span.unit, span.nbytes, list(map(list, span.shapes))]


def warned(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, list[list[str]], bool]:
    """The result, category and text of each warning, and whether one of ours still came through at the end."""
    always = torch.is_warn_always_enabled()
    # PyTorch gives many of its warnings once in a process, so the second check of it would hear nothing. Those of the
    # old storages have a switch of their own.
    torch.set_warn_always(True)
    torch.storage._reset_warn_typed_storage_removal()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function(*args, **kwargs)
            before = len(caught)
            # Whoever silenced warnings for good has silenced this one, too.
            warnings.warn("canary", stacklevel=1)
            heard = len(caught) == before + 1
    finally:
        torch.set_warn_always(always)
    told = [[item.category.__name__, str(item.message)[:_MAX_TEXT]] for item in caught[:_MOST_WARNINGS]]
    return result, told[:before], heard


def gradients(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[torch.Tensor | None]]:
    """Call with every floating-point tensor argument requiring a gradient; give the result and the gradients.

    The result is reduced by `sum` if it is not a scalar. The gradient of an argument that is no floating-point tensor,
    or that the result does not depend on, is None.
    """
    # New leaves, so that the gradients are those of this call, and nothing is added to a tensor of the check's.
    fresh = [_requiring(arg) for arg in args]
    result = function(*fresh, **kwargs)
    wanted = [arg for arg in fresh if isinstance(arg, torch.Tensor) and arg.requires_grad]
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return result, [None] * len(args)
    # `autograd.grad` rather than `backward`, which would leave gradients on the student's own parameters.
    found = iter(torch.autograd.grad(result.sum(), wanted, allow_unused=True))
    grads = [next(found) if isinstance(arg, torch.Tensor) and arg.requires_grad else None for arg in fresh]
    return result, grads


def gradcheck(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Compare gradients with finite differences in float64; give "" or what differs."""
    fresh = [_requiring(arg.double() if isinstance(arg, torch.Tensor) else arg) for arg in args]
    try:
        torch.autograd.gradcheck(lambda *inputs: function(*inputs, **kwargs), tuple(fresh))
    except torch.autograd.gradcheck.GradcheckError as error:  # type: ignore[attr-defined]
        return str(error)
    return ""


def _requiring(arg: Any) -> Any:
    if isinstance(arg, torch.Tensor) and (arg.dtype.is_floating_point or arg.dtype.is_complex):
        return arg.detach().clone().requires_grad_()
    return arg
