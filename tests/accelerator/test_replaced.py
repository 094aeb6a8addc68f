"""What takes the place of PyTorch's functions and classes, on each build of it; what CUDA refuses is refused."""

from __future__ import annotations

import copy
import inspect
import io
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from accelerator.modes import grad_of, in_mode, raises

import grader
from grader import accelerator
from grader.accelerator.sim import memory
from grader.accelerator.sim.gpus import spec_of
from grader.accelerator.sim.spec import Spec

cuda: Any = torch.cuda

pytestmark = pytest.mark.lane

REFUSED = ("ExternalStream", "GreenContext", "CUDAPluggableAllocator")


@in_mode("cuda")
def test_classes_stay_classes_and_functions_keep_what_others_read() -> None:
    """Annotations, `except` and PyTorch's compiler go on; what cannot be is refused by name."""
    for name in REFUSED:
        kind = getattr(torch.cuda, name, None)
        if kind is None:  # an older PyTorch has fewer
            continue
        assert isinstance(kind, type)
        with pytest.raises(NotImplementedError, match=f"torch.cuda.{name} is not supported"):
            kind()
        assert pickle.loads(pickle.dumps(kind)) is kind
    event: Any = torch.cuda.Event
    stream: Any = torch.cuda.Stream
    for missing in (event().ipc_handle, event.from_ipc_handle):
        with pytest.raises(NotImplementedError, match="ipc_handle is not supported on the simulated device"):
            missing()
    # A stand-in that is made of the class, by `mock` for example, finds every name; an object refuses the handle.
    for kind, names in (
        (stream, ("device", "priority", "_as_parameter_")),
        (event, ("cuda_event", "device")),
    ):
        assert set(names) <= set(dir(kind))
        assert all(hasattr(kind, name) for name in names)
    with pytest.raises(NotImplementedError, match="_as_parameter_ is not supported on the simulated device"):
        _ = stream()._as_parameter_
    assert event().cuda_event == 0  # on CUDA, too, until it is recorded
    assert issubclass(torch.cuda.DeferredCudaCallError, Exception)
    assert isinstance(torch.accelerator.device_index, type)
    with torch.accelerator.device_index(1):
        assert torch.ones(1, device="cuda").device.index == 1
    replaced: tuple[tuple[Any, str], ...] = (
        (torch.cuda.memory_reserved, "memory_reserved"),
        (torch.accelerator.current_device_index, "current_device_index"),
        (torch.Tensor.to, "to"),
    )
    for function, name in replaced:
        assert function.__name__ == name
        assert function.__wrapped__.__name__ == name
    assert "device" in inspect.signature(torch.cuda.memory_allocated).parameters
    # `torch._dynamo` of 2.10 reads these when it is imported, and each optimizer imports it.
    for name in ("device", "is_cuda", "data", "grad"):
        attribute: Any = inspect.getattr_static(torch.Tensor, name)
        assert (attribute.__objclass__, attribute.__name__) == (torch._C.TensorBase, name)


