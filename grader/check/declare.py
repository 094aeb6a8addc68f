"""How a check file declares its checks, and what they are given: random inputs, an accelerator, edge cases.

Edge cases are inputs on which answers fail that look right. Their names go into messages: they are words without
numbers of a hidden input. Below them is what must hold for all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
import torch

from grader.check.calls import assert_gradcheck, gradients
from grader.check.properties import assert_dtype, assert_tensor, assert_true
from grader.check.values import assert_unchanged
from grader.connection.connection import Proxy, is_proxy
from grader.connection.student import call_builtin_probe
from grader.model import CATEGORIES, DeviceKind
from grader.model.public_text import say
from grader.wire.facts import TensorFacts, note_facts

Function = TypeVar("Function", bound=Callable[..., Any])


def check(
    contract: str = "",
    *,
    category: str = "correctness",
    share: int = 1,
    shown: bool | None = None,
    try_this: str = "",
    call_s: float | None = None,
    device: str = "none",
) -> Callable[[Function], Function]:
    """Mark a function as a check. Its title is the first line of its docstring.

    Args:
        contract: the rule of the task that it examines, such as "C2".
        category: its subject, one of `grader.model.CATEGORIES`.
        share: its share of the exercise's points.
        shown: True if students see its inputs; by default, True for a check in the exercise's own folder.
        try_this: a call that a student can try, for a hidden check; it is not the hidden input.
        call_s: CPU seconds of one call, if not the exercise's own.
        device: "none"; "sim" for a simulated accelerator, or CUDA on request; "sim-cuda" for the same under the name
            cuda, for a task that says `.cuda()` or `torch.cuda.is_available()`; "cuda" for CUDA only.

    Returns:
        A decorator of pytest's, for a function whose name begins with `check_`.

    Raises:
        ValueError: a category, share or device that does not exist.
    """
    # Found when the file is read, and so before any submission is.
    if category not in CATEGORIES:
        raise ValueError(f"unknown category {category!r}; choose one of {', '.join(CATEGORIES)}")
    if share < 0:
        raise ValueError("a share cannot be negative")
    if device not in list(DeviceKind):
        raise ValueError(f"unknown device {device!r}; choose one of {', '.join(DeviceKind)}")
    # A mark and not a wrapper, so that a check stays an ordinary pytest function, with its fixtures and parameters.
    more = {"try_this": try_this, "call_s": call_s, "device": DeviceKind(device)}
    return pytest.mark.graded(contract=contract, category=category, share=share, shown=shown, **more)


Item = TypeVar("Item")


class Rng(torch.Generator):
    """A generator for a check's inputs. PyTorch takes it as `generator=`, too.

    `rng.normal(2, 3)` draws a tensor of shape (2, 3), and `rng.normal()` one with 0 dims.
    """

    avoided: frozenset[int] = frozenset()
    """Sizes of shown checks, which `sizes` of a hidden check draws last."""

    # -- plain values ---------------------------------------------------------------------------------------------

    def integer(self, low: int, high: int) -> int:
        """Draw an int from `low` to `high`, both included."""
        return int(torch.randint(low, high + 1, (), generator=self))

    def integers(self, low: int, high: int, count: int) -> tuple[int, ...]:
        """Draw a tuple of `count` ints from `low` to `high`, both included.

        Args:
            low: the least that can be drawn.
            high: the greatest that can be drawn.
            count: the number of ints.
        """
        return tuple(self.integer(low, high) for _ in range(count))

    def boolean(self) -> bool:
        """Draw True or False."""
        return bool(self.integer(0, 1))

    def choice(self, items: Sequence[Item]) -> Item:
        """Draw one of the items."""
        return items[self.integer(0, len(items) - 1)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in a random order, as a list."""
        return [items[place] for place in self.permutation(len(items)).tolist()]

    def sizes(self, count: int, low: int = 2, high: int = 7) -> tuple[int, ...]:
        """Draw a tuple of sizes from `low` to `high` that all differ, so that a check notices swapped dims.

        `rng.sizes(2)` may return (5, 3), and never (5, 5). A hidden check gets a size that the shown checks contain
        only if other sizes do not suffice: an answer may be right for the shown sizes alone.

        Args:
            count: the number of sizes.
            low: the least that can be drawn.
            high: the greatest that can be drawn.

        Raises:
            ValueError: there are not so many between `low` and `high`.
        """
        if high - low + 1 < count:
            raise ValueError(f"there are no {count} different sizes from {low} to {high}")
        drawn = (low + self.permutation(high - low + 1)).tolist()
        return tuple(sorted(drawn, key=self.avoided.__contains__)[:count])

    # -- tensors --------------------------------------------------------------------------------------------------

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Draw a tensor of normally distributed numbers, mean 0 and deviation 1."""
        return torch.randn(shape, generator=self, dtype=dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Draw a tensor of numbers from 0 to 1."""
        return torch.rand(shape, generator=self, dtype=dtype)

    def whole(self, low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """Draw a tensor of whole numbers from `low` to `high`, both included.

        Args:
            low: the least that can be drawn.
            high: the greatest that can be drawn.
            *shape: the shape of the tensor; without sizes it has no dims.
            dtype: the dtype of the tensor.
        """
        return torch.randint(low, high + 1, shape, generator=self).to(dtype)

    def bools(self, *shape: int) -> torch.Tensor:
        """Draw a tensor of True and False; with two elements or more it has both."""
        drawn = self.whole(0, 1, *shape).bool()
        if drawn.numel() > 1 and bool(drawn.all() | ~drawn.any()):
            flat = drawn.view(-1)
            flat[self.integer(0, drawn.numel() - 1)] ^= True
        return drawn

    def permutation(self, count: int) -> torch.Tensor:
        """Draw a tensor with the numbers from 0 to `count` - 1, each once."""
        return torch.randperm(count, generator=self)

    def distinct(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Draw a tensor of numbers that all differ, so that a sort or a maximum has one answer."""
        count = torch.Size(shape).numel()
        return (self.permutation(count) - count // 2).to(dtype).reshape(shape)


@dataclass(frozen=True)
class Accelerator:
    """The device of a check with `device="sim"`: a simulated accelerator, or CUDA if the command selects it.

    Attributes:
        type: its kind, a str such as "sim"; "sim-cuda" has devices of the type cuda.
        count: the number of devices.
    """

    type: DeviceKind = DeviceKind.SIM
    count: int = 2

    def device(self, index: int | None = None) -> str:
        """Return the name of one of the accelerator's devices, such as "sim:1".

        Without an index, return the type alone, "sim". The check is not run on a machine that has too few devices.

        Args:
            index: the index of the device, from 0.
        """
        if index is None:
            return self.type.type_name
        if index >= self.count:
            pytest.skip(say("needs more {} devices than this machine has", self.type.type_name))
        return f"{self.type.type_name}:{index}"

    def put(self, tensor: torch.Tensor, index: int = 0) -> torch.Tensor:
        """Return a copy of a tensor for one of the accelerator's devices.

        The worker receives the copy on that device. In the check process the copy is an ordinary tensor whose facts
        name that device.

        Args:
            tensor: any tensor; it is copied.
            index: the index of the device.
        """
        copy = tensor.detach().clone()
        # This process has no such device. The worker puts the tensor where its facts say.
        note_facts(copy, TensorFacts(device=self.device(index)))
        return copy


# -- edge cases, and what must hold for all of them --------------------------------------------------------------------

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
"""The floating-point dtypes of which PyTorch computes most functions on the CPU."""

KINDS = (
    *("float16", "bfloat16", "float64", "bool", "large integers", "no elements", "0 dims", "negative zeros", "NaN"),
    *("a view with an offset", "a transpose", "every second column", "an expanded row", "a required gradient"),
)
"""The names of all cases, in the order in which they come."""


def edge_cases(rng: Rng, *sizes: int, only: Collection[str] = KINDS, without: Collection[str] = ()) -> dict[str, Any]:
    """Return tensors for which wrong answers often fail, by the names of the cases.

    Such names are "NaN", "a transpose" and "no elements". The elements of "large integers" are above 2**24 or 2**53,
    where float32 or float64 rounds. The numbers of other cases are small and exact in every dtype. Two cases have a
    shape of their own: "no elements", whose first size is 0, and "0 dims".

    Args:
        rng: the fixture `rng`.
        *sizes: the shape of all other cases, at least two sizes.
        only: names of cases, such as ("bfloat16", "NaN"); all of them by default.
        without: names of cases that the task excludes.

    Returns:
        A dict from the name of a case to its tensor. Names are words without numbers of a hidden input.

    Raises:
        ValueError: fewer than two sizes, or a name that is not a case.
    """
    if len(sizes) < 2 or not {*only, *without} <= {*KINDS}:
        raise ValueError(f"`edge_cases` needs at least two sizes; the names of its cases are {', '.join(KINDS)}")
    x = rng.whole(-9, 9, *sizes, dtype=torch.float32) / 2
    last = sizes[-1]
    special = [torch.tensor(value) for value in (-0.0, float("nan"))]
    zeros, unknowns = (torch.where(rng.bools(*sizes), value, x) for value in special)
    wide = rng.whole(-9, 9, *(size + 2 for size in sizes[:-1]), 2 * last + 1, dtype=torch.float32) / 2
    view = wide[(slice(1, -1),) * (len(sizes) - 1)]
    turned = rng.whole(-9, 9, *reversed(sizes), dtype=torch.float32) / 2
    large = rng.choice([2**24, 2**53]) + 1 + 2 * rng.whole(0, 99, *sizes)
    large.view(-1)[:2] = torch.tensor([2**24 + 1, 2**53 + 1])[: large.numel()]
    tensors = (
        *(x.to(dtype) for dtype in (torch.float16, torch.bfloat16, torch.float64)),
        *(rng.bools(*sizes), large, x[:0], x.flatten()[0].clone(), zeros, unknowns),
        *(view[..., 1 : last + 1], turned.permute(*reversed(range(len(sizes)))), view[..., 1::2]),
        *(x[..., :1, :].expand(*sizes), x.clone().requires_grad_()),
    )
    return {kind: case for kind, case in zip(KINDS, tensors, strict=True) if kind in only and kind not in without}


def assert_does_not_mutate(function: Proxy, *args: Any, what: str = "an argument", requiring: bool = True) -> Any:
    """Fail if a call changes one of its arguments: numbers, layout, `requires_grad` or `grad`.

    The function is called with the arguments, with views of larger tensors of which nothing else may change either, and
    with tensors that require a gradient and have one already.

    Args:
        function: a function of the student's.
        *args: its arguments.
        what: their name in messages, such as "pred or target".
        requiring: True if tensors may require a gradient; False where the task excludes it.

    Returns:
        The result of the first call.

    Raises:
        CheckFailed: an argument was changed, or the result is None.
    """
    with assert_unchanged(*_without_proxies(args), what=what):
        result = function(*args)
    assert_true(result is not None, say("the result is None (is a `return` missing?)"))
    bases = [_embed_in_ones(arg) if isinstance(arg, torch.Tensor) else arg for arg in args]
    views = [_without_border(base) if isinstance(base, torch.Tensor) else base for base in bases]
    with assert_unchanged(*_without_proxies(bases), what=say("{}, or the memory around it,", what)):
        function(*views)
    if requiring:
        unchanged_grads = call_builtin_probe(function, "keeps_gradients", args, args, {})
        assert_true(unchanged_grads is True, say("{} has another `requires_grad` or `grad` after the call", what))
    return result


def assert_preserves_dtype(
    function: Proxy, *args: Any, dtypes: Sequence[torch.dtype] = FLOATS, what: str = "the result"
) -> None:
    """Fail unless the result has the dtype of the floating-point arguments.

    The function is called once with each of several dtypes.

    Args:
        function: a function of the student's, which returns a tensor.
        *args: its arguments; floating-point tensors are converted to each dtype.
        dtypes: the dtypes that the task names.
        what: the name of the result in messages.

    Raises:
        CheckFailed: the result is not a tensor, or has another dtype.
    """
    for dtype in dtypes:
        name = say("{} for {}", what, str(dtype).removeprefix("torch."))
        result = function(*(arg.to(dtype) if _is_floating_tensor(arg) else arg for arg in args))
        assert_tensor(result, name)
        assert_dtype(result, dtype, name)


def assert_differentiable(function: Proxy, *args: Any, names: Sequence[str] = ()) -> None:
    """Fail unless the right gradient reaches each floating-point argument.

    The gradient must agree with finite differences in float64.

    Args:
        function: a function of the student's, which returns a tensor.
        *args: its arguments; few numbers, as each of them takes two calls.
        names: a name for each argument in messages, such as ("A", "b").

    Raises:
        CheckFailed: no gradient reaches an argument, or the gradient is wrong.
    """
    grads = gradients(function, *args)
    for arg, grad, name in itertools.zip_longest(args, grads, names, fillvalue="the argument"):
        assert_true(
            not _is_floating_tensor(arg) or grad is not None, say("no gradient reaches {} of `{}`", name, function)
        )
    assert_gradcheck(function, *args)


def _is_floating_tensor(arg: Any) -> bool:
    return isinstance(arg, torch.Tensor) and arg.dtype.is_floating_point


def _without_proxies(args: Sequence[Any]) -> list[Any]:
    """Return the arguments that are not proxies of objects in the worker."""
    return [arg for arg in args if not is_proxy(arg)]


def _embed_in_ones(arg: torch.Tensor) -> torch.Tensor:
    """Return a tensor of ones with a copy of an argument in its middle.

    An argument of shape (2, 3) becomes a tensor of shape (4, 5), in which writes beside the argument show.
    """
    larger = arg.new_ones([size + 2 for size in arg.shape])
    _without_border(larger).copy_(arg.detach())
    return larger


def _without_border(larger: torch.Tensor) -> torch.Tensor:
    return larger[(slice(1, -1),) * larger.dim()]
