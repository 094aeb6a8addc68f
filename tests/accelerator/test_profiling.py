"""The profiler tells of the device, by the virtual clock."""

from __future__ import annotations

import inspect
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerator.modes import in_mode, raises
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from grader import accelerator

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]


def row(found: Any, name: str) -> tuple[float, ...]:
    """Of one name: how often, the host's time and the device's, each with and without what is inside, in µs."""
    one = next(one for one in found.key_averages() if one.key == name)
    times = (one.cpu_time_total, one.self_cpu_time_total, one.device_time_total, one.self_device_time_total)
    return one.count, *(round(time, 3) for time in times)


def _ignore_cycles() -> None:
    """Let PyTorch warn that each cycle of a profiler begins anew; an older one does so for the first cycle, too."""
    warnings.simplefilter("ignore", UserWarning)


@in_mode("cuda")
def test_tables_have_columns_of_the_device(tmp_path: Path) -> None:
    """Operators have the time of their kernels, kernels and calls have rows; what the CPU does instead has none."""
    _ignore_cycles()
    layer, x = nn.Linear(1000, 1000).cuda(), torch.rand(1000, 1000, device="cuda")
    torch.cuda.synchronize()
    with profile(activities=BOTH, profile_memory=True) as found, record_function("forward"):
        out = layer(x)
        out.sum().item()
    assert row(found, "aten::addmm") == (1, 5, 0, 200, 200)
    assert row(found, "aten::linear") == (1, 5, 0, 200, 0)
    assert row(found, "addmm") == (1, 0, 0, 200, 200)
    assert row(found, "Memcpy DtoH") == (1, 0, 0, 10, 10)
    assert row(found, "cudaLaunchKernel") == (2, 10, 10, 0, 0)
    assert row(found, "cudaStreamSynchronize") == (1, 210, 210, 0, 0)
    assert row(found, "forward") == (1, 225, 0, 220, 0)
    memory = {one.key: one.device_memory_usage for one in found.key_averages()}
    assert memory["aten::addmm"] == 4_000_000
    names = {one.key for one in found.key_averages()}
    assert not {name for name in names if name.startswith("simulated") or name == "PythonSubclass"}
    table = found.key_averages().table(sort_by="cuda_time_total", row_limit=10)
    assert "Self CUDA %" in table
    assert "Self CUDA time total: 220.000us" in table
    found.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert {"addmm", "aten::addmm", "launch addmm"} <= {event["name"] for event in events}


@in_mode("cuda")
def test_schedules() -> None:
    """A cycle tells of its active steps, and is ready in time."""
    x = torch.ones(4, device="cuda")
    counts: list[float] = []

    def ready(found: Any) -> None:
        counts.append(row(found, "aten::add")[0])

    _ignore_cycles()
    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready) as found:
        for _ in range(8):
            x + 1
            found.step()
    assert counts == [2, 2]


@in_mode("cuda")
def test_other_activities() -> None:
    """Of the device alone there are kernels and calls; where the device does nothing, the host's times are real."""
    _ignore_cycles()
    x = torch.ones(4, device="cuda")
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        x + 1
    names = {one.key for one in found.key_averages()}
    assert names == {"add", "cudaLaunchKernel", "cudaDeviceSynchronize"}
    with profile() as found:
        torch.ones(1000, 1000) + 1
    assert row(found, "aten::add")[1] > 0
    with profile(activities=[ProfilerActivity.CPU]) as found:
        x + 1
    assert row(found, "aten::add")[1] > 0


@in_mode("cuda")
def test_with_stacks() -> None:
    """With stacks, kernels belong to the operators still, and no function of the simulation is among the events."""
    _ignore_cycles()
    layer, x = nn.Linear(1000, 1000).cuda(), torch.rand(1000, 1000, device="cuda")
    with profile(activities=BOTH, with_stack=True) as found:
        layer(x).sum().backward()
    assert row(found, "aten::addmm") == (1, 5, 0, 200, 200)
    assert row(found, "aten::linear") == (1, 5, 0, 200, 0)
    assert not [event.name for event in found.events() if event.name.startswith("grader/accelerator/")]


@in_mode("cuda")
def test_the_old_argument() -> None:
    """The first profiler takes `use_cuda` with a warning, and where PyTorch takes it no more, refuses it."""
    _ignore_cycles()
    old: Any = torch.autograd.profiler.profile
    if "use_cuda" not in inspect.signature(old).parameters:
        with raises(TypeError, "unexpected keyword argument 'use_cuda'"):
            old(use_cuda=True)
        return
    with pytest.warns(FutureWarning, match="use_device = 'cuda'"):
        profiler = old(use_cuda=True)
    x = torch.ones(4, device="cuda")
    with profiler as found:
        x + 1
    assert row(found, "add")[0] == 1


@in_mode("cuda")
def test_ranges_of_operators() -> None:
    """`emit_nvtx` waits at both ends, as on CUDA, in a build for the CPU, too."""
    x = torch.ones(4, device="cuda")
    before = accelerator.counters()["syncs_for"].get("synchronize", 0)
    with torch.autograd.profiler.emit_nvtx() as ranges:
        x + 1
        with raises(RuntimeError, "NVTX annotation context manager is not reentrant"):
            ranges.__enter__()
    assert accelerator.counters()["syncs_for"]["synchronize"] == before + 2
    with torch.autograd.profiler.emit_nvtx(enabled=False):
        x + 1
    assert accelerator.counters()["syncs_for"]["synchronize"] == before + 2