@in_mode("cuda")
def test_all_that_trains(tmp_path: Path) -> None:
    """Products of batches, each optimizer, and what PyTorch's compiler looks at before it does nothing."""
    a, b = torch.randn(2, 3, 4, device="cuda"), torch.randn(2, 4, 5, device="cuda")
    assert torch.equal((a @ b).cpu(), torch.bmm(a.cpu(), b.cpu()))
    layer = torch.nn.TransformerEncoderLayer(8, 2, batch_first=True).cuda()
    layer(torch.randn(2, 3, 8, device="cuda")).sum().backward()
    for optimizer in (torch.optim.SGD, torch.optim.AdamW, torch.optim.Adagrad, torch.optim.NAdam):
        weight = torch.nn.Parameter(torch.ones(3, 3, device="cuda"))
        weight.grad = torch.ones_like(weight)
        optimizer([weight]).step()
    assert torch.compile(torch.sin)(a).is_cuda
    graphed: Any = torch.cuda.make_graphed_callables(torch.nn.Linear(4, 4).cuda(), (torch.randn(2, 4, device="cuda"),))
    with pytest.warns(UserWarning, match="AccumulateGrad node's stream"):  # of the graph, which keeps that node
        graphed(torch.randn(2, 4, device="cuda")).sum().backward()
    torch.save(torch.eye(3).to_sparse().cuda(), tmp_path / "sparse.pt")
    warnings.filterwarnings("ignore", "Validating sparse tensor invariants")  # PyTorch itself since 2.14, for each load
    assert torch.load(tmp_path / "sparse.pt").is_cuda


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@in_mode("cuda")
def test_half_precision_that_the_cpu_lacks(dtype: torch.dtype) -> None:
    """A GPU has these kernels: computed in float32 and rounded, forward, backward and in place."""
    x = torch.randn(1, 2, 4, 4, 4, device="cuda", dtype=dtype, requires_grad=True)
    pooled = F.avg_pool3d(x, 2)
    pooled.sum().backward()
    assert x.grad is not None
    assert pooled.dtype == x.grad.dtype == dtype
    assert torch.equal(pooled.cpu(), F.avg_pool3d(x.detach().cpu().float(), 2).to(dtype))
    y = torch.full((4, 4), -1.0, device="cuda", dtype=dtype)
    same = F.rrelu_(y, training=True)
    assert same is y
    assert ((y > -0.34) & (y < -0.12)).all()
    assert torch.polygamma(1, y.abs()).dtype == dtype


@in_mode("cuda")
def test_a_device_with_an_index() -> None:
    """Where CUDA needs the index it is asked for; where it does not, the current device is meant."""
    for place in ("cuda", torch.device("cuda")):
        with raises(ValueError, "Expected a torch.device with a specified index or an integer, but got:cuda"):
            torch.cuda.set_device(place)
        with torch.cuda.device(place):
            assert torch.cuda.current_device() == 0
    torch.cuda.set_device("cuda:1")
    torch.cuda.set_device(-1)
    assert torch.cuda.current_device() == 1


@in_mode("cuda")
def test_states_of_generators_are_not_exchanged() -> None:
    """The CPU's is no state for a device, nor the other way round; one's own brings back numbers and seed."""
    device, host = torch.Generator("cuda"), torch.Generator()
    for taker, giver in ((device, host), (host, device)):
        with pytest.raises(RuntimeError, match="size"):
            taker.set_state(giver.get_state())
    with pytest.raises(RuntimeError, match="wrong size"):
        torch.cuda.set_rng_state(torch.get_rng_state())
    torch.cuda.manual_seed(5)
    before = torch.cuda.get_rng_state()
    numbers = torch.rand(3, device="cuda")
    torch.cuda.manual_seed(6)
    torch.cuda.set_rng_state(before)
    assert torch.equal(torch.rand(3, device="cuda"), numbers)
    assert torch.cuda.initial_seed() == 5


@in_mode("cuda")
def test_no_deterministic_kernel_in_place_either() -> None:
    """A form that writes to its argument has the same kernel."""
    torch.use_deterministic_algorithms(True)
    x, at, ones = torch.ones(4, device="cuda"), torch.tensor([0, 0], device="cuda"), torch.ones(2, device="cuda")
    calls: tuple[tuple[Callable[[], Any], str], ...] = (
        (lambda: x.scatter_reduce_(0, at, ones, "prod"), "scatter_reduce_cuda_prod_"),
        (lambda: x.index_reduce_(0, at, ones, "prod"), "index_reduce_cuda"),
        (lambda: x.put_(at, ones), "put_"),
        (lambda: F.max_unpool2d(ones.view(1, 1, 2), at.view(1, 1, 2), [2]), "max_unpooling2d_forward_out"),
    )
    for call, kernel in calls:
        with pytest.raises(RuntimeError, match=f"{kernel} does not have a deterministic implementation"):
            call()
    image = torch.ones(1, 1, 4, 4, device="cuda", requires_grad=True)
    smaller = F.interpolate(image, scale_factor=0.5, mode="bicubic", antialias=True)
    with raises(RuntimeError, "upsample_bicubic2d_aa_backward_out_cuda does not have a deterministic implementation"):
        smaller.sum().backward()
    words = torch.zeros(1, 4, 4, dtype=torch.long, device="cuda")
    assert F.nll_loss(image, words, reduction="none").shape == (1, 4, 4)  # nothing is added up
    with raises(RuntimeError, "nll_loss2d_forward_out_cuda_template does not have a deterministic implementation"):
        F.nll_loss(image, words)
    cube = torch.ones(1, 1, 4, 4, 4, device="cuda", requires_grad=True)
    pool: Any = torch.nn.MaxPool3d(2)
    pool(cube).sum().backward()


