"""Compare operators on the simulated device with the same on the CPU, over PyTorch's own database of samples.

    python tests/accelerator/conformance.py [-k TEXT] [--samples N] [--resume FILE] [--list]

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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as pytest does
from accelerator.comparison import Wrong, compare, first_line

from grader.accelerator.enabling import enable, preload
from grader.accelerator.sim.generator import SimGenerator

AGREES, UNSUPPORTED, FAILS, WRONG, NOT_TRIED = "agrees", "unsupported", "fails", "wrong", "not tried"

# One dtype for each family of kernels: they differ in what they support and in how they round.
_DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.float16)

_UNDEFINED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
"""Operators whose numbers mean nothing."""

_REFUSED_BY_ALL = "expected tensor_indices_or_sections to be on cpu"
"""An error that every accelerator gives."""


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
    # The worst that any sample found is the operator's status.
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
            nothing = compare(variant, function, backward, whole, numbers=op.name not in _UNDEFINED)
        except Wrong as error:
            yield variant, WRONG, str(error)
        except NotImplementedError as error:
            # The same exception is PyTorch's for what it cannot do; only our words mean that it was refused on purpose.
            ours = "is not supported on the simulated device" in str(error)
            yield variant, UNSUPPORTED if ours else FAILS, first_line(error)
        except Exception as error:
            # What a GPU has no kernel for, such as products of integers, is refused here as there.
            if _REFUSED_BY_ALL in str(error) or dtype not in op.supported_dtypes("cuda"):
                yield variant, NOT_TRIED, first_line(error)
                continue
            yield variant, FAILS, f"{type(error).__name__}: {first_line(error)}"
        else:
            yield variant, NOT_TRIED if nothing else AGREES, nothing


# -- one process for each operator


def answer_of(ask: Callable[[], Any]) -> tuple[Any, int]:
    """What a function gives in a child, by way of JSON, and the child's exit code; None if it died or raised."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(read)
            with os.fdopen(write, "w", encoding="utf-8") as stream:
                stream.write(json.dumps(ask()))
            # Not `sys.exit`: the clean-up that is due at the end belongs to the parent.
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else None, os.waitstatus_to_exitcode(status)


def _enable() -> None:
    SimGenerator.salt = 0  # the same random numbers on both sides
    enable("sim")


def _isolated(op: Any, samples: int) -> tuple[str, str]:
    """What `try_operator` gives in a process in which the device was just enabled."""

    def tried() -> tuple[str, str]:
        try:
            warnings.simplefilter("ignore")
            _enable()
            return try_operator(op, samples)
        except BaseException as error:
            return FAILS, f"{type(error).__name__}: {first_line(error)}"

    answer, code = answer_of(tried)
    status, reason = answer or (WRONG, f"the process died with {code}")
    return status, reason


def main(arguments: list[str] | None = None) -> int:
    """Print the table; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", metavar="TEXT", default="", help="only operators whose name holds this text")
    parser.add_argument("--samples", type=int, default=4, help="the most samples of an operator and dtype")
    parser.add_argument("--resume", type=Path, help="a file to keep what is known; operators in it are not run again")
    parser.add_argument("--list", action="store_true", help="print the operators that agree, too")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    # Threads are not copied by a fork; a pool that was started before it would never answer in the child.
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
        # Line by line, so that a run that is stopped keeps what it found.
        if chosen.resume:
            with chosen.resume.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([name, *known[name]]) + "\n")
    table = {name_of(op): known[name_of(op)] for op in operators}
    print(_table(table, chosen.list))
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
