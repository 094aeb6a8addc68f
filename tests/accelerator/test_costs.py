"""What the use of the device costs: copies, waits, memory, virtual time."""

from __future__ import annotations

import gc
import importlib
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerator.modes import counted, in_mode, raises
from torch.utils import benchmark

from grader import accelerator
from grader.accelerator.sim.clock import Clock
from grader.accelerator.sim.spec import Spec


@in_mode("sim")
def test_copies_have_a_direction_and_bytes() -> None:
    """Moves are counted by direction with their bytes; views, and moves to where a tensor is, are none."""
    x = torch.ones(100)
    a = x.to("sim")
    b = a.to("sim:1")
    b.to("sim:1").view(10, 10).T.cpu()
    torch.tensor([1, 2, 3], device="sim")
    a.copy_(x)
    a[:50].copy_(b[:50])
    names = ("host_to_device", "host_to_device_bytes", "device_to_host", "device_to_host_bytes")
    assert counted(*names) == (3, 400 + 24 + 400, 1, 400)
    assert counted("device_to_device", "device_to_device_bytes", "transfers") == (2, 600, 6)
    # Of a new dtype its bytes are moved, and of a view only its elements.
    accelerator.reset_counters()
    torch.ones(100, dtype=torch.float64).to("sim", torch.float16)
    torch.ones(10, 100)[0].to("sim")
    torch.ones(1).expand(50).to("sim")
    assert counted("host_to_device_bytes") == (200 + 400 + 200,)


@in_mode("sim")
def test_waits_are_counted_by_reason() -> None:
    """Numbers for Python, results of unknown size, copies and explicit waits count; most work makes nobody wait."""
    t = torch.arange(5.0, device="sim")
    accelerator.reset_counters()
    t[1].item()
    bool(t[0] == 0)
    t.nonzero()
    t[t > 1]
    t.unique()
    torch.equal(t, t.clone())
    t.tolist()
    t.cpu()
    torch.accelerator.synchronize()
    found = accelerator.counters()
    waits = {"item": 2, "nonzero": 1, "index": 1, "equal": 1, "copy": 2, "synchronize": 1}
    assert waits.items() <= found["syncs_for"].items()
    assert (found["syncs"], found["scalars_read"], found["transfers"]) == (9, 6, 2)
    assert {type(value) for value in found.values()} <= {int, float, list, dict}
    accelerator.reset_counters()
    assert counted("launches", "transfers", "syncs", "syncs_for", "host_seconds") == (0, 0, 0, {}, 0)
    t = torch.rand(10, 10, device="sim")
    t @ t + t.T
    t[t > 0.5] = 0
    torch.where(t > 0, t, 0.0).sum(0)
    t[2:4, 1] *= 3
    assert counted("syncs", "transfers") == (0, 0)
    assert accelerator.counters()["launches"] > 5


# -- memory


@in_mode("sim", spec=Spec(granularity=1))
def test_memory_is_that_of_storages() -> None:
    """A storage counts once however many views it has, and until the last is gone; the peak stays."""
    t = torch.ones(1000, device="sim:1")
    view = t[10:20]
    assert counted("current_bytes", "peak_bytes") == ([0, 4000], [0, 4000])
    t2 = t * 2
    del t, t2
    assert counted("current_bytes", "peak_bytes") == ([0, 4000], [0, 8000])
    del view
    assert counted("current_bytes", "peak_bytes", "allocated_bytes") == ([0, 0], [0, 8000], [0, 8000])
    assert torch.accelerator.max_memory_allocated(1) == 8000
    torch.accelerator.reset_peak_memory_stats("sim:1")
    assert torch.accelerator.max_memory_allocated(1) == 0


@in_mode("cuda")
def test_memory_as_cuda_counts_it() -> None:
    """Allocations are rounded up to 512 bytes; what autograd keeps is counted until it is gone."""
    x = torch.ones(2, device="cuda", requires_grad=True)
    assert torch.cuda.memory_allocated() == 512
    y = (x.exp() * 2).sum()
    assert torch.cuda.memory_allocated() == 3 * 512
    y.backward()
    del y
    assert torch.cuda.memory_allocated() == 2 * 512
    free, total = torch.cuda.mem_get_info()
    assert total - free == 1024
    assert torch.cuda.max_memory_allocated() >= 4 * 512