class Named(torch.Tensor):
    """A class of a program, with an attribute and a method."""

    tag = ""

    def __new__(cls, data: torch.Tensor, tag: str) -> Any:
        """Make one as old programs do."""
        make: Any = torch.Tensor._make_subclass
        made = make(cls, data)
        made.tag = tag
        return made

    def twice(self) -> Any:
        """Double it."""
        return self * 2


class Weight(torch.nn.Parameter):
    """A program's own parameter."""


@in_mode("cuda")
def test_the_compiler_is_reset() -> None:
    """What loads the compiler's graphs of CUDA works, though nothing is compiled."""
    warnings.simplefilter("ignore")  # of modules of PyTorch's that this loads
    for call in (torch.compiler.reset, torch.compiler.cudagraph_mark_step_begin):
        call()


@in_mode("cuda")
def test_tensors_of_derived_classes() -> None:
    """They lie on the device, keep their class there, on the way, in copies and in files, and are what they print."""
    made: Any = Named(torch.ones(2, device="cuda"), "a")
    assert isinstance(made, Named)
    assert (made.tag, made.is_cuda, made.device, Named in [type(made)]) == ("a", True, torch.device("cuda:0"), True)
    both: Any = torch.cat([made.twice(), torch.ones(1, device="cuda")])
    assert (isinstance(both, Named), both.tolist()) == (True, [2, 2, 1])
    moved: Any = torch.ones(2).as_subclass(Named).to("cuda")
    assert (isinstance(moved, Named), repr(moved)) == (True, "Named([1., 1.], device='cuda:0')")
    assert type(moved.cpu()) is Named
    assert not isinstance(moved.as_subclass(torch.Tensor), Named)
    file = io.BytesIO()
    torch.save(moved, file)
    file.seek(0)
    for one in (copy.deepcopy(moved), torch.load(file, weights_only=False)):
        assert (isinstance(one, Named), one.is_cuda, one.tolist()) == (True, True, [1, 1])


@in_mode("cuda")
def test_parameters_of_derived_classes() -> None:
    """They are made on the device, and go there and back, with their class."""
    model: Any = torch.nn.Module()
    model.there, model.moved = Weight(torch.ones(2, device="cuda")), Weight(torch.ones(2))
    for place in ("cuda", "cpu", "cuda"):
        model.to(place)
        assert [(isinstance(one, Weight), one.device.type) for one in model.parameters()] == [(True, place)] * 2
    (model.there * model.moved).sum().backward()
    assert model.moved.grad.tolist() == [1, 1]


@in_mode("cuda")
def test_gradients_of_each_sample() -> None:
    """PyTorch's own class of weights that takes them finds the functions that it knows."""
    from torch.nn.utils._per_sample_grad import call_for_per_sample_grads

    layers: list[Any] = [torch.nn.Conv2d(1, 2, 2), torch.nn.Linear(2, 2)]
    for layer, x in zip(layers, (torch.ones(3, 1, 2, 2), torch.ones(3, 2)), strict=True):
        layer.cuda()
        call_for_per_sample_grads(layer)(x.cuda()).sum().backward()
        assert layer.weight.grad_sample.tolist() == torch.ones(3, *layer.weight.shape).tolist()


@in_mode("cuda")
def test_a_class_that_runs_operators_itself() -> None:
    """It would take the shell's memory for a tensor's own, and is refused with a sentence."""

    class Runs(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, device="cuda")
    make: Any = torch.Tensor._make_subclass
    for call in (lambda: x.as_subclass(Runs), lambda: make(Runs, x)):
        with raises(NotImplementedError, "a tensor of the class Runs, which has a __torch_dispatch__ of its own,"):
            call()


