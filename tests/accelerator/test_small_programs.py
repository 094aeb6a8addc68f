"""What sixty small programs, whose output on CUDA was written down before each run, showed to be otherwise here."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from accelerator.modes import grad_of, in_mode, raises
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

cuda: Any = torch.cuda


@in_mode("cuda")
def test_kernels_without_a_dtype_have_the_names_of_libtorch_cuda() -> None:
    """An error for a dtype names CUDA's kernel, also where the CPU's has another name altogether."""
    whole, z = torch.ones(3, 3, dtype=torch.int64, device="cuda"), torch.ones(3, dtype=torch.cfloat, device="cuda")
    half = torch.ones(3, 3, dtype=torch.float16, device="cuda")
    cases: list[tuple[Callable[[], Any], str, str]] = [
        (lambda: functional.softmax(whole, -1), "host_softmax", "Long"),
        (lambda: functional.log_softmax(whole, 0), "host_softmax", "Long"),
        (lambda: functional.gelu(whole), "GeluCUDAKernelImpl", "Long"),
        (lambda: functional.logsigmoid(whole), "log_sigmoid_forward_cuda", "Long"),
        (lambda: torch.lerp(whole, whole, whole), "lerp_cuda", "Long"),
        (lambda: z < z, "compare_cuda", "ComplexFloat"),
        (lambda: torch.erf(z), "erf_cuda", "ComplexFloat"),
        (lambda: (whole > 0).median(), "median_out_impl", "Bool"),
        (lambda: torch.cdist(half, half), "cdist_cuda", "Half"),
        (lambda: torch.linalg.solve(half, half), "lu_factor_cusolver", "Half"),
        (lambda: whole.to_sparse() @ whole, "addmm_sparse_cuda", "Long"),
        (lambda: torch.sparse.mm(whole.to_sparse(), whole), "addmm_sparse_cuda", "Long"),
        (lambda: (whole > 0).histc(), "histc", "Bool"),
        (lambda: torch.ones(2, device="cuda", dtype=torch.float8_e4m3fn).exp(), "exp_cuda", "Float8_e4m3fn"),
    ]
    for call, kernel, kind in cases:
        with raises(NotImplementedError, f"\"{kernel}\" not implemented for '{kind}'"):
            call()


@in_mode("cuda")
def test_sparse_tensors_that_are_empty_or_go_to_numpy() -> None:
    """A sparse tensor can be made of its size alone, in each layout; NumPy refuses its layout before its device."""
    warnings.simplefilter("ignore")  # compressed layouts are beta
    of_size: Any = torch.sparse_coo_tensor
    made = [
        of_size((2, 3), device="cuda:1"),
        torch.zeros(2, 3, layout=torch.sparse_coo, device="cuda:1"),
        torch.zeros(2, 3, layout=torch.sparse_csr, device="cuda:1"),
        torch.empty(2, 3, layout=torch.sparse_csc, device="cuda:1"),
    ]
    with torch.device("cuda:1"):
        made.append(torch.zeros(2, 3, layout=torch.sparse_csr))
    for one in made:
        assert (str(one.device), one._nnz(), one.shape) == ("cuda:1", 0, (2, 3))
        assert torch.equal(one.to_dense(), torch.zeros(2, 3, device="cuda:1"))
    assert made[2].crow_indices().device == made[2].device
    for one, layout in ((made[0], "Sparse"), (made[2], "SparseCsr")):
        for read in (one.numpy, lambda one=one: one.numpy(force=True), lambda one=one: np.asarray(one)):
            with raises(TypeError, f"can't convert {layout} layout tensor to numpy. Use Tensor.to_dense() first."):
                read()


@in_mode("cuda")
def test_errors_of_the_runtime() -> None:
    """`cudart()` returns codes as PyTorch's enum does, and the error of a code has its text."""
    runtime = cuda.cudart()
    done = runtime.cudaProfilerStart()
    assert (str(done), repr(done), done == 0) == ("cudaError.success", "<cudaError.success: 0>", True)
    cuda.check_error(done)
    with raises(cuda.CudaError, "out of memory (2)"):
        cuda.check_error(2)
    assert runtime.cudaGetErrorString(runtime.cudaError(700)) == "an illegal memory access was encountered"
    host = torch.ones(1000)
    assert runtime.cudaHostRegister(host.data_ptr(), host.untyped_storage().nbytes(), 0) == 0
    assert host.is_pinned()
    assert host[10:].is_pinned()
    assert runtime.cudaHostRegister(host.data_ptr(), 8, 0) == 712
    assert runtime.cudaHostUnregister(host.data_ptr()) == 0
    assert not host.is_pinned()
    assert runtime.cudaHostUnregister(host.data_ptr()) == 713


