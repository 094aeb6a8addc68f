# mypy: ignore-errors
"""Each operator of PyTorch's own database on the device: what comes out, what it costs, and what it refuses.

The samples are made on the CPU from a fixed seed and moved, so that a real GPU and the simulated one get the same
numbers. A line of JSON is written for each operator, so that nothing is lost where a process dies.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import signal
import sys
import time
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from probes import plain

_DTYPES = (
    *(torch.float32, torch.int64, torch.bool, torch.float16, torch.bfloat16, torch.float64, torch.complex64),
    *(torch.complex128, torch.uint8, torch.int8, torch.int16, torch.int32, torch.complex32),
)
_LONGEST = 110
_SECONDS = 15
"""After which an operator is left."""
_DEAD = ("CUDA error", "device-side assert")
"""Words of errors after which the process cannot use the device."""


def database() -> list[Any]:
    """Return PyTorch's own samples of operators."""
    try:
        importlib.import_module("expecttest")
    except ImportError:  # PyTorch's test code imports it for its own tests; the samples need nothing of it
        stub = types.ModuleType("expecttest")
        vars(stub)["TestCase"] = unittest.TestCase
        sys.modules["expecttest"] = stub
    from torch.testing._internal.common_methods_invocations import op_db

    return [op for op in op_db if "jiterator" not in op.name]


def name_of(op: Any) -> str:
    """Return the name of an operator in the database."""
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


def write(path: Path, first: int, step: int, *, skip: int, seconds: float) -> None:
    """Try every `step`-th operator from `first` on, but for the first `skip` of them; write a line for each.

    A process whose device is broken ends with status 3.
    """
    begun = time.monotonic()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    signal.signal(signal.SIGALRM, _late)
    torch.ones(2, 2, device="cuda") @ torch.ones(2, 2, device="cuda")
    with path.open("a", encoding="utf-8") as file:
        for op in database()[first::step][skip:]:
            if time.monotonic() - begun > seconds:
                return
            file.write(json.dumps([name_of(op), None]) + "\n")
            file.flush()
            found = dict(_tried(op))
            file.write(json.dumps([name_of(op), found]) + "\n")
            file.flush()
            if any(word in str(found) for word in _DEAD):
                sys.exit(3)


def _late(number: int, frame: Any) -> None:
    raise TimeoutError("too long")


def _tried(op: Any) -> Iterator[tuple[str, Any]]:
    for dtype in _DTYPES:
        most = 4 if dtype in (torch.float32, torch.int64) else 1
        for number, sample in enumerate(_samples(op, dtype, most)):
            yield f"{str(dtype)[6:]} {number}", dict(_of_sample(op, sample, dtype, whole=most == 4))
    for number, given in enumerate(_wrong(op)):
        whole = (given.sample_input.input, given.sample_input.args, given.sample_input.kwargs)
        yield (
            f"error {number}",
            {"asked": given.error_regex[:_LONGEST], "out": _said(lambda one=whole: _run(op.op, one))},
        )


def _wrong(op: Any) -> list[Any]:
    try:
        torch.manual_seed(0)
        return list(op.error_inputs("cuda"))[:12] if op.error_inputs_func else []
    except Exception:
        return []


def _samples(op: Any, dtype: torch.dtype, most: int) -> list[Any]:
    torch.manual_seed(0)
    try:
        return list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), most))
    except Exception:  # some samples need libraries that are not here, or a dtype that has no samples
        return []


