"""What `gpu/on_a_gpu.py` found on an H200, and the simulated device once did differently without a word."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerator.modes import in_mode, raises
from torch import nn
from torch.nn import functional

from grader import accelerator

pytestmark = pytest.mark.lane


def _waits(call: Callable[[], Any]) -> bool:
    """Whether `set_sync_debug_mode` sees the host wait in a call."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        call()
        torch.cuda.set_sync_debug_mode("default")
    return bool(told)


@in_mode("cuda")
def test_what_waits_and_what_does_not() -> None:
    """Numbers that are read on the host first; and calls whose answer is known without the numbers."""
    x = torch.rand(4, 4, device="cuda")
    where, repeats = x > 0.5, torch.tensor([1, 2], device="cuda")
    waiting: list[Callable[[], Any]] = [
        *(
            lambda: x.__setitem__((0, 0), 1.0),
            lambda: x[0, 0].__setitem__(..., 2),
            lambda: x.masked_fill(where, x[0, 0]),
        ),
        *(lambda: x.index_fill(0, repeats, x[0, 0]), lambda: torch.linalg.matrix_exp(x), lambda: x.to_sparse()),
        *(lambda: torch.isin(x[0], x), lambda: torch.equal(x, x + 1), torch.cuda.current_stream().synchronize),
        *(lambda: repeats.repeat_interleave(repeats), lambda: torch.linalg.eigh(x)),
    ]
    others: list[Callable[[], Any]] = [
        *(lambda: x.__setitem__(0, 1.0), lambda: x.__setitem__((slice(None), 0), 1), lambda: x.masked_fill(where, 1.0)),
        *(lambda: x.index_fill(0, repeats, 1.0), lambda: torch.isin(x, x[0, :2]), lambda: torch.equal(x, x)),
        *(lambda: torch.equal(x, x[:2]), torch.cuda.synchronize, lambda: torch.linalg.eigh(x[:0, :0])),
        lambda: repeats.repeat_interleave(repeats, output_size=3),
    ]
    assert [_waits(call) for call in waiting] == [True] * len(waiting)
    assert [_waits(call) for call in others] == [False] * len(others)


@in_mode("cuda")
def test_a_copy_from_pageable_memory_waits_for_its_turn() -> None:
    """More than 64 KiB of it pass through pinned memory, so that the host waits; PyTorch calls that no wait."""
    small, large, event = torch.ones(1000), torch.ones(100_000), torch.cuda.Event()
    for host, waits in ((small, False), (large, True)):
        torch.cuda._sleep(100_000_000)
        event.record()
        assert not _waits(lambda given=host: given.to("cuda", non_blocking=True))  # type: ignore[misc]
        assert event.query() is waits
        torch.cuda.synchronize()


@in_mode("cuda")
def test_one_hot() -> None:
    """It has a 1 for each class, as many classes as there are or as are asked for."""
    x = torch.tensor([[1], [2]])
    for options in ({}, {"num_classes": 4}):
        assert torch.equal(functional.one_hot(x.cuda(), **options).cpu(), functional.one_hot(x, **options))
    with raises(RuntimeError, "one_hot is only applicable to index tensor"):
        functional.one_hot(torch.ones(1, device="cuda"))


@in_mode("cuda", spec=accelerator.Spec(capability=(9, 0)))
def test_what_is_refused() -> None:
    """Numbers of the host in `clamp`, other ways to solve, products in fp8, dtypes that autocast does not expect."""
    x, half = torch.rand(16, 16, device="cuda"), torch.ones(2, 2, device="cuda", dtype=torch.float16)
    low, one = x.to(torch.float8_e5m2), torch.ones((), device="cuda")
    same = "Expected all tensors to be on the same device, but got {} is on cpu, different from other tensors on cuda:0"
    lacks = "\"{}\" not implemented for 'Float8_e5m2'"
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: x.clamp(max=torch.tensor(1.0)), same.format("max")),
        (lambda: torch.isin(x, torch.ones(2)), same.format("test_elements")),
        (lambda: torch.equal(x, x.cpu()), same.format("other")),
        (lambda: torch.linalg.lstsq(x, x, driver="gelsd"), "`driver` other than `gels` is not supported on CUDA"),
        *((lambda: low @ low, lacks.format("addmm_cuda")), (lambda: low.abs(), lacks.format("abs_cuda"))),
        *((lambda: -low, lacks.format("neg_cuda")), (lambda: low + low, lacks.format("ufunc_add_CUDA"))),
        (lambda: half @ half.float(), "expected mat1 and mat2 to have the same dtype, but got: c10::Half != float"),
    ]
    for call, text in calls:
        with raises(RuntimeError, text):
            call()
    with raises(ValueError, "Multiplication of two Float8_e5m2 matrices is not supported"):
        torch._scaled_mm(low, low.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    low = x.to(torch.float8_e4m3fn)  # what this capability has
    assert torch._scaled_mm(low, low.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16).dtype is torch.bfloat16
    assert torch.linalg.lstsq(x, x).rank.shape == (0,)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        with raises(RuntimeError, "Unexpected floating ScalarType in at::autocast::prioritize"):
            torch.addcmul(half, x[:2, :2], x[:2, :2])
        assert torch.addcmul(x[:2, :2], half, half).dtype is torch.float32
        assert nn.LSTM(2, 2).cuda()(torch.ones(3, 2, device="cuda"))[0].dtype is torch.float16


@in_mode("cuda")
def test_what_has_no_deterministic_kernel() -> None:
    """Some ways to reduce what is scattered; `kthvalue` has one."""
    torch.use_deterministic_algorithms(True)
    x, index = torch.rand(3, 3, device="cuda"), torch.zeros(3, 3, dtype=torch.int64, device="cuda")
    for call, name in (
        (lambda: x.scatter_reduce(0, index, x, "prod"), "scatter_reduce_cuda_prod_"),
        (lambda: x.scatter(0, index, x, reduce="add"), "scatter_reduce_cuda_kernel"),
        (lambda: x.index_reduce(0, index[0], x, "mean"), "index_reduce_cuda"),
        (lambda: x.nanmedian(0), "median CUDA with indices output"),
    ):
        with raises(RuntimeError, f"{name} does not have a deterministic implementation"):
            call()
    x.scatter_reduce(0, index, x, "sum")
    x.scatter(0, index, x)
    x.kthvalue(1)


@pytest.mark.parametrize("mode", ["sim", "cuda"])
@in_mode("off")
def test_numbers_that_are_gone(mode: str) -> None:
    """A tensor whose storage was made too small is not read; what fits still is."""
    accelerator.enable(mode)  # type: ignore[arg-type]
    x, y = torch.ones(4, device=mode), torch.arange(4.0, device=mode)
    x.untyped_storage().resize_(0)
    y.untyped_storage().resize_(8)
    with raises(RuntimeError, "an illegal memory access was encountered"):
        x + 1
    assert y[:2].tolist() == [0, 1]
    with raises(RuntimeError, "an illegal memory access was encountered"):
        y.sum()


def test_the_comparison_runs(tmp_path: Path) -> None:
    """`gpu/on_a_gpu.py` asks the simulated device, and finds no difference from itself."""
    program = Path(__file__).parents[2] / "gpu" / "on_a_gpu.py"
    out = tmp_path / "sim.json"
    command = [sys.executable, str(program)]
    subprocess.run([*command, "--sim", "--only", "snippets", "--into", str(out)], check=True, capture_output=True)
    done = subprocess.run([*command, "--compare", str(out), str(out)], check=True, capture_output=True, text=True)
    assert done.stdout == ""
