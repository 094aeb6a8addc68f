"""What programs for CUDA use beside tensors, and several devices in one process."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from accelerator.modes import counted, grad_of, in_mode, raises
from torch import nn

from grader import accelerator

cuda: Any = torch.cuda


@in_mode("cuda")
def test_memory_statistics() -> None:
    """Statistics have CUDA's names, and count what is there, at most was, came and went; a summary prints them."""
    kept = torch.ones(1000, device="cuda")
    large = torch.ones(1 << 20, device="cuda")
    del large
    found = cuda.memory_stats()
    assert found["allocated_bytes.all.current"] == cuda.memory_allocated() == cuda.memory_reserved() == 4096
    assert [found[f"allocation.all.{name}"] for name in ("current", "peak", "allocated", "freed")] == [1, 2, 2, 1]
    assert [found[f"allocated_bytes.large_pool.{name}"] for name in ("current", "allocated")] == [0, 4 << 20]
    assert (found["requested_bytes.all.current"], found["num_ooms"]) == (4000, 0)
    cuda.reset_peak_memory_stats()
    cuda.reset_accumulated_memory_stats()
    found = cuda.memory_stats()
    assert (found["allocation.all.peak"], found["allocation.all.allocated"]) == (1, 0)
    assert "| Allocated memory      |   4096 B   |" in cuda.memory_summary()
    cuda.set_per_process_memory_fraction(1e-5)
    with raises(torch.OutOfMemoryError, "memory in use. 83.89 KiB allowed; Of the allocated memory 4.00 KiB is"):
        torch.ones(1 << 20, device="cuda")
    assert (cuda.memory_stats()["num_ooms"], kept.numel()) == (1, 1000)


@in_mode("cuda")
def test_waits_that_are_not_wanted() -> None:
    """`set_sync_debug_mode` warns of a wait at the program's line, or forbids it; an explicit wait is wanted."""
    x = torch.ones(4, device="cuda")
    cuda.set_sync_debug_mode("warn")
    for wait in (x.sum().item, x.cpu, x.nonzero):
        with pytest.warns(UserWarning, match="called a synchronizing CUDA operation") as told:
            wait()
        assert told[0].filename == __file__
    cuda.set_sync_debug_mode("error")
    with raises(RuntimeError, "called a synchronizing CUDA operation"):
        x.tolist()
    cuda.synchronize()
    x.to("cuda:1")
    assert cuda.get_sync_debug_mode() == 2


@in_mode("cuda")
def test_ranges_and_sleep() -> None:
    """Ranges of NVTX are spans of the clock; a sleeping kernel takes its cycles and leaves the device to others."""
    machine = accelerator.the_machine()
    cuda.nvtx.range_push("outer")
    with cuda.nvtx.range("inner"):
        cuda._sleep(int(machine.spec.clock / 1000))
        with cuda.stream(cuda.Stream()):
            torch.ones(1000, 1000, device="cuda")
    assert cuda.nvtx.range_pop() == 0
    assert [span.name for span in machine.clock.spans if "range" in span.name] == ["range inner", "range outer"]
    other = next(span for span in machine.clock.spans if span.name == "fill_")
    assert machine.clock.ready[0, 0] == pytest.approx(1e-3 + 5e-6)
    assert other.end < 1e-4


@pytest.mark.parametrize(("given", "count"), [("0", 1), ("1,0", 2), ("", 0), ("-1", 0), ("0,7,1", 1), ("0,0", 1)])
@in_mode("cuda")
def test_devices_that_a_program_may_see(given: str, count: int) -> None:
    """CUDA_VISIBLE_DEVICES holds if it is set before the first use, as programs do in their first lines."""
    os.environ["CUDA_VISIBLE_DEVICES"] = given
    assert (cuda.device_count(), cuda.is_available()) == (count, count > 0)
    if not count:
        with raises(RuntimeError, "No CUDA GPUs are available"):
            torch.ones(1).cuda()
    elif count == 1:
        with raises(RuntimeError, "invalid device ordinal"):
            torch.ones(1).to("cuda:1")


@in_mode("cuda")
def test_data_parallel() -> None:
    """A model on two devices gives the numbers and gradients of one, in the precision of the caller's region."""
    alone = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    x = torch.randn(5, 4)
    wanted = alone(x)
    wanted.sum().backward()
    grads = [grad_of(p).clone() for p in alone.parameters()]
    alone.zero_grad()
    both = nn.DataParallel(alone.cuda())
    accelerator.reset_counters()
    found = both(x)
    # Two copies of the input, one of all parameters together, one of the other device's outcome.
    assert counted("host_to_device", "device_to_device") == (2, 2)
    found.sum().backward()
    assert (found.device, both.module is alone) == (torch.device("cuda", 0), True)
    torch.testing.assert_close(found.cpu(), wanted)
    for param, grad in zip(alone.parameters(), grads, strict=True):
        torch.testing.assert_close(grad_of(param).cpu(), grad)
    with torch.autocast("cuda"):
        assert both(x).dtype is torch.float16