@in_mode("cuda")
def test_pools_of_memory() -> None:
    """What is allocated within `use_mem_pool` is in the pool's snapshot as long as it lives."""
    pool, other = cuda.MemPool(), cuda.MemPool()
    before = torch.ones(10, device="cuda")
    with cuda.use_mem_pool(pool):
        x = torch.ones(1000, device="cuda")
        elsewhere = torch.ones(1000, device="cuda:1")
        assert pool.use_count() == 2
    assert (pool.use_count(), pool.id != other.id, pool.allocator) == (1, True, None)
    assert [segment["address"] for segment in pool.snapshot()] == [x.data_ptr()]
    assert other.snapshot() == []
    assert {segment["segment_pool_id"] for segment in cuda.memory_snapshot()} == {pool.id, (0, 0)}
    assert before.device != elsewhere.device
    del x
    assert pool.snapshot() == []
    graph = cuda.CUDAGraph()
    with cuda.graph(graph, pool=pool.id):
        y = before * 2
    graph.replay()
    assert (graph.pool(), y.sum().item()) == (pool.id, 20)
    with raises(NotImplementedError, "with an allocator of its own is not supported on the simulated device"):
        cuda.MemPool(object())


@in_mode("cuda")
def test_observers_of_full_memory() -> None:
    """The error names what CUDA's allocator asks the driver for, 2 MiB at least, and observers learn it before."""
    seen: list[tuple[int, ...]] = []
    native: Any = torch._C
    native._cuda_attach_out_of_memory_observer(lambda *numbers: seen.append(numbers))
    kept = torch.empty(1 << 20, dtype=torch.uint8, device="cuda:1")
    total = cuda.get_device_properties(1).total_memory
    cuda.set_per_process_memory_fraction((1 << 20) / total, 1)
    for size, text in ((1000, "2.00 MiB"), (3 << 20, "20.00 MiB"), ((20 << 20) + 1, "22.00 MiB")):
        with raises(torch.OutOfMemoryError, f"CUDA out of memory. Tried to allocate {text}. GPU 1 has"):
            torch.empty(size, dtype=torch.uint8, device="cuda:1")
    taken = kept.nbytes
    assert seen == [(1, mib << 20, taken, total - taken) for mib in (2, 20, 22)]
    with raises(RuntimeError, "Storage size calculation overflowed with sizes=[4611686018427387904]"):
        torch.empty(1 << 62, device="cuda")


@in_mode("cuda")
def test_drivers_of_the_singular_value_decomposition() -> None:
    """CUDA's drivers are accepted, and an unknown one is refused in cuSOLVER's words."""
    x = torch.diag(torch.tensor([3.0, 2.0])).to("cuda")
    for driver in ("gesvd", "gesvdj", "gesvda"):
        assert torch.linalg.svd(x, driver=driver).S.tolist() == [3.0, 2.0]
        assert torch.linalg.svdvals(x, driver=driver).tolist() == [3.0, 2.0]
    with raises(RuntimeError, "torch.linalg.svd: unknown svd driver x in svd_cusolver computation. Check doc at"):
        torch.linalg.svd(x, driver="x")


