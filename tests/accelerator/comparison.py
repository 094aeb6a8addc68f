"""Run an operator on the CPU and on the simulated device, and compare all that comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.accelerator.core.interop import describe, is_simulated, to_device
from grader.accelerator.core.sparse import parts_of
from grader.accelerator.sim.machine import the_machine


class Wrong(Exception):
    """The simulated device gives something else than the CPU."""


def compare(variant: str, function: Callable[..., Any], backward: bool, whole: Any, *, numbers: bool) -> str:
    """Run an operator on both devices and compare.

    Args:
        variant: "out=", or any other name.
        function: the operator.
        backward: whether gradients are compared, too.
        whole: the first argument, the others, and those by name.
        numbers: whether the numbers that come out mean anything.

    Returns:
        "" if both agree, else why there is nothing to compare.

    Raises:
        Wrong: the device gives something else than the CPU.
    """
    if any(tensor.layout is not torch.strided or tensor.is_nested or tensor.is_quantized for tensor in _flat(whole)):
        return "sparse, nested or quantized arguments"
    # Each side gets copies of its own: an operator that writes must not see what the other run wrote.
    here, there = _Copies(None), _Copies(0)
    mine, theirs = here.of(whole), there.of(whole)
    state = torch.default_generator.get_state()
    try:
        # The CPU goes first. Where it refuses, there is nothing that the device could be compared with.
        wanted = _outcome(variant, function, backward, mine, "cpu")
    except Exception:
        return "the CPU refuses it"
    if variant == "out=" and not _agrees_with_itself(function, whole, wanted, state):
        return "the CPU writes something else to `out` than it gives without"
    # Both sides draw from the same state, so that random numbers can be compared like any others.
    torch.default_generator.set_state(state)
    the_machine().devices[0].generator.set_state(state)
    got = _outcome(variant, function, backward, theirs, "sim")
    _same(wanted, got, "the result", numbers, strides=not backward)
    _same(mine, theirs, "an argument afterwards", numbers)
    if not backward and _sharing(mine, wanted) != _sharing(theirs, got):
        raise Wrong(f"shares memory otherwise: {_sharing(mine, wanted)} on the CPU, {_sharing(theirs, got)}")
    return ""


def _agrees_with_itself(function: Callable[..., Any], whole: Any, wanted: Any, state: torch.Tensor) -> bool:
    """Whether the CPU gives without `out=` what it gives with it; it does not where PyTorch has a mistake."""
    first, args, kwargs = _Copies(None).of(whole)
    torch.default_generator.set_state(state)
    plain = function(first, *args, **kwargs)
    if not isinstance(plain, torch.Tensor):
        return True
    return torch.allclose(plain, wanted.to(plain.dtype), rtol=1e-2, atol=1e-3, equal_nan=True)


def _outcome(variant: str, function: Callable[..., Any], backward: bool, whole: Any, device: str) -> Any:
    first, args, kwargs = whole
    if variant == "out=":
        plain = function(first, *args, **kwargs)
        if not isinstance(plain, torch.Tensor):
            return plain
        # Filled with a number that is rarely a result, so that an operator that forgets to write is seen.
        return function(first, *args, **kwargs, out=torch.full(plain.shape, 3, dtype=plain.dtype, device=device))
    if not backward:
        return function(first, *args, **kwargs)
    # Gradients are compared for every argument that can have one, from one real number made of all that came out.
    leaves = [tensor for tensor in _flat(whole) if tensor.is_floating_point() or tensor.is_complex()]
    for leaf in leaves:
        leaf.requires_grad_()
    out = [tensor for tensor in _flat((function(first, *args, **kwargs),)) if tensor.requires_grad]
    if not out or not leaves:
        return None
    total = torch.stack([(tensor.abs() if tensor.is_complex() else tensor).sum().double() for tensor in out]).sum()
    return torch.autograd.grad(total, leaves, allow_unused=True)


class _Copies:
    """Copies arguments with their strides and with what shares memory; to the device of an index, if there is one."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.storages: dict[int, torch.UntypedStorage] = {}

    def of(self, value: Any) -> Any:
        """The same value, its tensors copied."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            return type(value)(self.of(item) for item in value)
        if isinstance(value, dict):
            return {name: self.of(item) for name, item in value.items()}
        # Some samples name the device that they want.
        if self.index is not None and isinstance(value, (torch.device, str)) and str(value) == "cpu":
            return "sim"
        return value

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        # Storages are copied whole and once each, so that the copies share memory as the originals do.
        plain = tensor.detach()
        storage = plain.untyped_storage()
        copy = self.storages.setdefault(storage._cdata, storage.clone())
        made = torch.empty(0, dtype=plain.dtype).set_(copy, plain.storage_offset(), plain.shape, plain.stride())
        # `set_` makes plain tensors; conjugate and negative views are made again on top.
        if plain.is_conj():
            made = made.conj()
        if plain.is_neg():
            made = torch._neg_view(made)
        return made if self.index is None else to_device(made, self.index)


def _flat(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _flat(item)]
    return []


def _inner(tensor: torch.Tensor) -> torch.Tensor:
    return describe(tensor).inner if is_simulated(tensor) else tensor.detach()


def _same(wanted: Any, got: Any, what: str, numbers: bool, *, strides: bool = True) -> None:
    if isinstance(wanted, torch.Tensor):
        _same_tensor(wanted, got, what, numbers, strides)
    elif isinstance(wanted, (list, tuple, dict)):
        if len(wanted) != len(got):
            raise Wrong(f"{what} has {len(got)} items, {len(wanted)} on the CPU")
        for key in wanted if isinstance(wanted, dict) else range(len(wanted)):
            _same(wanted[key], got[key], what, numbers, strides=strides)
    # `wanted == wanted` leaves out NaN, which equals nothing.
    elif isinstance(wanted, (bool, int, float, complex)) and numbers and wanted == wanted and wanted != got:
        raise Wrong(f"{what} is {got!r}, {wanted!r} on the CPU")


def _same_tensor(wanted: torch.Tensor, got: Any, what: str, numbers: bool, strides: bool) -> None:
    if not is_simulated(got):
        raise Wrong(f"{what} is a {type(got).__name__} that is not on the device")
    if wanted.layout is not torch.strided:
        if got.layout is not wanted.layout:
            raise Wrong(f"{what} is {got.layout}, {wanted.layout} on the CPU")
        for one, other in zip(parts_of(wanted.detach()), parts_of(got.detach()), strict=True):
            _same_tensor(one, other, what, numbers, strides)
        return
    mine = _inner(got)
    # The shell is compared with what it holds, too: Python reads the one, operators the other, and a difference would
    # show up somewhere else much later.
    facts = [(t.shape, t.dtype, t.is_conj(), t.is_neg(), t.stride()) for t in (wanted, mine, got)]
    if facts[1] != facts[2] or facts[0][:4] != facts[1][:4] or (strides and facts[0] != facts[1]):
        raise Wrong(f"{what} is {facts[0]} on the CPU, {facts[1]}, shell {facts[2]}")
    if numbers:
        try:
            torch.testing.assert_close(mine, wanted.detach(), equal_nan=True, **_tolerance(mine.dtype))
        except AssertionError as error:
            raise Wrong(f"{what}: {first_line(error)}") from None


def _tolerance(dtype: torch.dtype) -> dict[str, Any]:
    """Half precision may be off by a rounding: PyTorch chooses another way for accelerators in a few places."""
    return {"rtol": 4e-3, "atol": 1e-5} if dtype is torch.float16 else {}


def _sharing(arguments: Any, out: Any) -> list[list[int]]:
    """For each tensor that came out, the arguments that it shares memory with."""
    if any(tensor.layout is not torch.strided for tensor in _flat((out,))):
        return []
    stores = [_inner(tensor).untyped_storage()._cdata for tensor in _flat(arguments)]
    return [
        [i for i, store in enumerate(stores) if store == _inner(tensor).untyped_storage()._cdata]
        for tensor in _flat((out,))
    ]


def first_line(error: BaseException) -> str:
    """What an error says, on one line and not too long for a table."""
    return " ".join(str(error).split("\n\n")[0].split())[:200]