@in_mode("cuda")
def test_what_a_program_hung_on_a_parameter_stays() -> None:
    """A parameter that is moved is the same tensor: its attributes and its hooks go along, and hooks can be removed."""
    layer: Any = torch.nn.Linear(1, 1, bias=False)
    seen: list[torch.Tensor] = []
    layer.weight.tag = "a"
    layer.weight.register_hook(lambda grad: grad * 2)
    removed = layer.weight.register_hook(lambda grad: grad * 10)
    layer.weight.register_post_accumulate_grad_hook(seen.append)
    layer.cuda()
    removed.remove()
    layer(torch.ones(1, 1, device="cuda")).sum().backward()
    assert (layer.weight.tag, layer.weight.grad.tolist(), len(seen)) == ("a", [[2]], 1)
    layer.weight.data = torch.ones(1, 1)
    assert (layer.weight.tag, layer.weight.device.type) == ("a", "cpu")


@in_mode("cuda")
def test_the_inner_name_stays_inside() -> None:
    """Where a program said cuda it reads cuda: fake tensors, errors of complex convolutions, lists of devices."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils import _foreach_utils

    with FakeTensorMode() as mode:
        fake = torch.empty(2, device="cuda:1")
        assert (str(fake.device), str((fake + 1).device)) == ("cuda:1", "cuda:1")
        assert str(torch.nn.Linear(2, 2, device="cuda:1").weight.device) == "cuda:1"
        assert str((mode.from_tensor(torch.empty(2, device="cuda")) + torch.zeros(2, device="cuda")).device) == "cuda:0"
    x, w = (torch.ones(1, 1, 3, 3, device="cuda", dtype=torch.complex64) for _ in range(2))
    assert F.conv2d(x, w).is_cuda
    with raises(RuntimeError, "Input type (CUDAComplexFloatType) and weight type (CPUComplexFloatType) should be the"):
        F.conv2d(x, w.cpu())
    rows, places = torch.arange(4, device="cuda"), torch.tensor([1, 2], device="cuda")
    for split in (torch.tensor_split, torch.Tensor.tensor_split):
        with raises(RuntimeError, "expected tensor_indices_or_sections to be on cpu, but it's on cuda:0"):
            split(rows, places)
        assert [part.tolist() for part in split(rows, places.cpu())] == [[0], [1], [2, 3]]
    for devices in (
        _foreach_utils._get_foreach_kernels_supported_devices(),
        _foreach_utils._get_fused_kernels_supported_devices(),
    ):
        assert "sim" not in devices
    assert repr(torch.Generator("cuda")).startswith("<torch._C.Generator object at ")


@in_mode("cuda")
def test_gradients_are_clipped_in_one_operator() -> None:
    """Groups of tensors have the device's public name, so that clipping finds it among those with such operators."""
    weights = [torch.nn.Parameter(torch.ones(3, device="cuda")) for _ in range(40)]
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    accelerator.reset_counters()
    assert torch.nn.utils.clip_grad_norm_(weights, 1.0, foreach=True).item() == pytest.approx(120**0.5)
    assert accelerator.counters()["launches"] < 10
    torch.nn.utils.clip_grad_value_(weights, 0.01, foreach=True)
    model = torch.nn.Linear(2, 2, device="cuda")
    mean = torch.optim.swa_utils.get_ema_multi_avg_fn()
    torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=mean).update_parameters(model)