@in_mode("cuda", spec=Spec(memory=1 << 20))
def test_out_of_memory() -> None:
    """A full device raises `torch.OutOfMemoryError` in CUDA's words, and goes on."""
    kept = [torch.zeros(200_000, device="cuda")]
    makers: Any = (lambda: torch.zeros(100_000, device="cuda"), lambda: kept[0] + 1, lambda: torch.ones(200_000).cuda())
    told = "GPU 0 has a total capacity of 1.00 MiB of which 242.50 KiB is free."
    for make in makers:
        with pytest.raises(torch.OutOfMemoryError, match=f"CUDA out of memory. Tried to allocate .* {told}"):
            make()
    assert torch.ones(200_000, device="cuda:1").sum().item() == 200_000
    kept.clear()
    gc.collect()
    assert torch.zeros(200_000, device="cuda").numel() == 200_000


# -- virtual time


_RATES: dict[str, Any] = {"flops": 1e12, "bandwidth": 1e11, "pageable": 1e9, "pinned": 4e9, "peer": 2e9}
SPEC = Spec(launch=1e-6, kernel=2e-6, latency=1e-5, granularity=1, **_RATES)


@in_mode("sim", spec=SPEC)
def test_transfers_take_time() -> None:
    """A transfer costs its latency and its bytes; pinned memory is faster, and asynchronous if asked."""
    host = torch.ones(1_000_000)
    pinned, device = host.pin_memory(), host.to("sim")
    for tensor, to, asked, seconds in (
        *((host, "sim", False, 1e-5 + 4e6 / 1e9), (pinned, "sim", False, 1e-5 + 4e6 / 4e9)),
        *((pinned, "sim", True, 0), (device, "cpu", True, 0)),
    ):
        accelerator.reset_counters()
        tensor.to(to, non_blocking=asked)
        assert counted("host_seconds", "syncs") == (pytest.approx(SPEC.launch + seconds), int(not asked))


@in_mode("sim", spec=SPEC)
def test_does_it_pay() -> None:
    """Whether to move a product has an exact answer, the one that the spec gives on paper."""

    def on_paper(n: int) -> bool:
        nbytes, work = 4 * n * n, 2 * n**3
        kernel = max(SPEC.kernel, work / SPEC.flops, 3 * nbytes / SPEC.bandwidth)
        there = 3 * SPEC.launch + 2 * (SPEC.latency + nbytes / SPEC.pageable) + kernel
        return there < SPEC.host_seconds(work, 3 * nbytes)

    def pays(n: int) -> bool:
        a = torch.ones(n, n)
        with accelerator.virtual_time():
            start = time.perf_counter()
            a @ a
            middle = time.perf_counter()
            there = a.to("sim")
            (there @ there).cpu()
            return time.perf_counter() - middle < middle - start

    sizes = range(16, 640, 48)
    answers = [pays(n) for n in sizes]
    assert answers == [on_paper(n) for n in sizes]
    assert answers[0] is False
    assert answers[-1] is True


@in_mode("cuda")
def test_a_loop_is_slower_on_a_gpu_and_sum_faster() -> None:
    """A loop over elements is slower there than on the CPU, and a sum faster; PyTorch's timer tells virtual time."""
    seconds: dict[tuple[str, str], float] = {}
    with accelerator.virtual_time():
        for device in ("cpu", "cuda"):
            x, large = torch.ones(1000, device=device), torch.ones(1_000_000, device=device)
            for name, function in (("loop", lambda x=x: sum(x)), ("sum", lambda large=large: large.sum())):
                torch.cuda.synchronize()
                start = time.perf_counter()
                function()
                torch.cuda.synchronize()
                seconds[name, device] = time.perf_counter() - start
        a = torch.randn(500, 500, device="cuda")
        product = benchmark.Timer(stmt="a @ a", globals={"a": a}).timeit(20).mean
    assert seconds["loop", "cuda"] > 3 * seconds["loop", "cpu"]
    assert seconds["sum", "cpu"] > 5 * seconds["sum", "cuda"]
    assert product == pytest.approx(2 * 500**3 / accelerator.Spec().flops, rel=0.05)


