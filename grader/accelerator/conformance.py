"""Compare operators on the simulated device with the same on the CPU, over PyTorch's own database of samples.

    python -m grader.accelerator.conformance [-k TEXT] [--samples N] [--resume FILE] [--list]

For each operator and a few dtypes, the samples run on both: as a function, in place, with `out=`, and backward. Sizes,
strides, dtypes, numbers and what shares memory with what must be equal. Each operator runs in a process of its own
where the system can fork. The exit status is 1 if anything is wrong, and 0 otherwise, even if much is unsupported.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import sys
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from grader.accelerator.device import enable, preload
from grader.accelerator.generators import SimGenerator
from grader.accelerator.machine import the_machine
from grader.accelerator.seam import describe, is_simulated, to_device

AGREES, UNSUPPORTED, FAILS, WRONG, NOT_TRIED = "agrees", "unsupported", "fails", "wrong", "not tried"

_DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.float16)

_UNDEFINED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
"""Operators whose numbers mean nothing."""


_REFUSED_BY_ALL = "expected tensor_indices_or_sections to be on cpu"
"""An error that every accelerator gives."""


class Wrong(Exception):
    """The simulated device gives something else than the CPU."""


def database() -> list[Any]:
    """PyTorch's own samples of operators."""
    try:
        importlib.import_module("expecttest")
    except ImportError:  # PyTorch's test code imports it for its own tests; the samples need nothing of it
        stub = types.ModuleType("expecttest")
        vars(stub)["TestCase"] = unittest.TestCase
        sys.modules["expecttest"] = stub
    from torch.testing._internal.common_methods_invocations import op_db

    return list(op_db)


def name_of(op: Any) -> str:
    """The name of an operator in the database."""
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


def try_operator(op: Any, samples: int) -> tuple[str, str]:
    """What becomes of an operator, and why."""
    found: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for dtype in _DTYPES:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        for sample in _samples(op, dtype, samples):
            for variant, status, reason in _try_sample(op, sample, dtype):
                found[status] += 1
                reasons.setdefault(status, f"{str(dtype).removeprefix('torch.')} {variant}: {reason}")
    for status in (WRONG, FAILS, UNSUPPORTED, AGREES):
        if found[status]:
            return status, reasons[status] if status != AGREES else f"{found[status]} runs"
    return NOT_TRIED, reasons.get(NOT_TRIED, "no sample runs on the CPU")


def _samples(op: Any, dtype: torch.dtype, most: int) -> Iterator[Any]:
    torch.manual_seed(0)
    try:
        yield from itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), most)
    except Exception:  # the samples of some operators need libraries that are not here
        return


def _try_sample(op: Any, sample: Any, dtype: torch.dtype) -> Iterator[tuple[str, str, str]]:
    whole = (sample.input, tuple(sample.args), dict(sample.kwargs))
    variants: list[tuple[str, Callable[..., Any], bool]] = [("function", op.op, False)]
    if op.inplace_variant is not None:
        variants.append(("in place", op.inplace_variant, False))
    if op.supports_out:
        variants.append(("out=", op.op, False))
    if op.supports_autograd and (dtype.is_floating_point or dtype.is_complex) and dtype is not torch.float16:
        variants.append(("backward", op.op, True))
    for variant, function, backward in variants:
        try:
            outcome = _compare(op, variant, function, backward, whole)
        except Wrong as error:
            yield variant, WRONG, str(error)
        except NotImplementedError as error:
            ours = "is not supported on the simulated device" in str(error)
            yield variant, UNSUPPORTED if ours else FAILS, _first_line(error)
        except Exception as error:
            if _REFUSED_BY_ALL in str(error):
                yield variant, NOT_TRIED, _first_line(error)
                continue
            yield variant, FAILS, f"{type(error).__name__}: {_first_line(error)}"
        else:
            yield variant, *outcome


def _compare(op: Any, variant: str, function: Callable[..., Any], backward: bool, whole: Any) -> tuple[str, str]:
    """Run both and compare; the status and a reason where there is nothing to compare."""
    if any(tensor.layout is not torch.strided or tensor.is_nested or tensor.is_quantized for tensor in _flat(whole)):
        return NOT_TRIED, "sparse, nested or quantized arguments"
    here, there = _Copies(None), _Copies(0)
    mine, theirs = here.of(whole), there.of(whole)
    state = torch.default_generator.get_state()
    try:
        wanted = _outcome(variant, function, backward, mine, "cpu")
    except Exception:
        return NOT_TRIED, "the CPU refuses it"
    if variant == "out=" and not _agrees_with_itself(function, whole, wanted, state):
        return NOT_TRIED, "the CPU writes something else to `out` than it gives without"
    torch.default_generator.set_state(state)
    the_machine().devices[0].generator.set_state(state)
    got = _outcome(variant, function, backward, theirs, "sim")
    numbers = op.name not in _UNDEFINED
    _same(wanted, got, "the result", numbers, strides=not backward)
    _same(mine, theirs, "an argument afterwards", numbers)
    if not backward and _sharing(mine, wanted) != _sharing(theirs, got):
        raise Wrong(f"shares memory otherwise: {_sharing(mine, wanted)} on the CPU, {_sharing(theirs, got)}")
    return AGREES, ""


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
        return function(first, *args, **kwargs, out=torch.full(plain.shape, 3, dtype=plain.dtype, device=device))
    if not backward:
        return function(first, *args, **kwargs)
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
        if self.index is not None and isinstance(value, (torch.device, str)) and str(value) == "cpu":
            return "sim"
        return value

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        plain = tensor.detach()
        storage = plain.untyped_storage()
        copy = self.storages.setdefault(storage._cdata, storage.clone())
        made = torch.empty(0, dtype=plain.dtype).set_(copy, plain.storage_offset(), plain.shape, plain.stride())
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
    elif isinstance(wanted, (bool, int, float, complex)) and numbers and wanted == wanted and wanted != got:
        raise Wrong(f"{what} is {got!r}, {wanted!r} on the CPU")