@in_mode("cuda")
def test_control_flow_by_operators() -> None:
    """`torch.cond` and its like call the program's functions, with gradients; within vmap they are refused."""
    from torch._higher_order_ops import out_dtype, while_loop

    cond: Any = torch.cond
    x = torch.arange(4.0, device="cuda", requires_grad=True)
    cond(x.sum() > 5, lambda t: t * 2, lambda t: t * 3, (x,)).sum().backward()
    assert grad_of(x).tolist() == [2, 2, 2, 2]
    assert torch.func.grad(lambda t: cond(t.sum() > 9, torch.sin, lambda t: t * 3, (t,)).sum())(x).tolist() == [3] * 4
    loop: Any = while_loop
    start = (torch.tensor(0, device="cuda"), torch.ones(2, device="cuda"))
    count, doubled = loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 2), start)
    assert (count.item(), doubled.tolist(), doubled.is_cuda) == (3, [8, 8], True)
    with raises(NotImplementedError, "The operator 'cond' within vmap is not supported on the simulated device."):
        torch.vmap(lambda row: cond(row.sum() > 1, torch.sin, torch.cos, (row,)))(x.detach().view(2, 2))
    ints = torch.ones(2, 2, dtype=torch.int8, device="cuda")
    with raises(NotImplementedError, "The operator 'out_dtype' of higher order is not supported"):
        out_dtype(torch.ops.aten.mm.default, torch.int32, ints, ints)