@in_mode("cuda", spec=SPEC)
def test_timing_without_a_wait_is_seen_to_be_wrong() -> None:
    """`perf_counter` without `synchronize` tells the launch only; with it, or with events, the work."""
    a = torch.ones(1000, 1000, device="cuda")
    work = 2 * 1000**3 / SPEC.flops
    with accelerator.virtual_time():
        torch.cuda.synchronize()
        start = time.perf_counter()
        a @ a
        wrong = time.perf_counter() - start
        torch.cuda.synchronize()
        right = time.perf_counter() - start
        before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        before.record()
        a @ a
        after.record()
        with pytest.raises(RuntimeError, match="Both events must be completed"):
            before.elapsed_time(after)
        after.synchronize()
    assert wrong == pytest.approx(SPEC.launch)
    assert right == pytest.approx(work + SPEC.launch)
    assert before.elapsed_time(after) == pytest.approx((work + SPEC.launch) * 1e3)
    assert time.perf_counter() > 1


@in_mode("cuda", spec=SPEC)
def test_a_stream_waits_for_another() -> None:
    """Work in a stream that waits for another one begins when that one is done; the numbers are there at once."""
    a = torch.ones(1000, 1000, device="cuda")
    torch.cuda.synchronize()
    accelerator.reset_counters()
    side = torch.cuda.Stream()
    a @ a
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        made = a @ a
    assert accelerator.describe(made).inner[0, 0] == 1000
    assert not side.query()
    side.synchronize()
    assert counted("host_seconds", "syncs") == (pytest.approx(2 * 2 * 1000**3 / SPEC.flops, rel=0.01), 1)


@in_mode("cuda", spec=SPEC)
def test_a_loop_of_queries_ends() -> None:
    """A query takes time of the host, and more in a row take more, so that a loop with a sleep ends, too."""
    a, event = torch.ones(1000, 1000, device="cuda"), torch.cuda.Event()
    for stream_or_event in (event, torch.cuda.current_stream()):
        torch.cuda.synchronize()
        accelerator.reset_counters()
        for _ in range(20):
            a @ a
        event.record()
        queries = 0
        while not stream_or_event.query():
            queries += 1
        assert 50 < queries < 20_000
        assert accelerator.counters()["host_seconds"] == pytest.approx(20 * 2 * 1000**3 / SPEC.flops, rel=0.1)


@in_mode("sim", spec=SPEC)
def test_a_kernel_has_a_least_time() -> None:
    """A kernel takes the time of its arithmetic or of its memory traffic, and never less than `kernel`."""
    one, long, matrix = (torch.ones(*shape, device="sim") for shape in ((1,), (1_000_000,), (1000, 1000)))
    kernels: Any = (
        (lambda: one + one, SPEC.kernel),
        (lambda: matrix @ matrix, 2 * 1000**3 / SPEC.flops),
        (lambda: long + 1, 2 * 4_000_000 / SPEC.bandwidth),
    )
    for run, seconds in kernels:
        torch.accelerator.synchronize()
        accelerator.reset_counters()
        run()
        torch.accelerator.synchronize()
        assert counted("host_seconds") == (pytest.approx(SPEC.launch + seconds),)


@in_mode("sim")
def test_python_takes_no_virtual_time() -> None:
    """Within `virtual_time` Python code takes none, `sleep` takes what it is given, and operators what they cost."""
    with accelerator.virtual_time():
        start = time.perf_counter()
        sum(range(1000))
        assert time.perf_counter() == start
        time.sleep(5)
        assert time.perf_counter() == start + 5
        torch.ones(3) + 1
        assert time.perf_counter() > start + 5


@in_mode("sim", spec=SPEC)
def test_timeline() -> None:
    """The timeline is ASCII in 80 columns: the host's launches and waits, the device's work."""
    a = torch.ones(500, 500).to("sim")
    (a @ a).sum().item()
    text = accelerator.timeline(accelerator.the_machine().clock.spans)
    lines = text.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert text.isascii()
    assert any(line.startswith("GPU 0: mm") and "#" in line for line in lines)
    assert any(line.startswith("host: wait for item") and "." in line for line in lines)
    assert accelerator.timeline([]) == ""