@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM, nn.RNN])
@in_mode("cuda")
def test_packed_sequences_on_another_device_than_the_layer(kind: Any) -> None:
    """A layer compares, as cuDNN does, the devices of the input, the weights and the hidden states."""
    layer = kind(2, 3)
    packed = pack_padded_sequence(torch.ones(3, 2, 2, device="cuda"), torch.tensor([3, 2]))
    text = "Input and {0} tensors are not at the same device, found input tensor at cuda:0 and {0} tensor at cpu"
    with raises(RuntimeError, text.format("parameter")):
        layer(packed)
    hidden = torch.zeros(1, 2, 3)
    with raises(RuntimeError, text.format("hidden")):
        layer.cuda()(packed, (hidden, hidden) if kind is nn.LSTM else hidden)
    assert layer(packed)[0].data.device.type == "cuda"


@in_mode("cuda")
def test_other_answers() -> None:
    """Storages are shared, a device of another kind is no accelerator, and some backward passes are deterministic."""
    assert torch.ones(2, device="cuda").untyped_storage().is_shared()
    x = torch.ones(2, device="cuda")
    for name, others in (("apply_", ()), ("map_", (x,)), ("map2_", (x, x))):
        with raises(TypeError, f"{name} is only implemented on CPU tensors"):
            getattr(x, name)(*others, abs)
    accelerators: Any = torch.accelerator
    for call in (accelerators.set_device_index, accelerators.synchronize, accelerators.memory_allocated):
        with raises(ValueError, "cpu doesn't match the current accelerator cuda."):
            call("cpu")
    assert accelerators.memory_allocated("cuda:1") == 0
    torch.use_deterministic_algorithms(True)
    y = torch.ones(1, 1, 4, 4, device="cuda", requires_grad=True)
    functional.pad(y, (1, 1, 1, 1), mode="reflect").sum().backward()
    with raises(RuntimeError, "reflection_pad1d_backward_out_cuda does not have a deterministic implementation"):
        functional.pad(y[0], (1, 1), mode="reflect").sum().backward()


@pytest.mark.skipif(not hasattr(torch.accelerator, "Graph"), reason="an older PyTorch has none")
@in_mode("cuda")
def test_graphs_of_the_accelerator() -> None:
    """`torch.accelerator.Graph` captures what its context does on the current stream, and replays it."""
    kind: Any = vars(torch.accelerator)["Graph"]
    x, stream = torch.zeros(3, device="cuda"), torch.Stream("cuda")
    graph = kind(pool=cuda.graph_pool_handle())
    assert isinstance(graph, kind)
    stream.wait_stream(cuda.current_stream())
    with stream, graph:
        x += 1
    assert x.tolist() == [0.0, 0.0, 0.0]
    for _ in range(2):
        graph.replay()
    assert (x.tolist(), graph.pool()) == ([2.0, 2.0, 2.0], graph.graph_pool)
    with raises(RuntimeError, "This CUDAGraph instance already owns a captured graph"), stream:
        graph.capture_begin()
    graph.reset()
    with raises(RuntimeError, "Called CUDAGraph::replay without a preceding successful capture."):
        graph.replay()
    with raises(RuntimeError, "CUDA graphs must be captured on a non-default stream."), kind():
        x += 1


@in_mode("cuda")
def test_settings_of_tuned_products() -> None:
    """The settings of `torch.cuda.tunable` are kept; nothing is tuned."""
    tunable: Any = cuda.tunable
    assert (tunable.is_enabled(), tunable.tuning_is_enabled(), tunable.get_max_tuning_duration()) == (False, True, 30)
    tunable.enable()
    tunable.set_max_tuning_iterations(7)
    tunable.set_filename("results.csv", insert_device_ordinal=True)
    assert (tunable.is_enabled(), tunable.get_max_tuning_iterations()) == (True, 7)
    assert (tunable.get_filename(), tunable.get_results()) == ("results0.csv", ())
    with raises(NotImplementedError, "asks CUDA's driver, which the simulated device does not have"):
        tunable.get_validators()


