"""The simulated CUDA in other projects: their tests, their modules, and the processes that they start."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerator.modes import in_mode

import grader
from grader import accelerator
from grader.accelerator.tools.launcher import main
from grader.accelerator.tools.missing_packages import note_missing

_TESTS = """\
import subprocess, sys
import pytest, torch
pytestmark = [pytest.mark.lane, pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")]

def test_kind():
    assert (torch.cuda.get_device_name(), torch.cuda.device_count()) == ("NVIDIA A100-SXM4-40GB", 2)

def test_child():
    code = "import torch; assert torch.ones(1, device='cuda:1').is_cuda"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

def test_package():
    import flash_attn
"""


PLUGIN = ["-s", "-p", "no:cacheprovider", "-p", "grader.accelerator.pytest_plugin"]
DEVICES = ["--accelerator", "a100", "--accelerator-devices", "2"]
TOLD = ["accelerator: NVIDIA A100-SXM4-40GB, simulated; 2 devices", "1 failed, 2 passed"]
TOLD += ["Use torch.nn.functional.scaled_dot_product_attention."]
WRONG = ["--accelerator", "a10"]


@pytest.mark.parametrize(
    ("options", "status", "told"),
    [(DEVICES, 1, TOLD), ([], 0, ["3 skipped"]), (WRONG, 4, ["no GPU of the name 'a10'; did you mean a10g?"])],
    ids=["with", "without", "wrong"],
)
@in_mode("off")
def test_any_projects_tests(tmp_path: Path, options: list[str], status: int, told: list[str]) -> None:
    """The plugin runs tests that need a GPU, and says what to use in place of a package that needs a real one."""
    (tmp_path / "test_it.py").write_text(_TESTS, encoding="utf-8")
    os.chdir(tmp_path)
    warnings.simplefilter("default")
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        assert pytest.main([*PLUGIN, *options]) == status
    assert [text for text in told if text not in out.getvalue()] == []


def test_a_driver_that_finds_no_gpu() -> None:
    """An error of triton's driver, where a build of PyTorch for CUDA installs triton, says what to use, too."""
    driver: dict[str, Any] = {"__name__": "triton.backends.nvidia.driver"}
    exec("def launch(): raise AssertionError('libcuda.so cannot found!')", driver)
    with pytest.raises(AssertionError) as raised:
        driver["launch"]()
    note_missing(raised.value)
    assert raised.value.__notes__ == [
        "triton compiles kernels for a GPU: it needs an NVIDIA GPU, which the simulated device is not. Use the "
        "kernel's formula in operators of torch."
    ]


_PROGRAM = """\
import subprocess, sys, torch
import torch.multiprocessing as mp

def work(rank):
    print(f"spawned {torch.ones(1, device='cuda', dtype=torch.int64) + rank}", flush=True)

if __name__ == "__main__":
    print(sys.argv[1:], __spec__ is not None, flush=True)
    mp.spawn(work, nprocs=1)
"""


@pytest.mark.parametrize("command", [["-m", "package.program"], ["package/program.py"]], ids=["module", "script"])
@in_mode("off")
def test_a_module_and_what_it_spawns(tmp_path: Path, command: list[str]) -> None:
    """`-m` runs a module as Python does; what the program spawns has the device, too."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import torch\nassert torch.cuda.is_available()\n")
    (tmp_path / "package" / "program.py").write_text(_PROGRAM, encoding="utf-8")
    os.chdir(tmp_path)
    with open("printed", "wb") as file, contextlib.redirect_stderr(io.StringIO()) as told:
        os.dup2(file.fileno(), 1)  # where the process that is spawned prints, too
        assert main([*command, "--lr", "3"]) == 0, told.getvalue()
    lines = [f"['--lr', '3'] {command[0] == '-m'}", "spawned tensor([1], device='cuda:0')"]
    assert Path("printed").read_text(encoding="utf-8").splitlines() == lines
    assert "-- Simulated GPU" in told.getvalue()


@in_mode("off")
def test_a_module_that_is_not_there() -> None:
    """It is named, and the status is that of Python."""
    with contextlib.redirect_stderr(io.StringIO()) as told:
        assert main(["-m", "nothing.here"]) == 1
    assert told.getvalue().startswith("python -m grader.accelerator: No module named nothing.here\n")


_TRAINING = """\
import copy, os, torch, torch.distributed as dist
from torch import nn

dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
x = torch.ones(2, device="cuda")
try:
    dist.all_reduce(x)
except dist.DistBackendError as error:
    assert "Duplicate GPU detected" in str(error)
torch.cuda.set_device(rank)

torch.manual_seed(0)
here = nn.Linear(4, 1)
model = nn.parallel.DistributedDataParallel(here.cuda(), device_ids=[rank])
data = torch.arange(8.0).reshape(2, 4)
model(data[rank].cuda()).sum().backward()
assert torch.allclose(here.weight.grad.cpu(), data.mean(0, keepdim=True))

whole = torch.randn(4, 3, 5).cuda()
norm, parts = nn.BatchNorm1d(3).cuda(), nn.SyncBatchNorm(3).cuda()
given = whole.clone().requires_grad_()
norm(given).pow(3).sum().backward()
mine = whole[2 * rank : 2 * rank + 2].clone().requires_grad_()
together = nn.parallel.DistributedDataParallel(parts, device_ids=[rank])
together(mine).pow(3).sum().backward()
torch.testing.assert_close(mine.grad, given.grad[2 * rank : 2 * rank + 2])
torch.testing.assert_close(parts.weight.grad, norm.weight.grad / 2)
torch.testing.assert_close(parts.running_var, norm.running_var)

try:
    dist.all_reduce(torch.ones(1))
except RuntimeError as error:
    assert "No backend type associated with device type cpu" in str(error)

for given, operation, said in (
    (torch.ones(2, device="cuda", dtype=torch.int64), dist.ReduceOp.BXOR, "Cannot use ReduceOp.BXOR with NCCL"),
    (torch.ones(2, 3, device="cuda").t(), dist.ReduceOp.SUM, "Tensors must be contiguous"),
):
    try:
        dist.all_reduce(given, operation)
    except ValueError as error:
        assert str(error) == said
    else:
        raise AssertionError(said)

for collective, output, given, error, said in (
    (dist.all_gather_into_tensor, 3, 2, ValueError, "output tensor size must be equal to world_size times input"),
    (dist.reduce_scatter_tensor, 2, 3, ValueError, "input tensor must be the same size as output size times world"),
    (dist.all_gather_into_tensor, 2, 1.0, TypeError, "output tensor must have the same type as input tensor"),
):
    one = torch.ones(given, device="cuda") if isinstance(given, int) else torch.ones(1, device="cuda").double()
    try:
        collective(torch.ones(output, device="cuda"), one)
    except error as raised:
        assert str(raised).startswith(said)
    else:
        raise AssertionError(said)

received = torch.empty(2, device="cuda")
sent = torch.full((2,), rank + 1.0, device="cuda")
for work in 2 * [dist.isend(sent, 1 - rank), dist.irecv(received, 1 - rank)]:
    work.wait()  # a second time, too, which gloo takes for another message
assert received.tolist() == [2.0 - rank] * 2

large = torch.ones(1 << 24, device="cuda")
dist.barrier()
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
start.record()
dist.all_reduce(large)
large.add_(0)
end.record()
torch.cuda.synchronize()
# 64 MiB go half round the ring of two twice, at 300 GB/s, before they are read.
assert 67.1 / 300 < start.elapsed_time(end) < 67.1 / 300 + 0.2
assert large[0].item() == 2
dist.barrier(async_op=True).wait()

# Parts of a DTensor draw numbers of their own, its copies the same ones.
from torch.distributed.tensor import Replicate, Shard, init_device_mesh, rand
mesh = init_device_mesh("cuda", (2,))
torch.manual_seed(3)
for placement, distinct in ((Shard(0), 8), (Replicate(), 8), (Shard(1), 8)):
    whole = rand(2, 4, device_mesh=mesh, placements=[placement])
    assert nn.init.normal_(whole) is whole
    assert len(set(whole.full_tensor().flatten().tolist())) == distinct
    both = [torch.empty(2, 4, device="cuda") for _ in range(2)]
    dist.all_gather(both, whole.full_tensor().contiguous())
    assert torch.equal(*both)
state = torch.cuda.get_rng_state().cuda()
dist.all_gather(both := [torch.empty_like(state) for _ in range(2)], state)
assert torch.equal(*both)

# NCCL takes tensors of several sizes, several collectives together, and sums of what is multiplied first.
parts = [torch.empty(2, device="cuda"), torch.empty(3, device="cuda")]
dist.all_gather(parts, torch.full((2 + rank,), float(rank), device="cuda"))
assert [part.tolist() for part in parts] == [[0, 0], [1, 1, 1]]
arrived = [torch.empty(1 + rank, device="cuda") for _ in range(2)]
dist.all_to_all(arrived, [torch.full((1 + other,), 10.0 * rank + other, device="cuda") for other in range(2)])
assert [part.tolist() for part in arrived] == [[float(rank)] * (1 + rank), [10.0 + rank] * (1 + rank)]
total = torch.ones(2, device="cuda")
dist.all_reduce(total, dist._make_nccl_premul_sum(0.25))
assert total.tolist() == [0.5, 0.5]
half = torch.empty(1, device="cuda")
dist.reduce_scatter_tensor(half, total, dist._make_nccl_premul_sum(3.0))
assert (half.tolist(), total.tolist()) == ([3.0], [0.5, 0.5])
sums, message = [torch.ones(1, device="cuda") for _ in range(2)], torch.empty(1, device="cuda")
with dist._coalescing_manager(device=torch.device("cuda", rank), async_ops=True) as together:
    for one in sums:
        dist.all_reduce(one)
together.wait()
with dist._coalescing_manager(device=torch.device("cuda", rank), async_ops=True) as together:
    dist.isend(sums[0], 1 - rank)
    dist.irecv(message, 1 - rank)
together.wait()
assert (sums[0].item(), sums[1].item(), message.item()) == (2, 2, 2)

# It divides sums of integers, rounding to 0, and moves fp8; it has no int16, and takes nothing of the CPU.
for collective, other in ((dist.all_reduce, None), (lambda one, how: dist.reduce(one, 0, how), 1)):
    whole = torch.tensor([rank + 2, -rank - 2], device="cuda")
    collective(whole, dist.ReduceOp.AVG)
    assert rank == other or whole.tolist() == [2, -2]
part, whole = torch.empty(1, dtype=torch.int64, device="cuda"), torch.full((2,), 3 + rank, device="cuda")
dist.reduce_scatter_tensor(part, whole, dist.ReduceOp.AVG)
assert (part.tolist(), whole.tolist()) == ([3], [3 + rank] * 2)
from torch.distributed import _functional_collectives as functional
assert functional.all_reduce(torch.tensor([rank + 2, -rank - 2], device="cuda"), "avg", mesh).tolist() == [2, -2]
assert functional.reduce_scatter_tensor(whole, "avg", 0, mesh).tolist() == [3]
if hasattr(dist, "gather_single"):
    rows = torch.empty(4, dtype=torch.int64, device="cuda") if rank else None
    dist.gather_single(whole, rows, dst=1)
    assert rows is None or rows.tolist() == [3, 3, 4, 4]
small = [torch.empty(1, device="cuda").to(torch.float8_e5m2) for _ in range(2)]
dist.all_gather(small, torch.full((1,), rank + 1.0, device="cuda").to(torch.float8_e5m2))
assert [one.float().item() for one in small] == [1, 2]
for call, error, words in (
    (lambda: dist.all_reduce(part.bool(), dist.ReduceOp.AVG), TypeError, "Cannot use ReduceOp.AVG with boolean inputs"),
    (lambda: functional.all_reduce(part, "band", mesh), ValueError, "Cannot use ReduceOp.BAND with NCCL"),
    (lambda: dist.all_reduce(part.short()), TypeError, "data type is not supported for NCCL process group: Short"),
    (lambda: dist.all_gather([torch.empty(1)] * 2, torch.ones(1, device="cuda")), ValueError, "must be CUDA and dense"),
):
    try:
        call()
    except error as caught:
        assert words in str(caught)
    else:
        raise AssertionError(words)

# Hooks of a group of PyTorch 2.14 would never be called.
if hasattr(dist.group.WORLD, "register_pre_hook"):
    try:
        dist.group.WORLD.register_pre_hook(1, print)
    except NotImplementedError as caught:
        assert "register_pre_hook of an NCCL process group" in str(caught)
    else:
        raise AssertionError("hooks of groups")

# Context parallelism is flash attention in a ring, with the gradients of the whole.
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.experimental._attention import context_parallel_unshard
heads = [torch.randn(1, 2, 16, 8, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
for one in heads:
    dist.broadcast(one, 0)
whole = [one.clone().requires_grad_() for one in heads[:3]]
expected = nn.functional.scaled_dot_product_attention(*whole, is_causal=True)
expected = [expected, *torch.autograd.grad(expected, whole, heads[3])]
with context_parallel(mesh, buffers=heads, buffer_seq_dims=[2] * 4):
    here = [one.clone().requires_grad_() for one in heads[:3]]
    found = nn.functional.scaled_dot_product_attention(*here, is_causal=True)
    assert found.shape == (1, 2, 8, 8)
    found = [found, *torch.autograd.grad(found, here, heads[3])]
    found = context_parallel_unshard(mesh, found, [2] * 4)
for one, other in zip(found, expected):
    torch.testing.assert_close(one.float(), other.float(), atol=0.05, rtol=0.05)

# The older FSDP splits parameters that are views, of which some may not be changed in place.
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel
plain = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
sharded = FullyShardedDataParallel(copy.deepcopy(plain).cuda(), use_orig_params=False)
losses = []
for model, device in ((plain, "cpu"), (sharded, "cuda")):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(3):
        loss = model(torch.ones(2, 4, device=device)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    losses.append(loss.item())
assert abs(losses[0] - losses[1]) < 1e-4, losses
try:
    FullyShardedDataParallel(copy.deepcopy(plain).cuda(), cpu_offload=CPUOffload(offload_params=True))
except NotImplementedError as caught:
    assert "use fully_shard with CPUOffloadPolicy" in str(caught)
else:
    raise AssertionError("offloading")
dist.barrier(dist.new_group(backend="gloo"))  # it is PyTorch's own, whose arguments depend on the version
os.write(1, f"{dist.get_backend()} {rank}\\n".encode())
dist.destroy_process_group()
"""


def _lines_without_gloo(printed: str, word: str) -> list[str]:
    """The sorted lines of two processes; the gloo of PyTorch 2.10 prints lines of its own, in pieces that mix."""
    return sorted(re.findall(rf"{word} \d", printed) if "[Gloo]" in printed else printed.splitlines())


def test_data_parallel_training_by_nccl(tmp_path: Path) -> None:
    """Processes of torchrun have the device; gradients are averaged; links take virtual time; CPU tensors are refused.

    Two processes on one device are refused, too. `SyncBatchNorm` is a batch norm of all parts together. Nothing of
    PyTorch's warns of a device that it does not know, and the processes end in peace.
    """
    (tmp_path / "train.py").write_text(_TRAINING, encoding="utf-8")
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [sys.executable, "-m", "grader.accelerator", "--devices", "2", "--spec", "a100", *torchrun, "train.py"]
    environment = {**os.environ, "PYTHONPATH": str(Path(grader.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert _lines_without_gloo(done.stdout, "nccl") == ["nccl 0", "nccl 1"], done.stderr
    assert done.returncode == 0, done.stderr
    assert "Time stats" not in done.stderr


_SPLITTING = """\
import os, torch, torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", rank)
dist.init_process_group("nccl", device_id=device)
backend = dist.group.WORLD._get_backend(device)
assert (backend.name(), backend.supports_splitting, backend.comm_split_count()) == ("nccl", True, 0)
assert "simulated" not in repr(type(backend)) and "grader" not in repr(type(backend))

def total(group):
    x = torch.ones(1, device=device)
    dist.all_reduce(x, group=group)
    return x.item()

alone = dist.split_group(split_ranks=[[0], [1]])
assert (alone.size(), total(alone), dist.get_backend(alone)) == (1, 1, "nccl")
# A process that is in no part has fewer groups from here on, and still finds the others.
first = dist.split_group(split_ranks=[[0]])
assert (first in (None, dist.GroupMember.NON_GROUP_MEMBER)) == (rank == 1)  # the latter from 2.14 on
both = dist.split_group(split_ranks=[[1, 0]], group_desc="both")
assert (total(both), both.bound_device_id, both.group_desc) == (2, device, "both")
assert total(dist.split_group(both, [[0, 1]])) == 2
options = dist.ProcessGroupNCCL.Options(is_high_priority_stream=True)
options.config.max_ctas = 4
assert total(dist.split_group(split_ranks=[[0, 1]], pg_options=options)) == 2
assert (backend.comm_split_count(), options.config.max_ctas) == (4, 4)
group, all_of_them = dist.new_subgroups(1)
assert (total(group), len(all_of_them)) == (1, 2)
assert dist.new_group([0]) is not None
for name in ("register_mem_pool", "_start_time_estimate"):
    try:
        getattr(backend, name)()
    except NotImplementedError as error:
        assert name in str(error)
    else:
        raise AssertionError(name)
os.write(1, f"split {rank}\\n".encode())
dist.destroy_process_group()
"""


def test_groups_of_nccl_that_are_split(tmp_path: Path) -> None:
    """`dist.split_group` makes groups of parts of a group; a process that is in none gets None."""
    (tmp_path / "split.py").write_text(_SPLITTING, encoding="utf-8")
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [sys.executable, "-m", "grader.accelerator", "--devices", "2", *torchrun, "split.py"]
    environment = {**os.environ, "PYTHONPATH": str(Path(grader.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert _lines_without_gloo(done.stdout, "split") == ["split 0", "split 1"], done.stderr


@in_mode("cuda")
def test_checkpoints_that_are_written_meanwhile(tmp_path: Path) -> None:
    """`async_save` copies tensors of the device to the host, without what is hung on them, and they are read again."""
    dcp: Any = importlib.import_module("torch.distributed.checkpoint")
    store = f"file://{tmp_path / 'store'}"
    torch.distributed.init_process_group("cpu:gloo,cuda:nccl", init_method=store, rank=0, world_size=1)
    x = torch.arange(6.0, device="cuda")
    before = accelerator.counters()["device_to_host_bytes"]
    dcp.async_save({"x": x, "view": x[2:], "p": torch.nn.Parameter(x[:1])}, checkpoint_id=tmp_path / "saved").result()
    assert accelerator.counters()["device_to_host_bytes"] - before >= x.nbytes
    found: dict[str, Any] = {"x": torch.zeros(6, device="cuda"), "view": torch.zeros(4), "p": torch.ones(1).cuda()}
    dcp.load(found, checkpoint_id=tmp_path / "saved")
    assert [one.tolist() for one in found.values()] == [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5], [0]]
    assert type(x.untyped_storage())(8, device="cpu").device.type == "cpu"
    torch.distributed.destroy_process_group()