@in_mode("cuda")
def test_communication() -> None:
    """What `torch.cuda.comm` sends arrives where it is to, and comes together again."""
    x = torch.arange(10.0).reshape(5, 2)
    comm = cuda.comm
    everywhere = comm.broadcast(x.cuda(), [0, 1])
    parts = comm.scatter(x, [0, 1])
    summed = comm.reduce_add(everywhere)
    assert [str(one.device) for one in (*everywhere, *parts, summed)] == ["cuda:0", "cuda:1"] * 2 + ["cuda:0"]
    assert [one.shape[0] for one in (*parts, *comm.scatter(x, [0, 1], [1, 4]))] == [3, 2, 1, 4]
    assert torch.equal(comm.gather(parts, destination="cpu"), x)
    assert torch.equal(summed.cpu(), 2 * x)
    mixed = [torch.ones(2).cuda(), torch.ones(3, dtype=torch.int64).cuda(), torch.zeros(1).cuda()]
    copies = comm.broadcast_coalesced(mixed, [0, 1])[1]
    assert [(one.dtype, one.tolist()) for one in copies] == [(one.dtype, one.tolist()) for one in mixed]
    out = [torch.empty(2, 2, device="cuda:0"), torch.empty(3, 2, device="cuda:1")]
    comm.scatter(x, out=out)
    assert torch.equal(comm.gather(out), x.cuda())


@in_mode("cuda")
def test_tensors_of_several_devices_must_fit_together() -> None:
    """`torch.cuda.comm` has CUDA's errors, and what is on its device already is sent as a view, also of a column."""
    comm: Any = cuda.comm
    x, cpu = torch.ones(4, 6, device="cuda:0"), torch.ones(4, 6)
    left, right = comm.scatter(x, (0, 1), dim=1)
    assert (left._base is x, left.stride(), right.device.index) == (True, (6, 1), 1)
    pictures = torch.ones(4, 3, 2, 2).to(memory_format=torch.channels_last)
    together: Any = comm.gather(comm.scatter(pictures, (0, 1)))
    assert together.is_contiguous(memory_format=torch.channels_last) and not together.is_contiguous()
    sparse: Any = torch.eye(3, device="cuda:0").to_sparse()
    assert torch.equal(comm.broadcast_coalesced([sparse], (0, 1))[1][0].to_dense().cpu(), torch.eye(3))
    for call, text in (
        (lambda: comm.scatter(x, ()), "Expected at least one device to scatter to"),
        (lambda: comm.scatter(x, (0, 1), (1, 2, 1)), "Expected devices and chunk_sizes to be of same length"),
        (lambda: comm.scatter(x, out=[]), "Expected at least one output tensor to scatter to"),
        (lambda: comm.scatter(x, out=[cpu]), "Expected all output tensors to be CUDA tensors, but output tensor at"),
        (lambda: comm.scatter(x, out=[x[0]]), "Output tensor at index 0 has incorrect shape: [6]."),
        (lambda: comm.scatter(x, out=[x[1:]]), "Total size for output tensors along scatter dim 0 does not match"),
        (lambda: comm.broadcast(x, out=[cpu]), "Expected all output tensors to be CUDA tensors, but output tensor at"),
        (lambda: comm.broadcast(x, out=[x[1:]]), "Expected all output tensors to have same shape as the source tensor"),
        (lambda: comm.broadcast_coalesced([cpu], (0, 1)), "All tensors must be on devices[0]: 0"),
        (lambda: comm.gather(()), "Expected at least one tensor to gather from"),
        (lambda: comm.gather((cpu, x)), "Expected all input tensors to be CUDA tensors, but tensor at index 0"),
        (lambda: comm.gather((x, x[0])), "Expected all input tensors to have the same number of dimensions"),
        (lambda: comm.gather((x, x[:, 1:])), "Input tensor at index 1 has invalid shape [4, 5], but expected [4, 6]"),
        (lambda: comm.gather((x, x), out=x), "Expected out tensor to have shape [8, 6], but got [4, 6]"),
    ):
        with raises(RuntimeError, text):
            call()  # type: ignore[no-untyped-call]


@in_mode("cuda")
def test_devices_in_old_and_rare_places() -> None:
    """Legacy constructors take a device, memory is asked of a context, and events of two devices have no distance."""
    types: Any = torch.cuda
    new = types.FloatTensor
    assert [new(3, device=1).get_device(), new([0.0], device="cuda:1").new([1.0], device=0).get_device()] == [1, 0]
    with raises(RuntimeError, "legacy constructor expects device type: cuda but device type: cpu was passed"):
        new(3, device="cpu")
    kept = torch.ones(3, device="cuda:1")
    assert cuda.memory_allocated(cuda.device(1)) == 512 and kept.is_cuda
    before = cuda.memory_stats()["num_sync_all_streams"]
    cuda.empty_cache()
    assert cuda.memory_stats()["num_sync_all_streams"] == before + 1
    first, second = (cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    second.record(cuda.current_stream(1))
    second.synchronize()
    first.synchronize()
    with raises(RuntimeError, "CUDA error: invalid resource handle"):
        first.elapsed_time(second)
    with raises(torch.OutOfMemoryError, "CUDA out of memory. Tried to allocate more than 1EB memory."):
        torch.empty(1 << 61, dtype=torch.int8, device="cuda")