@in_mode("cuda")
def test_what_cannot_be_pickled() -> None:
    """Streams, events and graphs, and modules that hold one, can be neither pickled nor copied."""
    layer: Any = nn.Linear(2, 2).cuda()
    for one, name in ((cuda.Stream(), "Stream"), (cuda.Event(), "Event"), (cuda.CUDAGraph(), "CUDAGraph")):
        layer.held = one
        for call in (lambda one=one: pickle.dumps(one), lambda one=one: copy.copy(one), lambda: copy.deepcopy(layer)):
            with raises(TypeError, f"cannot pickle '{name}' object"):
                call()


@in_mode("cuda")
def test_streams_of_cpu_tensors_and_what_cudnn_takes() -> None:
    """A CPU tensor has no kernel to record a stream; cuDNN takes floating-point tensors of the device."""
    with raises(NotImplementedError, "Could not run 'aten::record_stream' with arguments from the 'CPU' backend."):
        torch.ones(3).record_stream(cuda.current_stream())
    torch.ones(3, device="cuda").record_stream(cuda.current_stream())
    with torch.backends.cudnn.flags(enabled=False):  # which reads settings that a build for CUDA has
        assert not torch.backends.cudnn.enabled
    takes: Any = torch.backends.cudnn.is_acceptable
    x = torch.ones(3, device="cuda")
    assert (takes(x), takes(x.half()), takes(x.long()), takes(x.cpu())) == (True, True, False, False)
    assert repr(cuda.stream(cuda.current_stream())).startswith("<torch.cuda.StreamContext object")


@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM, nn.RNN])
@in_mode("cuda")
def test_what_cudnn_refuses_of_recurrent_layers(kind: Any) -> None:
    """States must be contiguous, and a gradient has no gradient of its own; without cuDNN, both work."""
    layer, x = kind(3, 4).cuda(), torch.ones(5, 2, 3, device="cuda", requires_grad=True)
    state = torch.zeros(1, 2, 8, device="cuda")[..., ::2]
    good = state.contiguous()

    def run(*states: torch.Tensor) -> torch.Tensor:
        return layer(x, states if kind is nn.LSTM else states[0])[0].sum()  # type: ignore[no-any-return]

    with raises(RuntimeError, "rnn: hx is not contiguous"):
        run(state, good)
    if kind is nn.LSTM:
        with raises(RuntimeError, "rnn: cx is not contiguous"):
            run(good, state)
    weights = list(layer.parameters())
    for inputs in ([x], weights):
        grads = torch.autograd.grad(run(good, good), inputs, create_graph=True)
        with raises(NotImplementedError, "Double backwards is not supported for CuDNN RNNs due to limitations"):
            torch.stack([grad.pow(2).sum() for grad in grads]).sum().backward()
    run(good, good).backward()
    first = [grad_of(one).clone() for one in (x, *weights)]
    with torch.backends.cudnn.flags(enabled=False):
        x.grad = None
        layer.zero_grad()
        run(state, good).backward()
        assert all(map(torch.allclose, first, (grad_of(one) for one in (x, *weights))))
        (grad,) = torch.autograd.grad(run(good, good), x, create_graph=True)
        grad.pow(2).sum().backward()


@pytest.mark.parametrize("place", range(3))
@in_mode("cuda")
def test_numbers_that_only_kernels_check(place: int) -> None:
    """A rate, a class or a place out of range fails on the device, and the next wait raises."""
    one = torch.ones(1, 1, 1, 1, device="cuda")
    (
        lambda: torch.poisson(-one),
        lambda: functional.multi_margin_loss(one[0, 0].expand(1, 3), torch.tensor([7], device="cuda")),
        lambda: functional.max_unpool2d(one, torch.full((1, 1, 1, 1), 99, device="cuda"), (2, 2)),
    )[place]()
    with raises(torch.AcceleratorError, "CUDA error: device-side assert triggered"):
        cuda.synchronize()
