"""Built-in probes: code of ours that runs beside student code and reports facts. A fact reported here is a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class _CountOperations(TorchDispatchMode):
    """Counts every operator that PyTorch dispatches, by name."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counts: Counter[str] = Counter()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keep PyTorch from importing its compiler (820 modules, about a second) at the first operator."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        self.counts[func.overloadpacket.__name__] += 1
        return func(*args, **(kwargs or {}))


def count_operations(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, dict[str, int]]:
    """Call with gradients off; give the result and how often each operator was dispatched."""
    with torch.no_grad(), _CountOperations() as mode:
        result = function(*args, **kwargs)
    return result, dict(mode.counts)


def gradients(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[torch.Tensor | None]]:
    """Call with every floating-point tensor argument requiring a gradient; give the result and the gradients.

    The result is reduced by `sum` if it is not a scalar. The gradient of an argument that is no floating-point tensor,
    or that the result does not depend on, is None.
    """
    fresh = [_requiring(arg) for arg in args]
    result = function(*fresh, **kwargs)
    wanted = [arg for arg in fresh if isinstance(arg, torch.Tensor) and arg.requires_grad]
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return result, [None] * len(args)
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