def _of_sample(op: Any, sample: Any, dtype: torch.dtype, *, whole: bool) -> Iterator[tuple[str, Any]]:
    signal.alarm(_SECONDS)
    try:
        given = (sample.input, tuple(sample.args), dict(sample.kwargs))
        out = _said(lambda: _run(op.op, _moved(given)), keep=True)
        yield "out", plain(out)
        if isinstance(out, str):
            return
        if not whole:
            return
        yield "numbers", _numbers(out)
        yield "waits", _waits(lambda there: _run(op.op, there), given)
        yield "memory", _taken(lambda there: _run(op.op, there), given)
        if op.inplace_variant is not None:
            yield "in place", _said(lambda: _run(op.inplace_variant, _moved(given)))
        if dtype is torch.float32 and op.supports_autograd:
            yield "backward", _said(lambda: _gradients(op, given))
            yield "waits of backward", _waits(lambda there: _gradients_of(op, there), given, grad=True)
        if dtype is torch.float32:
            with torch.autocast("cuda"):
                yield "autocast", _said(lambda: _run(op.op, _moved(given)))
        torch.use_deterministic_algorithms(True)
        yield "deterministic", _said(lambda: _run(op.op, _moved(given)), short=True)
        if dtype is torch.float32 and op.supports_autograd:
            yield "deterministic backward", _said(lambda: _gradients(op, given), short=True)
    except TimeoutError:
        yield "late", True
    finally:
        signal.alarm(0)
        torch.use_deterministic_algorithms(False)


def _said(call: Callable[[], Any], *, keep: bool = False, short: bool = False) -> Any:
    try:
        out = call()
    except TimeoutError:
        raise
    except Exception as error:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        return f"! {type(error).__name__}: {first.strip()[:_LONGEST]}"
    return out if keep else "ok" if short else plain(out)


def _run(function: Callable[..., Any], whole: Any) -> Any:
    first, args, kwargs = whole
    return function(first, *args, **kwargs)


def _moved(value: Any, *, grad: bool = False) -> Any:
    """Return the same value with its tensors on the device."""
    if isinstance(value, torch.Tensor):
        there = value.detach().to("cuda")
        if there is value:
            there = value.clone()
        return there.requires_grad_() if grad and (there.is_floating_point() or there.is_complex()) else there
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_moved(item, grad=grad) for item in value)
    if isinstance(value, dict):
        return {name: _moved(item, grad=grad) for name, item in value.items()}
    if isinstance(value, (torch.device, str)) and str(value) == "cpu":
        return "cuda"
    return value


def _flat(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _flat(item)]
    return []


def _numbers(value: Any) -> Any:
    """Return two sums of each tensor, which change where its numbers do."""
    found = []
    for tensor in _flat(value):
        try:
            flat = tensor.detach().to_dense() if tensor.layout is not torch.strided else tensor.detach()
            flat = torch.view_as_real(flat.resolve_conj()) if flat.is_complex() else flat
            flat = flat.cpu().double().flatten().nan_to_num(0, 0, 0)
            found.append([float(f"{one:.4g}") for one in (flat.sum(), flat.abs().sum())])
        except Exception as error:
            found.append(f"! {type(error).__name__}")
    return found


def _waits(call: Callable[[Any], Any], given: Any, *, grad: bool = False) -> Any:
    there = _moved(given, grad=grad)
    torch.cuda.synchronize()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            call(there)
        except Exception:
            return "raises"
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("synchroniz" in str(one.message) for one in told)


def _taken(call: Callable[[Any], Any], given: Any) -> Any:
    there = _moved(given)
    before = torch.cuda.memory_allocated()
    kept = call(there)
    grown = torch.cuda.memory_allocated() - before
    del kept
    return grown


def _gradients_of(op: Any, there: Any) -> list[Any]:
    leaves = [tensor for tensor in _flat(there) if tensor.requires_grad]
    out = [tensor for tensor in _flat((_run(op.op, there),)) if tensor.requires_grad]
    if not out or not leaves:
        return []
    total = sum((tensor.abs() if tensor.is_complex() else tensor).sum() for tensor in out)
    return list(torch.autograd.grad(total, leaves, allow_unused=True))  # type: ignore[arg-type]


def _gradients(op: Any, given: Any) -> Any:
    found = _gradients_of(op, _moved(given, grad=True))
    return [plain(found), _numbers(found)]