def test_spans_that_were_taken_out_leave_room() -> None:
    """Whoever looks at spans and takes them out meets the next ones, however many there were before."""
    clock = Clock(most=2)
    for number in range(5):
        clock.pass_time(1.0, f"step {number}")
    assert [span.name for span in clock.spans] == ["step 0", "step 1"]
    clock.spans.clear()
    clock.pass_time(1.0, "the next")
    assert ([span.name for span in clock.spans], clock.count) == (["the next"], 6)


def calls_of(work: Callable[[], Any]) -> int:
    """How many Python functions some work calls, which says what it costs on any machine."""
    count = 0

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    work()  # what is looked up once
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@in_mode("sim")
def test_what_an_operator_costs() -> None:
    """Few Python functions run for an operator; fewer for a view; many tensors cost a few each, and no square."""
    x, w = torch.ones(4, 4, device="sim"), torch.ones(4, 4, device="sim")
    accelerator.the_machine().clock.most = 0  # as in a program that has run for a while
    assert calls_of(lambda: x + 1) <= 44
    assert calls_of(lambda: x @ w) <= 60
    assert calls_of(lambda: x.view(2, 8)) <= 20

    def many(count: int) -> int:
        weights = [torch.ones(2, device="sim") for _ in range(count)]
        return calls_of(lambda: torch._foreach_add_(weights, weights))

    assert many(200) - many(100) <= 100 * 4


@in_mode("cuda", indices=2)
def test_snapshots_of_memory() -> None:
    """A snapshot has all that is allocated, what was allocated and freed since recording began, and by which line."""
    memory: Any = torch.cuda.memory
    before = torch.ones(3, device="cuda")
    memory._record_memory_history()
    x = torch.ones(1000, device="cuda:1")
    y = x * 2
    del y
    found = memory._snapshot()
    assert found["segments"] == torch.cuda.memory_snapshot()
    assert [(one["device"], one["total_size"], one["requested_size"]) for one in found["segments"]] == [
        (0, 512, 12),
        (1, 4096, 4000),
    ]
    (block,) = found["segments"][1]["blocks"]
    assert (block["state"], block["address"]) == ("active_allocated", x.data_ptr())
    assert block["frames"][0]["filename"] == __file__
    assert found["device_traces"][0] == []
    actions = [(entry["action"], entry["size"]) for entry in found["device_traces"][1]]
    assert actions == [("alloc", 4096), ("alloc", 4096), ("free_requested", 4096), ("free_completed", 4096)]
    with raises(torch.OutOfMemoryError, "out of memory"):
        torch.empty(1 << 40, device="cuda")
    assert memory._snapshot()["device_traces"][0][-1]["action"] == "oom"
    viz: Any = importlib.import_module("torch.cuda._memory_viz")
    assert "free" in viz.trace(found)
    assert "total_allocated" in viz.segsum(found)
    memory._record_memory_history(enabled=None)
    assert memory._snapshot()["device_traces"] == [[], []]
    with raises(RuntimeError, "expected state to be 'state', 'all', or None"):
        memory._record_memory_history("some")
    del before


@in_mode("cuda")
def test_a_snapshot_in_a_file(tmp_path: Path) -> None:
    """The file has what a snapshot has; as many entries are kept as the program wants."""
    memory: Any = torch.cuda.memory
    memory._record_memory_history(max_entries=2, context=None)
    x = torch.ones(3, device="cuda") + 1
    memory._dump_snapshot(str(tmp_path / "snapshot.pickle"))
    found = pickle.loads((tmp_path / "snapshot.pickle").read_bytes())
    assert [entry["frames"] for entry in found["device_traces"][0]] == [[], []]
    for context, framed in (
        ("state", []),
        ("alloc", ["alloc"]),
        ("all", ["alloc", "free_requested", "free_completed"]),
    ):
        memory._record_memory_history(context=context, clear_history=True)
        del x
        x = torch.ones(3, device="cuda")
        found = memory._snapshot()
        entries = found["device_traces"][0]
        assert {entry["action"] for entry in entries if entry["frames"]} == set(framed), context
        assert found["segments"][0]["blocks"][0]["frames"], context
    assert found["segments"][0]["address"] == x.data_ptr()