@in_mode("cuda")
def test_recorded_graphs_name_cuda_and_run() -> None:
    """Graphs of `make_fx` in each of its modes, of `symbolic_trace` and of `torch.jit`, and `torch.ops` itself."""
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils._python_dispatch import TorchDispatchMode

    def work(x: torch.Tensor) -> torch.Tensor:
        return (
            x + torch.ones(2, device=x.device) + torch.arange(2, device="cuda:0") + torch.zeros_like(x).to("cpu").cuda()
        )

    x = torch.tensor([1.0, 2.0], device="cuda")
    modes: tuple[Any, ...] = ("real", "fake", "symbolic")
    for mode in modes:
        made = make_fx(work, tracing_mode=mode)(x)
        assert "sim" not in made.code
        assert "device(type='cuda', index=0)" in made.code
        assert made(x).tolist() == [2.0, 4.0]
        assert made(x).is_cuda
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions say that it is deprecated
        traced: Any = torch.jit.trace(work, x)
    for text in (traced.code, str(traced.graph), repr(traced.graph), str(next(iter(traced.graph.nodes())))):
        assert "sim" not in text
    assert "cuda:0" in traced.code
    assert traced(x).tolist() == [2.0, 4.0]
    assert torch.ops.aten.zeros.default([2], device="cuda:1").device == torch.device("cuda", 1)
    assert torch.ops.aten.empty([2], device=torch.device("cuda")).is_cuda
    seen: list[str] = []

    class Listens(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if kwargs and kwargs.get("device") is not None:
                seen.append(str(kwargs["device"]))
            return func(*args, **(kwargs or {}))

    with Listens():  # type: ignore[no-untyped-call]
        assert (torch.ones(2, device="cuda:1") + 1).device.index == 1
    assert set(seen) == {"cuda:1"}


@in_mode("cuda", spec=Spec(memory=1 << 50))
def test_a_device_larger_than_the_host() -> None:
    """What the host cannot hold is out of memory, before the host looks for it."""
    with raises(torch.OutOfMemoryError, "The simulated device has room for it, but its tensors are kept in the memory"):
        torch.empty(1 << 48, dtype=torch.uint8, device="cuda")
    assert torch.ones(1, device="cuda").item() == 1
    # Other processes have most of it: Linux would end this one while it fills the memory.
    memory._free_host_bytes = lambda: 100 << 20
    host = torch.empty(1, dtype=torch.uint8).expand(1 << 28)  # which becomes as long when it is copied
    for size, given in ((1 << 28, None), (0, host)):
        with raises(torch.OutOfMemoryError, "of which 100.00 MiB is free. Make the device smaller with"):
            torch.ones(size, device="cuda") if given is None else given.to("cuda")


FORK = """
import os, sys, torch
{before}
reads, writes = os.pipe()
if (child := os.fork()) == 0:
    try:
        torch.ones(2, device="cuda")
    except RuntimeError as error:
        os.write(writes, str(error).encode())
    os._exit(0)
os.close(writes)
print(os.read(reads, 200).decode()[:40])
os.waitpid(child, 0)
"""

QUEUE = """
import torch, torch.multiprocessing as mp

def child(there, back, given):
    there.get().add_(1)
    given[0] = 7
    back.put(torch.nn.Parameter(torch.full((2,), 2.0, device="cuda:0")))
    there.get()

if __name__ == "__main__":
    context = mp.get_context("spawn")
    there, back = context.Queue(), context.Queue()
    mine, given = torch.zeros(3, device="cuda"), torch.zeros(2, 2, device="cuda").t()
    process = context.Process(target=child, args=(there, back, given))
    process.start()
    mine.untyped_storage()  # whoever looked at it can send it all the same
    there.put(mine[1:])
    got = back.get(timeout=300)
    print(got.device, got.requires_grad, isinstance(got, torch.nn.Parameter), mine.tolist(), given.tolist())
    try:
        context.SimpleQueue().put(mine.requires_grad_() * 2)
    except RuntimeError as error:
        print(str(error)[:19])
    there.put(None)
    process.join()
"""


def launched(folder: Path, text: str) -> str:
    """The first lines that a program prints."""
    (folder / "program.py").write_text(text, encoding="utf-8")
    root = str(Path(str(grader.__file__)).parents[1])
    command = [sys.executable, "-W", "ignore", "-m", "grader.accelerator", "program.py"]
    ran = subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": root}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.partition("\n-- Simulated GPU")[0].strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.parametrize("before", ["torch.cuda.is_available()", "torch.ones(2).pin_memory()"])
def test_forked_after_first_questions_to_the_driver(tmp_path: Path, before: str) -> None:
    """As after the device was used."""
    assert launched(tmp_path, FORK.format(before=before)) == "Cannot re-initialize CUDA in forked subp"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_forked_before_any_question_to_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child has the device, also if a module of PyTorch's that the simulation imports has asked for a GPU.

    `torch.utils.cpp_extension` asks in a build for CUDA where it finds a compiler.
    """
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    forked = """
import os, torch
if not (child := os.fork()):
    os.write(1, str(torch.ones(1, device="cuda").device).encode())
    os._exit(0)
os.waitpid(child, 0)
"""
    assert launched(tmp_path, forked) == "cuda:0"


@pytest.mark.parametrize(
    ("gpu", "own"), [("h100", {"sm_90"}), ("l4", {"sm_86", "sm_89"}), ("t4", {"sm_75"}), ("b200", {"sm_100"})]
)
@in_mode("off")
def test_versions_are_those_of_the_build(gpu: str, own: set[str]) -> None:
    """A build for CUDA says its own versions and architectures; one for the CPU says something that programs accept."""
    built = torch.version.cuda is not None
    # Without a device, an older `get_arch_list` is empty.
    of_build = torch.version.cuda, (torch._C._cuda_getArchFlags() or "").split() if built else []
    nccl = torch.cuda.nccl.version() if built else None
    accelerator.enable("cuda", spec=spec_of(gpu))
    architectures = torch.cuda.get_arch_list()
    assert own & set(architectures)
    assert torch.cuda.nccl.version() >= (2, 20)
    cudnn: Any = torch.backends.cudnn
    if built:
        assert (torch.version.cuda, architectures, torch.cuda.nccl.version()) == (*of_build, nccl)
        assert cudnn.version() == torch._C._cudnn.getVersionInt()
    else:
        assert (torch.version.cuda, cudnn.version(), architectures) == ("12.8", 91002, [max(own)])


def test_tensors_go_to_other_processes(tmp_path: Path) -> None:
    """By queues and as arguments, and both processes share the memory; what cannot be sent is refused at once."""
    if sys.platform == "win32":
        pytest.skip("the launcher's processes are tested where they are forked or spawned alike")
    told = launched(tmp_path, QUEUE).splitlines()
    assert told == ["cuda:0 True True [0.0, 1.0, 1.0] [[7.0, 7.0], [0.0, 0.0]]", "Cowardly refusing t"]


LOADER = """
import torch
from torch.utils.data import DataLoader, Dataset

class Made(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return {"x": torch.full((2,), float(index), device="cuda"), "y": index}

if __name__ == "__main__":
    for start in ("fork", "spawn"):
        batches = list(DataLoader(Made(), 2, num_workers=2, multiprocessing_context=start))
        print(*(f"{one['x'].device} {one['x'].tolist()} {one['y'].tolist()}" for one in batches))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_workers_of_a_loader_make_tensors_on_the_device(tmp_path: Path) -> None:
    """A batch that a worker collates comes from it, from a forked one, too, if the device was not used before."""
    batches = "cuda:0 [[0.0, 0.0], [1.0, 1.0]] [0, 1] cuda:0 [[2.0, 2.0], [3.0, 3.0]] [2, 3]"
    assert launched(tmp_path, LOADER).splitlines() == [batches] * 2


def test_tests_in_several_processes(tmp_path: Path) -> None:
    """With pytest-xdist, each process has the device that was asked for."""
    test = "import torch\n\ndef test_it():\n    assert torch.ones(2, device='cuda').is_cuda\n"
    (tmp_path / "test_it.py").write_text(test, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "grader.accelerator.pytest_plugin"]
    root = str(Path(str(grader.__file__)).parents[1])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = root
    ran = subprocess.run(
        [*command, "--accelerator", "a100", "test_it.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


@in_mode("cuda")
def test_the_context_of_a_stream_may_be_entered_again() -> None:
    """A stream that is current already may be chosen again; afterwards the one before is current."""
    one, main = cuda.Stream(), cuda.default_stream()
    with cuda.stream(one), cuda.stream(one):
        assert cuda.current_stream() == one
    assert cuda.current_stream() == main
    context: Any = cuda.stream(one)
    assert isinstance(context, cuda.StreamContext)
    with context:
        assert (context.stream, context.src_prev_stream) == (one, main)
    with one:
        with one:
            pass
        assert cuda.current_stream() == one
    assert cuda.current_stream() == main


@in_mode("cuda")
def test_a_stream_of_numbers_and_what_a_block_may_share() -> None:
    """A stream can be made of its three numbers; properties of a device have its shared memory."""
    one: Any = torch.cuda.Stream()
    kind: Any = torch.cuda.Stream
    assert kind(stream_id=one.stream_id, device_index=one.device_index, device_type=one.device_type) == one
    properties: Any = torch.cuda.get_device_properties(0)
    shared = (properties.shared_memory_per_block_optin, properties.shared_memory_per_multiprocessor)
    assert shared == (166_912, 167_936)  # of an A100
    assert properties.max_threads_per_block == 1024


@in_mode("cuda")
def test_preferred_libraries() -> None:
    """A program may prefer each library that a PyTorch for CUDA has, and is told which it prefers."""
    backends: Any = torch.backends.cuda
    for name in ("cublaslt", "cublas"):
        assert backends.preferred_blas_library(name).name.lower() == name
    for name in ("magma", "cusolver", "default"):
        assert backends.preferred_linalg_library(name).name.lower() == name
        assert backends.preferred_linalg_library().name.lower() == name
    with raises(RuntimeError, "Unknown input value. Choose from: default, cusolver, magma."):
        backends.preferred_linalg_library("mkl")


class Shares:
    """An array of another library, which has memory of the device."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__cuda_array_interface__ = interface


@in_mode("cuda")
def test_arrays_with_an_interface() -> None:
    """`as_tensor` shares the memory of an object with `__cuda_array_interface__`; `tensor` copies it."""
    x: Any = torch.arange(6.0, device="cuda:1").view(2, 3)
    for given, wanted in ((x, x), (x.t(), x.t()), (x[1, 1:], x[1, 1:])):
        array = Shares(given.__cuda_array_interface__)
        shared, copied = torch.as_tensor(array, device="cuda:1"), torch.tensor(array, device="cuda:1")
        assert torch.equal(shared, wanted)
        assert torch.equal(copied, wanted)
        assert shared.data_ptr() == given.data_ptr() != copied.data_ptr()
    shared += 1
    assert x.tolist() == [[0, 1, 2], [3, 5, 6]]
    assert torch.as_tensor(array).device.type == "cpu"
    assert torch.as_tensor(array, dtype=torch.int64, device="cuda").device.index == 0
    host = Shares({**x.__cuda_array_interface__, "data": (torch.ones(6).data_ptr(), False)})
    with raises(RuntimeError, "The specified pointer resides on host memory and is not registered with any CUDA"):
        torch.as_tensor(host, device="cuda")