def _same_tensor(wanted: torch.Tensor, got: Any, what: str, numbers: bool, strides: bool) -> None:
    if not is_simulated(got):
        raise Wrong(f"{what} is a {type(got).__name__} that is not on the device")
    if wanted.layout is not torch.strided:
        raise Wrong(f"{what} is sparse on the CPU only")
    mine = _inner(got)
    facts = [(t.shape, t.dtype, t.is_conj(), t.is_neg(), t.stride()) for t in (wanted, mine, got)]
    if facts[1] != facts[2] or facts[0][:4] != facts[1][:4] or (strides and facts[0] != facts[1]):
        raise Wrong(f"{what} is {facts[0]} on the CPU, {facts[1]}, shell {facts[2]}")
    if numbers:
        try:
            torch.testing.assert_close(mine, wanted.detach(), equal_nan=True, **_tolerance(mine.dtype))
        except AssertionError as error:
            raise Wrong(f"{what}: {_first_line(error)}") from None


def _tolerance(dtype: torch.dtype) -> dict[str, Any]:
    """Half precision may be off by a rounding: PyTorch chooses another way for accelerators in a few places."""
    return {"rtol": 4e-3, "atol": 1e-5} if dtype is torch.float16 else {}


def _sharing(arguments: Any, out: Any) -> list[list[int]]:
    """For each tensor that came out, the arguments that it shares memory with."""
    stores = [_inner(tensor).untyped_storage()._cdata for tensor in _flat(arguments)]
    return [
        [i for i, store in enumerate(stores) if store == _inner(tensor).untyped_storage()._cdata]
        for tensor in _flat((out,))
    ]


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).split("\n\n")[0].split())[:200]


# -- one process for each operator


def _enable() -> None:
    SimGenerator.salt = 0  # the same random numbers on both sides
    enable("sim")


def _isolated(op: Any, samples: int) -> tuple[str, str]:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        try:
            warnings.simplefilter("ignore")
            _enable()
            answer = try_operator(op, samples)
        except BaseException as error:
            answer = (FAILS, f"{type(error).__name__}: {_first_line(error)}")
        os.write(write, json.dumps(answer).encode()[:60_000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return WRONG, f"the process died with status {status}"
    status_text, reason = json.loads(text)
    return status_text, reason


def main(arguments: list[str] | None = None) -> int:
    """Print the table; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m grader.accelerator.conformance", description=__doc__)
    parser.add_argument("-k", metavar="TEXT", default="", help="only operators whose name holds this text")
    parser.add_argument("--samples", type=int, default=4, help="the most samples of an operator and dtype")
    parser.add_argument("--resume", type=Path, help="a file to keep what is known; operators in it are not run again")
    parser.add_argument("--list", action="store_true", help="print the operators that agree, too")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    preload()
    known = _read(chosen.resume)
    operators = [op for op in database() if chosen.k in name_of(op)]
    if not hasattr(os, "fork"):
        _enable()
    for op in operators:
        name = name_of(op)
        if name in known:
            continue
        known[name] = _isolated(op, chosen.samples) if hasattr(os, "fork") else try_operator(op, chosen.samples)
        if chosen.resume:
            with chosen.resume.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([name, *known[name]]) + "\n")
    table = {name_of(op): known[name_of(op)] for op in operators}
    print(_table(table, chosen.list))  # noqa: T201
    return int(any(status == WRONG for status, _ in table.values()))


def _read(path: Path | None) -> dict[str, tuple[str, str]]:
    if path is None or not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: (status, reason) for name, status, reason in rows}


def _table(known: dict[str, tuple[str, str]], everything: bool) -> str:
    counts = Counter(status for status, _ in known.values())
    tried = len(known) - counts[NOT_TRIED]
    lines = []
    for status in (WRONG, FAILS, UNSUPPORTED, NOT_TRIED, *([AGREES] if everything else [])):
        lines += [f"{status:12} {name:44} {why}" for name, (mine, why) in known.items() if mine == status]
    share = 100 * counts[AGREES] / tried if tried else 100.0
    lines.append(
        f"torch {torch.__version__}: {tried} operators tried, {counts[AGREES]} agree ({share:.1f} %), "
        f"{counts[UNSUPPORTED]} unsupported, {counts[FAILS]} fail otherwise, {counts[WRONG]} wrong; "
        f"{counts[NOT_TRIED]} not tried"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
