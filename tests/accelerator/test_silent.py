"""What a simulated device once did differently from CUDA without a word: each class, and its other members."""

from __future__ import annotations

import copy
import functools
import inspect
import io
import itertools
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from accelerator.modes import counted, grad_of, in_mode, raises
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.testing._internal import two_tensor
from torch.utils.checkpoint import checkpoint

from grader import accelerator

# -- the device's generator --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["sim", "cuda"])
@in_mode("off")
def test_checkpoints_restore_the_generator(mode: str) -> None:
    """Dropout in a checkpoint draws the same numbers again, so that the gradients are those of the mask that was."""
    accelerator.enable(mode)  # type: ignore[arg-type]
    layer, dropout = nn.Linear(64, 64, bias=False).to(mode), nn.Dropout(0.5)
    for reentrant in (True, False):
        x = torch.ones(8, 64, device=mode, requires_grad=True)
        out: Any = checkpoint(lambda given: dropout(layer(given)), x, use_reentrant=reentrant)
        kept = (out != 0).float()
        out.sum().backward()
        assert torch.allclose(grad_of(x).cpu(), ((2 * kept) @ layer.weight).cpu())


@in_mode("cuda")
def test_when_the_device_is_initialized() -> None:
    """Seeds and counts do not initialize the device; a tensor does."""
    torch.manual_seed(0)
    torch.cuda.manual_seed(0)
    assert (torch.cuda.device_count(), torch.cuda.is_available()) == (2, True)
    assert (torch.cuda.is_initialized(), torch.cuda._initialized) == (False, False)
    torch.ones(1, device="cuda")
    assert (torch.cuda.is_initialized(), torch.cuda._initialized) == (True, True)


# -- custom operators --------------------------------------------------------------------------------------------------


@in_mode("cuda")
def test_kernels_for_cuda_run() -> None:
    """A kernel that a program registers for CUDA runs there, with tensors of the device; without one CUDA's error."""
    library = torch.library.Library("of_a_test", "DEF")
    library.define("moved(Tensor x) -> Tensor")
    library.impl("moved", lambda x: x + 1, "CPU")
    library.impl("moved", lambda x: x + 2 + int(x.is_cuda), "CUDA")
    library.define("anywhere(Tensor x) -> Tensor")
    library.impl("anywhere", lambda x: x + int(x.is_cuda), "CompositeExplicitAutograd")
    library.define("here(Tensor x) -> Tensor")
    library.impl("here", lambda x: x + 1, "CPU")

    @torch.library.custom_op("of_a_test::added", mutates_args=(), device_types="cpu")
    def added(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    added.register_kernel("cuda")(lambda x: x + 3)
    ops, x = torch.ops.of_a_test, torch.zeros(1, device="cuda")
    assert [float(call(x)) for call in (ops.moved, ops.anywhere, added)] == [3, 1, 3]
    assert float(ops.moved(torch.zeros(1))) == 1
    with raises(NotImplementedError, "Could not run 'of_a_test::here' with arguments from the 'CUDA' backend."):
        ops.here(x)


@in_mode("cuda")
def test_formulas_for_cuda_hold() -> None:
    """A kernel of PyTorch's own operator, a formula of autograd and a rule of autocast, each registered for CUDA."""
    # A build for CUDA has a kernel for it, and an older one warns that another takes its place.
    warnings.filterwarnings("ignore", "Warning only once for all operators")
    own = torch.library.Library("aten", "IMPL")
    own.impl("cosh", lambda x: x + 42, "CUDA")
    assert (float(torch.cosh(torch.zeros(1, device="cuda"))), float(torch.cosh(torch.zeros(1)))) == (42, 1)

    class Tenfold(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            with torch._C._AutoDispatchBelowAutograd():
                return torch.ops.of_a_formula.same(x)  # type: ignore[no-any-return]

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return 10 * grad

    library = torch.library.Library("of_a_formula", "DEF")
    library.define("same(Tensor x) -> Tensor")
    library.impl("same", lambda x: x * 1, "CompositeExplicitAutograd")
    function: Any = Tenfold
    library.impl("same", lambda x: function.apply(x), "AutogradCUDA")
    x = torch.ones(2, device="cuda", requires_grad=True)
    torch.ops.of_a_formula.same(x).sum().backward()
    assert grad_of(x).tolist() == [10, 10]
    torch.library.register_autocast("of_a_formula::same", "cuda", torch.float16)
    with torch.autocast("cuda"):
        assert torch.ops.of_a_formula.same(torch.ones(2, device="cuda")).dtype is torch.float16


@in_mode("cuda")
def test_threads_have_their_own_current_device_and_stream() -> None:
    """A new thread begins at device 0 and the default stream, and what it sets is its own."""
    found = []

    def work() -> None:
        found.append((torch.cuda.current_device(), torch.cuda.current_stream(1)))
        torch.cuda.set_device(0)
        torch.cuda.set_stream(torch.cuda.Stream(1))

    torch.cuda.set_device(1)
    with torch.cuda.stream(torch.cuda.Stream()) as _:
        mine = torch.cuda.current_stream()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert (torch.cuda.current_device(), torch.cuda.current_stream()) == (1, mine)
    assert found == [(0, torch.cuda.default_stream(1))]


@in_mode("cuda")
def test_a_storage_of_no_bytes_is_free() -> None:
    """`resize_(0)` of a storage gives its memory back, and a larger size takes it again."""
    x = torch.ones(1 << 20, device="cuda")
    storage = x.untyped_storage()
    sizes = []
    for size in (0, 1 << 22):
        storage.resize_(size)
        sizes.append(torch.cuda.memory_allocated())
    assert sizes == [0, 1 << 22]
    with raises(torch.OutOfMemoryError, "CUDA out of memory"):
        storage.resize_(1 << 40)


# -- what CUDA refuses -------------------------------------------------------------------------------------------------


def _attend(kernel: SDPBackend, dtype: torch.dtype, size: int = 16, **options: Any) -> torch.Tensor:
    x = torch.rand(1, 2, 8, size, device="cuda").to(dtype)
    with sdpa_kernel(kernel), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return functional.scaled_dot_product_attention(x, x, x, **options)


@in_mode("cuda", spec=accelerator.Spec(capability=(8, 0)))
def test_kernels_of_attention_on_an_a100() -> None:
    """Each takes what it takes on a GPU, and where no other is allowed the rest is refused, with the reason."""
    half = torch.float16
    mask: dict[str, Any] = {"attn_mask": torch.ones(8, 8, dtype=torch.bool, device="cuda")}
    flash, efficient, cudnn = SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION
    for kernel, dtype, size, options in (
        *((flash, half, 256, {}), (efficient, torch.float32, 16, mask), (cudnn, torch.bfloat16, 128, mask)),
        *((flash, half, 12, {"dropout_p": 0.5}), (SDPBackend.MATH, torch.float64, 3, {})),
    ):
        assert _attend(kernel, dtype, size, **options).dtype is dtype
    for kernel, dtype, size, options in (
        *((flash, torch.float32, 16, {}), (flash, half, 16, mask), (flash, half, 264, {})),
        *((efficient, torch.float64, 16, {}), (efficient, half, 12, {})),
        *((cudnn, torch.float32, 16, {}), (cudnn, half, 136, {})),
    ):
        with raises(RuntimeError, "No available kernel. Aborting execution."):
            _attend(kernel, dtype, size, **options)
    x = torch.rand(1, 2, 8, 16, device="cuda", dtype=half)
    with sdpa_kernel(flash), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with raises(RuntimeError, "No available kernel"):
            functional.scaled_dot_product_attention(x, x, x, **mask)
    assert "Flash Attention does not support non-null attn_mask." in [str(one.message) for one in told]
    params = torch.backends.cuda.SDPAParams(x, x, x, None, 0.0, False, False)
    assert torch.backends.cuda.can_use_flash_attention(params)
    assert not torch.backends.cuda.can_use_flash_attention(
        torch.backends.cuda.SDPAParams(x, x, x, mask["attn_mask"], 0.0, False, False)
    )


@in_mode("cuda", spec=accelerator.Spec(capability=(7, 5)))
def test_kernels_of_attention_on_an_older_gpu() -> None:
    """Flash attention is for capability 8.0 and later; bfloat16 has no kernel before."""
    with raises(RuntimeError, "No available kernel"):
        _attend(SDPBackend.FLASH_ATTENTION, torch.float16)
    with raises(RuntimeError, "No available kernel"):
        _attend(SDPBackend.EFFICIENT_ATTENTION, torch.bfloat16)
    assert _attend(SDPBackend.EFFICIENT_ATTENTION, torch.float16).dtype is torch.float16


@in_mode("cuda")
@pytest.mark.parametrize("kind", ["RNN", "LSTM"])
def test_backward_of_recurrent_layers_in_eval_mode(kind: str) -> None:
    """It has none in cuDNN; without cuDNN, and in training mode, there is one."""
    layer = getattr(nn, kind)(4, 4).cuda().eval()
    x = torch.rand(3, 2, 4, device="cuda")
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([3, 2]))
    for given in (x, packed):
        out = layer(given)[0]
        with raises(RuntimeError, "cudnn RNN backward can only be called in training mode"):
            (out if given is x else out.data).sum().backward()
    with torch.backends.cudnn.flags(enabled=False):
        layer(x)[0].sum().backward()
    layer.train()(x)[0].sum().backward()


_CUDNN = "getCudnnDataTypeFromScalarType() not supported for Long"
_LACKING: list[tuple[Any, str]] = [
    (lambda x: functional.conv2d(x, x[:, :, :2, :2]), _CUDNN),
    (lambda x: functional.conv1d(x[:, :, 0], x[:, :, 0, :2]), _CUDNN),
    (lambda x: functional.conv3d(x[None], x[None]), _CUDNN),
    (lambda x: functional.conv_transpose2d(x, x), _CUDNN),
    (lambda x: _without_cudnn(functional.conv2d, x, x), "slow_conv2d_cuda"),
    (lambda x: _without_cudnn(functional.conv2d, x, x[:, :, :2, :2], dilation=2), "slow_conv_dilated<>"),
    (lambda x: _without_cudnn(functional.conv3d, x[None], x[None]), "slow_conv_dilated<>"),
    (lambda x: _without_cudnn(functional.conv_transpose2d, x, x), "slow_conv_transpose2d_out_cuda"),
    (lambda x: functional.max_pool2d(x, 2), "max_pool2d_with_indices_out_cuda_frame"),
    (lambda x: functional.avg_pool2d(x, 2), "avg_pool2d_out_cuda_frame"),
    (lambda x: functional.avg_pool3d(x.expand(1, 4, 4, 4), 2), "avg_pool3d_out_cuda"),
    (lambda x: x[0, 0] @ x[0, 0], "addmm_cuda"),
    (lambda x: torch.addbmm(x[0, 0], x[0], x[0]), "addmm_cuda"),
]
"""Calls with integers, and the kernel that CUDA names."""


def _without_cudnn(call: Any, *args: Any, **options: Any) -> Any:
    with torch.backends.cudnn.flags(enabled=False):
        return call(*args, **options)


@in_mode("cuda")
def test_no_kernels_for_integers() -> None:
    """Convolutions, pooling and products of integers, which the CPU has, are refused by the name of CUDA's kernel."""
    x = torch.ones(1, 1, 4, 4, dtype=torch.int64)
    for call, kernel in _LACKING:
        call(x)
        with raises(RuntimeError, kernel if kernel is _CUDNN else f"\"{kernel}\" not implemented for 'Long'"):
            call(x.cuda())


@in_mode("cuda")
def test_scattered_numbers_are_added_only() -> None:
    """Bool and complex numbers that go to one place are added up; any other reduction has no kernel for them."""
    warnings.simplefilter("ignore")  # that one of the names is old
    places = torch.zeros(2, dtype=torch.int64, device="cuda")
    gather = "\"cuda_scatter_gather_base_kernel_func\" not implemented for '{}'"
    fill = "\"cuda_scatter_fill_base_kernel_reduce_multiply\" not implemented for '{}'"
    whole, yes = torch.ones(2, dtype=torch.complex64, device="cuda"), torch.ones(2, dtype=torch.bool, device="cuda")
    assert whole.scatter(0, places, whole, reduce="add").tolist() == [3, 1]
    assert whole.real.scatter_reduce(0, places, whole.real, "prod").tolist() == [1, 1]
    with raises(NotImplementedError, gather.format("ComplexFloat")):
        whole.scatter(0, places, whole, reduce="multiply")
    with raises(NotImplementedError, fill.format("ComplexFloat")):
        whole.scatter_(0, places, 2.0, reduce="multiply")
    for reduce in ("prod", "amin", "amax"):
        with raises(NotImplementedError, gather.format("Bool")):
            yes.scatter_reduce(0, places, yes, reduce)


@in_mode("cuda", spec=accelerator.Spec(capability=(8, 0)))
def test_operators_that_no_kernel_of_an_a100_does() -> None:
    """Products in fp8, histograms, and dtypes that only the CPU takes."""
    x = torch.rand(16, 16, device="cuda")
    low, one = x.to(torch.float8_e4m3fn), torch.ones((), device="cuda")
    with raises(RuntimeError, "torch._scaled_mm is only supported on CUDA devices with compute capability >= 9.0 or"):
        torch._scaled_mm(low, low.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    with raises(NotImplementedError, "Could not run 'aten::histogram.bin_ct' with arguments from the 'CUDA' backend"):
        torch.histogram(x, 3)
    with raises(NotImplementedError, "\"angle_cuda\" not implemented for 'Half'"):
        x.half().angle()
    with raises(NotImplementedError, "\"upsample_bilinear2d_out_frame\" not implemented for 'Byte'"):
        functional.interpolate(x.byte()[None, None], scale_factor=2, mode="bilinear")
    small = torch.ones(2, 2, dtype=torch.int8, device="cuda")
    with raises(RuntimeError, "self.size(0) needs to be greater than 16, but got 2"):
        torch._int_mm(small, small)


@in_mode("cuda")
def test_old_ways_to_make_tensors() -> None:
    """`t.new` stays on the index of `t`; the default tensor type holds for `torch.Tensor`, too."""
    x: Any = torch.ones(2, dtype=torch.int64, device="cuda:1")
    made = [x.new(2), x.new([1, 2]), x.new(x.shape), x.new(), x.new(2, device="cuda:0")]
    assert [str(one.device) for one in made] == ["cuda:1"] * 4 + ["cuda:0"]
    assert {one.dtype for one in made} == {torch.int64}
    with raises(RuntimeError, "legacy constructor expects device type: cuda but device type: cpu was passed"):
        x.new(2, device="cpu")
    warnings.simplefilter("ignore", UserWarning)  # they say that they are old
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    kinds: Any = [torch.Tensor([1.0]), torch.Tensor(2, 3), torch.Tensor(), torch.ones(2), torch.FloatTensor([1.0])]
    assert [(one.device.type, one.dim()) for one in kinds] == [
        *zip(["cuda"] * 4 + ["cpu"], (1, 2, 1, 1, 1), strict=True)
    ]
    cuda: Any = torch.cuda
    for kind, device in ((cuda.DoubleTensor, "cuda"), (torch.FloatTensor, "cpu")):
        torch.set_default_tensor_type(kind)
        assert (torch.zeros(1).dtype, torch.Tensor([1.0]).device.type) == (kind.dtype, device)


@in_mode("cuda")
def test_the_type_of_a_parameter() -> None:
    """It prints as PyTorch's and equals it, also in a list and as a key, and so does that of a tensor."""
    parameter = nn.Linear(2, 2).cuda().weight
    for one in (parameter, copy.deepcopy(parameter), nn.Parameter(parameter)):
        kind: Any = type(one)
        assert (str(kind), kind == nn.Parameter, kind in (nn.Parameter,), kind == torch.Tensor) == (
            *("<class 'torch.nn.parameter.Parameter'>", True, True, False),
        )
        assert {nn.Parameter: "found"}[kind] == "found"
    plain: Any = type(parameter.data)
    assert (str(plain), plain == torch.Tensor, plain == nn.Parameter) == ("<class 'torch.Tensor'>", True, False)
    assert isinstance(parameter, nn.Parameter)
    assert not isinstance(parameter + 1, nn.Parameter)


@in_mode("cuda")
def test_compiled_modules() -> None:
    """A compiled module is wrapped as everywhere; what `fullgraph` would find is said to be left out."""
    module = nn.Sequential(nn.Linear(2, 2)).cuda()
    made: Any = torch.compile(module)
    assert (type(made).__name__, made._orig_mod is module) == ("OptimizedModule", True)
    assert list(made.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert torch.equal(made(torch.ones(1, 2, device="cuda")), module(torch.ones(1, 2, device="cuda")))
    with pytest.warns(UserWarning, match="does not look for the graph breaks that fullgraph=True forbids"):
        torch.compile(fullgraph=True)(lambda x: x)

    def own_backend(graph: Any, inputs: Any) -> Any:
        raise AssertionError((graph, inputs))

    with pytest.warns(UserWarning, match=r"does not call the backend .*own_backend\. To test a backend"):
        assert torch.compile(torch.sin, backend=own_backend)(torch.zeros(1, device="cuda")).item() == 0
    torch.compile(torch.sin, backend="eager")


@in_mode("cuda")
def test_what_else_the_host_waits_for() -> None:
    """Kernels that are asked whether they failed, limits that are read first, deviations that are checked."""
    x = torch.rand(3, 3, device="cuda") + torch.eye(3, device="cuda")
    for call, waits in (
        *((torch.linalg.eigh, 1), (torch.linalg.eigvalsh, 1), (torch.linalg.svd, 1), (torch.linalg.eig, 1)),
        *((torch.linalg.pinv, 1), (torch.linalg.matrix_rank, 1), (torch.linalg.qr, 0), (torch.linalg.det, 0)),
        *((torch.histc, 1), (lambda x: torch.histc(x, min=0, max=1), 0)),
        *((lambda x: torch.normal(x, x), 1), (lambda x: torch.normal(x, 1.0), 0)),
    ):
        accelerator.reset_counters()
        call(x)
        assert counted("syncs") == (waits,), call


@in_mode("cuda")
def test_pinned_memory_that_is_written_to_during_a_copy() -> None:
    """The host is warned, at its next wait, if it wrote to pinned memory before it waited for the copy from it."""
    host = torch.zeros(4).pin_memory()
    host.to("cuda", non_blocking=True)
    torch.cuda.synchronize()
    host.add_(1)  # after the wait
    host.to("cuda", non_blocking=True)
    host.add_(1)
    with pytest.warns(UserWarning, match=r"pinned memory \(test_silent.py:\d+.*the host wrote to before it waited"):
        torch.cuda.synchronize()
    torch.cuda.synchronize()


@in_mode("cuda")
def test_backward_of_silu_and_mish() -> None:
    """It is the CPU's kernel, to the last bit."""
    for activation in (functional.silu, functional.mish):
        x = torch.randn(64, 64)
        found = []
        for device in ("cpu", "cuda"):
            given = x.to(device).detach().clone().requires_grad_()
            activation(given).pow(2).sum().backward()
            found.append(grad_of(given).cpu())
        assert torch.equal(found[0], found[1])


@in_mode("cuda")
def test_a_tensor_as_learning_rate() -> None:
    """Fused and plain optimizers take it from either device, and step as they do with a number."""
    names = "Adam", "AdamW", "SGD", "Adagrad"
    for name, where, options in itertools.product(names, ("cpu", "cuda"), ({"fused": True}, {})):
        if name == "Adagrad" and options and "cuda_unsupported" in inspect.getsource(torch.optim.Adagrad):
            continue  # an older PyTorch has no fused one for CUDA, and says so
        found: Any = []
        for rate in (torch.tensor(0.1, device=where), 0.1):
            torch.manual_seed(0)
            layer = nn.Linear(2, 2).cuda()
            optimizer = getattr(torch.optim, name)(layer.parameters(), lr=rate, **options)
            layer(torch.ones(1, 2, device="cuda")).sum().backward()
            optimizer.step()
            found.append(layer.weight.detach().cpu())
        assert torch.allclose(*found)


@in_mode("cuda")
def test_modes_see_what_the_program_calls() -> None:
    """A `TorchFunctionMode` sees the program's own calls, and none that the device makes for itself."""

    class Names(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    seen: list[str] = []
    with Names():
        x = torch.ones(2, device="cuda:1").add(1)
        torch.rand(2).to("cuda").mul_(x.to("cuda:0"))
    assert seen == ["ones", "add", "rand", "to", "to", "mul_"]


@in_mode("cuda")
def test_overrides_receive_the_functions_that_a_program_names() -> None:
    """`__torch_function__` receives `torch.zeros_like` itself, and the device by its public name.

    A library keeps its overrides in a table by function, as tensordict does.
    """
    warnings.simplefilter("ignore")  # of sparse tensors, whose indices are not checked
    like: list[Any] = [torch.zeros_like, torch.rand_like, torch.bernoulli, functional.conv2d, torch.linalg.multi_dot]
    makers: list[Any] = [torch.zeros, torch.rand, torch.tensor, torch.as_tensor, torch.sparse_coo_tensor]
    methods: list[Any] = [torch.Tensor.cuda, torch.Tensor.to, torch.Tensor.pin_memory, torch.Tensor.is_pinned]

    class Boxed:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return {one: name for name, one in enumerate(like)}[func]

    class Recorded(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            received.append((func, *(str(one) for one in args[1:])))
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[no-untyped-call]

    class Recording(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            received.append((func, *(str(one) for one in (kwargs or {}).values())))
            return func(*args, **(kwargs or {}))

    received: list[tuple[Any, ...]] = []
    box: Any = Boxed()
    weight = torch.ones(1, 1, 2, 2)
    found = [one(box) for one in like[:3]] + [functional.conv2d(box, weight), torch.linalg.multi_dot([box, weight])]
    assert found == [0, 1, 2, 3, 4]
    x: Any = torch.ones(2).as_subclass(Recorded)
    _ = x.cuda(1), x.to("cuda:1"), x.pin_memory(), x.is_pinned(), x.is_cuda
    assert [one for one, *_ in received] == [*methods, vars(torch.Tensor)["is_cuda"].__get__]
    assert [names for _, *names in received] == [["1"], ["cuda:1"], [], [], []]
    received.clear()
    with Recording():
        made = [torch.zeros(1, device="cuda:1"), torch.rand(1, device="cuda"), torch.tensor([1.0]), torch.as_tensor(1)]
        made.append(torch.sparse_coo_tensor(torch.tensor([[0]]), torch.tensor([1.0]), (2,), device="cuda"))
    assert [one for one, *_ in received if one in makers] == [*makers[:4], torch.tensor, torch.tensor, makers[4]]
    assert received[0] == (torch.zeros, "cuda:1")
    with torch.device("cuda:1"), Recording():
        made += [torch.zeros(1), torch.tensor([1])]
    assert [str(one.device) for one in made] == ["cuda:1", "cuda:0", "cpu", "cpu", "cuda:0", "cuda:1", "cuda:1"]
    traced = torch.fx.symbolic_trace(lambda given: torch.zeros_like(given) + 1)
    assert next(one.target for one in traced.graph.nodes if one.op == "call_function") is torch.zeros_like


@in_mode("cuda")
def test_histograms_of_integers() -> None:
    """CUDA counts integers, as routers of experts do; the CPU's kernel takes floating-point numbers alone."""
    x = torch.tensor([0, 1, 1, 3, 3, 3, 7, -2], device="cuda", dtype=torch.int32)
    found = [torch.histc(x, 4, 0, 3), torch.histc(x, 4), torch.histc(x[:1], 2), torch.histc(x.to(torch.uint8), 3, 0, 2)]
    assert [one.tolist() for one in found] == [[1, 2, 0, 3], [2, 2, 3, 1], [0, 1], [1, 2, 0]]
    assert [one.dtype for one in found] == [*[torch.int32] * 3, torch.uint8]
    assert torch.histc(x, 4, 0, 3, out=torch.empty(0, device="cuda", dtype=torch.int32)).tolist() == [1, 2, 0, 3]
    assert torch.histc(x.float(), 4, 0, 3, out=torch.empty(0, device="cuda")).tolist() == [1, 2, 0, 3]
    for bins, low, high, text in ((0, 0, 3, "bins must be > 0"), (2, 3, 0, "max must be larger than min")):
        with raises(RuntimeError, text):
            torch.histc(x, bins, low, high)


@in_mode("cuda")
def test_attributes_of_a_tensor_are_those_of_the_program() -> None:
    """A library copies the attributes of a tensor to another one, or calls the class with them, as accelerate does."""
    first, second = nn.Parameter(torch.ones(2, device="cuda")), torch.zeros(2, device="cuda:1")
    assert (first.__dict__, vars(second), nn.Linear(1, 1).cuda().weight.__dict__) == ({}, {}, {})
    first.label = "first"  # type: ignore[attr-defined]
    second.__dict__.update(first.__dict__)
    second.__dict__["more"] = 1
    assert (second.tolist(), second.device.index, second.label, second.more) == ([0, 0], 1, "first", 1)  # type: ignore[attr-defined]
    assert vars(second).pop("more") == 1
    assert not hasattr(second, "more")
    assert vars(second).pop("more", None) is None
    second.__dict__ = {"other": 2}
    assert (second.tolist(), vars(second), hasattr(second, "label")) == ([0, 0], {"other": 2}, False)
    assert (vars(copy.deepcopy(second)), type(copy.deepcopy(vars(second)))) == ({"other": 2}, dict)
    del first.label  # type: ignore[attr-defined]
    empty: Any = type(first)(first.to("meta"), **first.__dict__)
    assert (isinstance(empty, nn.Parameter), empty.device.type) == (True, "meta")
    torch.utils.swap_tensors(first, third := nn.Parameter(torch.zeros(1, device="cuda")))
    assert (first.tolist(), third.tolist()) == ([0], [1, 1])
    torch.utils.swap_tensors(first, here := nn.Parameter(torch.ones(3)))
    assert (first.tolist(), str(first.device), here.tolist(), str(here.device)) == ([1, 1, 1], "cpu", [0], "cuda:0")
    layer = nn.Linear(1, 1)
    layer.weight.label = "weight"  # type: ignore[attr-defined]
    assert vars(layer.cuda().weight) == vars(layer.cpu().weight) == {"label": "weight"}


@in_mode("cuda")
def test_pinning_is_an_operator() -> None:
    """Autograd and tensors that hold others see it; strides stay, and a device as an argument is deprecated."""
    warnings.simplefilter("ignore")
    x = torch.ones(3, 4, requires_grad=True)
    pair: Any = two_tensor.TwoTensor(torch.ones(2), torch.zeros(2)).pin_memory()
    sparse = [torch.eye(2).to_sparse(), torch.eye(2).to_sparse_csr()]
    assert (type(pair), pair.a.is_pinned(), pair.b.is_pinned()) == (two_tensor.TwoTensor, True, True)
    assert [(one.is_pinned(), one.pin_memory().is_pinned()) for one in sparse] == [(False, True), (False, True)]
    assert (type(x.pin_memory().grad_fn).__name__, x[:, 1:].pin_memory().stride()) == ("PinMemoryBackward0", (4, 1))
    with raises(RuntimeError, "unsupported operation: more than one element"):
        x[:1].detach().expand(3, 4).pin_memory()
    with raises(RuntimeError, "cannot pin 'MetaFloatType' only dense CPU tensors can be pinned"):
        torch.ones(1, device="meta").pin_memory()
    for name in ("pin_memory", "is_pinned"):
        with pytest.warns(DeprecationWarning, match=rf"The argument 'device' of Tensor\.{name}\(\) is deprecated"):
            getattr(x, name)("cuda")


@in_mode("cuda")
def test_errors_name_cuda() -> None:
    """What C++ makes of several operators names the device as the program does; such functions can be scripted."""
    warnings.simplefilter("ignore")
    there, here, window = torch.ones(3, 3).cuda(), torch.ones(3, 3), torch.ones(4)
    attend: Any = functional.scaled_dot_product_attention
    calls: list[Any] = [
        lambda: attend(there[None], here[None], here[None]),
        lambda: attend(here[None], there[None], there[None]),
        lambda: torch.stft(there[0].repeat(4), 4, window=window, return_complex=True),
        lambda: torch.istft(there.to(torch.cfloat), 4, window=window),
        lambda: torch.linalg.multi_dot([there, here, there]),
        lambda: torch.linalg.norm(there, out=here[0, 0]),
        lambda: torch.tensordot(there, there, 1, out=here),
        lambda: torch.gradient(there, spacing=(window[:3], window[:3])),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="cuda:0") as caught:
            call()
        assert "sim" not in str(caught.value)
    scripted = torch.jit.script(_scripted)
    assert scripted(here).item() == 3


def _scripted(x: torch.Tensor) -> torch.Tensor:
    made: torch.Tensor = torch.linalg.norm(x)
    return made


@in_mode("cuda")
def test_weights_of_recurrent_layers_are_one_block() -> None:
    """`flatten_parameters` joins them as cuDNN wants them; a layer whose weights lie apart warns, as with cuDNN."""
    apart = "RNN module weights are not part of single contiguous chunk of memory"
    layers: tuple[Any, ...] = (
        torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True, device="cuda"),
        torch.nn.LSTM(3, 4, proj_size=2).cuda(),
        torch.nn.GRU(3, 4, bias=False).cuda(),
        torch.nn.RNN(3, 4, nonlinearity="relu").cuda().double(),
    )
    for layer in layers:
        x = torch.randn(5, 2, 3, device="cuda", dtype=layer.weight_ih_l0.dtype)
        lengths = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3]))
        before = layer(x)[0]  # warnings are errors here
        layer(lengths)
        assert len({weight.untyped_storage().data_ptr() for weight in layer.parameters()}) == 1
        # As DataParallel and `load_state_dict(assign=True)` leave them.
        layer.weight_hh_l0.data = layer.weight_hh_l0.data.clone()
        for given in (x, lengths):
            with pytest.warns(UserWarning, match=apart):
                layer(given)
        with torch.backends.cudnn.flags(enabled=False):
            layer(x)
        layer.flatten_parameters()
        assert torch.equal(layer(x)[0], before)
        torch.optim.SGD(layer.parameters(), 0.1).step()
        layer(x)[0].sum().backward()
        assert all(weight.grad is not None for weight in layer.parameters())
    with pytest.warns(UserWarning, match=apart):
        copy.deepcopy(torch.nn.GRU(3, 4).cuda())(torch.ones(5, 2, 3).cuda())  # each weight is copied by itself
    on_cpu = torch.nn.LSTM(3, 4)
    on_device = copy.deepcopy(on_cpu).cuda()
    y = torch.randn(5, 2, 3)
    torch.testing.assert_close(on_device(y.cuda())[0].cpu(), on_cpu(y)[0])


BOUNDED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "clamp": lambda x: x.clamp(0.0, 1.0),
    "clamp in place": lambda x: (x * 1).clamp_(0.0, 1.0),
    "clamp_min": lambda x: x.clamp_min(0.0),
    "clamp_max": lambda x: x.clamp_max(1.0),
    "clamp with tensors": lambda x: x.clamp(torch.zeros_like(x), torch.ones_like(x)),
    "clamp with a tensor": lambda x: x.clamp(min=torch.zeros_like(x)),
    "relu6": functional.relu6,
    "hardtanh": lambda x: functional.hardtanh(x, 0.0, 1.0),
    "hardsigmoid": functional.hardsigmoid,
    "threshold": lambda x: functional.threshold(x, 0.0, 0.0),
    "maximum": lambda x: torch.maximum(x, torch.zeros_like(x)),
    "abs": torch.abs,
}


@pytest.mark.parametrize("name", BOUNDED)
@in_mode("cuda")
def test_gradients_at_a_bound(name: str) -> None:
    """Both slopes are possible there; the device has the one of the PyTorch that is installed."""
    found = []
    for place in ("cpu", "cuda"):
        x = torch.tensor([-3.0, -1.0, 0.0, 0.5, 1.0, 3.0, 6.0], device=place, requires_grad=True)
        BOUNDED[name](x).sum().backward()
        found.append(grad_of(x).tolist())
    assert found[0] == found[1]


@in_mode("cuda", indices=2)
def test_backward_starts_from_a_gradient_on_the_device() -> None:
    """One on another device raises, as `validate_outputs` of torch/csrc/autograd/engine.cpp does; a number is moved."""
    for home, other in (("cuda:0", "cpu"), ("cpu", "cuda:0"), ("cuda:0", "cuda:1")):
        leaf = torch.ones(3, device=home, requires_grad=True)
        text = f"invalid gradient at index 0 - expected device {home} but got {other}"
        with raises(RuntimeError, text):
            (leaf * 1).backward(torch.ones(3, device=other))
        with raises(RuntimeError, text):
            torch.autograd.grad(leaf * 1, leaf, torch.ones(3, device=other))
        with raises(RuntimeError, text):
            torch.autograd.backward(torch.autograd.graph.get_gradient_edge(leaf * 1), torch.ones(3, device=other))
        leaf.sum().backward(torch.tensor(2.0, device=other))
        assert grad_of(leaf).tolist() == [2.0] * 3
        assert str(grad_of(leaf).device) == home


@in_mode("cuda")
def test_an_operator_for_gpus_alone_is_refused_by_name() -> None:
    """Not as one that lacks a kernel for the CPU, of which the program said nothing."""
    with raises(NotImplementedError, "The operator 'aten::_fused_dropout' is not supported on the simulated device"):
        torch.ops.aten._fused_dropout(torch.ones(4, device="cuda"), 0.5)


@in_mode("cuda")
def test_a_cpu_tensor_does_not_take_memory_of_the_device() -> None:
    """`set_` raises both ways; what copies and pickles a tensor on the device does not stumble over it."""
    mine, here = torch.arange(3.0, device="cuda"), torch.arange(3.0)
    text = 'Attempted to set the storage of a tensor on device "{}" to a storage on different device "{}".'
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        typed = torch.cuda.FloatStorage(3)
    for source in (mine.untyped_storage(), typed):
        with raises(RuntimeError, text.format("cpu", "cuda:0")):
            torch.empty(0).set_(source)
    with raises(NotImplementedError, "a CPU tensor cannot take the memory of the device"):
        torch.empty(0).set_(mine)  # type: ignore[call-overload]
    with raises(RuntimeError, text.format("cpu", "cuda:0")):
        torch.empty(0).set_(mine.untyped_storage(), 0, (3,), (1,))
    with raises(RuntimeError, text.format("cuda:0", "cpu")):
        torch.empty(0, device="cuda").set_(here.untyped_storage())
    assert torch.empty(0).set_(here.untyped_storage()).tolist() == [0, 1, 2]
    assert torch.empty(3).set_().shape == (0,)  # type: ignore[call-overload]
    assert torch.empty(0, device="cuda").set_(mine.untyped_storage()).tolist() == [0, 1, 2]
    assert copy.deepcopy(mine).tolist() == [0, 1, 2]
    assert pickle.loads(pickle.dumps(mine)).tolist() == [0, 1, 2]


@in_mode("cuda", indices=2)
def test_lists_of_tensors_on_several_devices() -> None:
    """Operators on lists take tensors wherever they are, each with its own; a copy goes from one device to another."""
    a, b, c = torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1"), torch.ones(2)
    devices = [one.device for one in (a, b, c)]
    assert [one.device for one in torch._foreach_add([a, b, c], 1)] == devices
    assert [one.tolist() for one in torch._foreach_mul([a, b, c], [1.0, 2.0, 3.0])] == [[1, 1], [2, 2], [3, 3]]
    assert [one.device for one in torch._foreach_norm([a, c])] == [devices[0], devices[2]]
    torch._foreach_add_([a, c], [a, c], alpha=2)
    assert (a.tolist(), c.tolist()) == ([3, 3], [3, 3])
    torch._foreach_copy_([a, c, b], [torch.zeros(2), torch.full((2,), 5.0, device="cuda:1"), a])
    assert (a.tolist(), b.tolist(), c.tolist()) == ([0, 0], [0, 0], [5, 5])
    for pair in ([[a], [c]], [[a, b], [b, a]]):
        with raises(RuntimeError, "Expected all tensors to be on the same device, but found at least two devices"):
            torch._foreach_add(*pair)


# -- classes and pickles -----------------------------------------------------------------------------------------------


class _Marked(torch.Tensor):
    """A class of a program."""


class _MarkedParameter(nn.Parameter):
    """A class of a program for parameters."""


@in_mode("cuda")
def test_classes_of_tensors() -> None:
    """`isinstance` and `issubclass` with the type of a tensor on the device are as with that of one on the CPU."""
    here, weight = torch.ones(2), nn.Parameter(torch.ones(2))
    made = [here, weight, here.as_subclass(_Marked), _MarkedParameter(here), 3]
    there = [one.cuda() if isinstance(one, torch.Tensor) else one for one in made]
    there[1], there[3] = nn.Parameter(here.cuda()), _MarkedParameter(here.cuda())
    kinds, kinds_there = [type(one) for one in made], [type(one) for one in there]
    expected = [[isinstance(one, kind) for kind in kinds] for one in made]
    assert expected[2] == [True, False, True, False, False]
    for values, others in ((made, kinds_there), (there, kinds), (there, kinds_there)):
        assert [[isinstance(one, kind) for kind in others] for one in values] == expected
    expected = [[issubclass(one, kind) for kind in kinds] for one in kinds]
    for some in (kinds, kinds_there):
        assert [[issubclass(one, kind) for kind in kinds_there] for one in some] == expected
    found = functools.singledispatch(lambda value: "other")
    found.register(kinds_there[0], lambda value: "tensor")
    found.register(nn.Parameter, lambda value: "parameter")
    assert [found(one) for one in (*made, *there)] == ["tensor", "parameter", "tensor", "parameter", "other"] * 2


def _saved(tensor: torch.Tensor) -> Any:
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda tensor: pickle.loads(pickle.dumps(tensor)),
    "save": _saved,
}


@pytest.mark.parametrize("name", COPIES)
@in_mode("cuda")
def test_copies_are_those_of_the_cpu(name: str) -> None:
    """What a copy has is what it has on the CPU: class, attributes, a gradient, memory of its own; so are types."""
    kinds: list[Callable[[torch.Tensor], Any]] = [
        lambda x: x.requires_grad_(),
        nn.Parameter,
        _MarkedParameter,
        lambda x: x.as_subclass(_Marked),
    ]
    for make in kinds[:3] if name == "deepcopy" else kinds:  # the CPU does not copy the last one so
        found = []
        for device in ("cpu", "cuda"):
            tensor = make(torch.ones(2, device=device))
            if tensor.requires_grad:
                tensor.grad = torch.ones(2, device=device)
            tensor.name_of_mine = "first"
            copied = COPIES[name](tensor)
            facts = [copied.tolist(), copied.grad is None, copied.requires_grad, getattr(copied, "name_of_mine", "")]
            found.append([*facts, type(copied).__name__, copied.data_ptr() == tensor.data_ptr(), copied.device.type])
        assert found[0][:-1] == found[1][:-1]
        assert found[1][-1] == "cuda"
    for kind in (torch.Tensor, nn.Parameter):
        assert pickle.loads(pickle.dumps(type(kind(torch.ones(2)).cuda()))) is torch.Tensor


# -- changes in place --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"foreach": True}, {"foreach": False}], ids=str)
@in_mode("cuda")
def test_a_step_between_forward_and_backward_raises(options: dict[str, Any]) -> None:
    """An optimizer changes parameters that backward needs, also all of them with one operator, and backward raises."""
    first, second = nn.Linear(3, 3).cuda(), nn.Linear(3, 1).cuda()
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1, **options)
    for _ in range(2):
        loss = second(first(torch.ones(2, 3, device="cuda"))).sum()
        loss.backward(retain_graph=True)
    optimizer.step()
    with raises(RuntimeError, "one of the variables needed for gradient computation has been modified by an inplace"):
        loss.backward()


VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "slice": lambda x: x[1:],
    "select": lambda x: x[0],
    "transposed": lambda x: x.T,
    "all in one row": lambda x: x.view(-1),
    "a view of a view": lambda x: x[1:][:, 2],
    "expanded": lambda x: x[:, :1].expand(3, 4),
    "the tensor": lambda x: x,
}

CHANGES: dict[str, Callable[[torch.Tensor], Any]] = {
    "mul_": lambda x: x.mul_(2),
    "copy_": lambda x: x.copy_(torch.ones_like(x)),
    "a number for all elements": lambda x: x.__setitem__(..., 1.0),
    "a list of tensors": lambda x: torch._foreach_mul_([x], 2.0),
    "lists of two tensors": lambda x: torch._foreach_add_([x, torch.ones_like(x)], [x.detach().sin(), x.detach()]),
    "no change": lambda x: x,
}


def _names(node: Any) -> Any:
    return node and (node.name(), [_names(following) for following, _ in node.next_functions])


@pytest.mark.parametrize("view", VIEWS)
@in_mode("cuda")
def test_a_view_that_is_changed_in_place(view: str) -> None:
    """Versions, gradients and errors are those of the CPU, and so are the graphs, except for the view's own node."""
    for name, change in CHANGES.items():
        seen = []
        for device in ("cpu", "cuda"):
            leaf = torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], device=device, requires_grad=True)
            base = leaf * 1
            part = VIEWS[view](base)
            try:
                change(part)
                # On CUDA a number from the host fills without a look at memory that overlaps (Fill.cpp), and what
                # raises of it is backward.
                (part * 3).sum().backward()
            except RuntimeError as error:
                seen.append([str(error)])
                continue
            found = [base._version, part._version, part.requires_grad, grad_of(leaf).tolist(), _names(base.grad_fn)]
            seen.append(found)
        assert seen[0] == seen[1], name


@in_mode("cuda")
def test_a_number_that_is_written_to_elements() -> None:
    """One element and elements at indices are copied from the host; a part and a mask are filled, by one kernel."""
    x, indices = torch.zeros(5, device="cuda"), torch.tensor([0, 2], device="cuda")
    mask, one = x == 0, torch.ones((), device="cuda")
    writes: list[tuple[Any, Any, tuple[int, int, int]]] = [
        *((slice(1, None), 2.0, (1, 0, 0)), (..., True, (1, 0, 0)), (mask, 2, (1, 0, 0))),
        *((1, 2.0, (0, 1, 1)), (indices, 2.0, (1, 1, 1)), (mask, one, (1, 0, 1)), (indices, one, (1, 0, 0))),
        *((mask, torch.tensor(2.0), (1, 0, 0)), (indices, torch.tensor(2.0), (1, 1, 1))),
    ]
    for index, value, expected in writes:
        accelerator.reset_counters()
        x[index] = value
        assert counted("launches", "host_to_device", "syncs") == expected, (index, value)
    refused: list[tuple[Any, type[Exception], str]] = [
        ("a", TypeError, "can't assign a str to a torch.cuda.FloatTensor"),
        (1j, RuntimeError, "value cannot be converted to type float without overflow"),
    ]
    for wrong, error, text in refused:
        with raises(error, text):
            x[0] = wrong
    # PyTorch 2.10 leaves it to the driver to refuse the copy, and the capture is invalid then.
    checked = "Cannot copy between CPU and CUDA tensors during CUDA graph capture"
    refusal = checked if torch.__version__ >= "2.11" else "operation failed due to a previous error during capture"
    with raises(RuntimeError, refusal), torch.cuda.graph(torch.cuda.CUDAGraph()):
        x += 1  # PyTorch warns of a graph without any work
        x[indices] = 1.0


@in_mode("cuda")
def test_a_number_on_another_device_fills() -> None:
    """`fill_` reads it on the host first (`fill_out` of Fill.cpp); `masked_fill_` takes none for a CPU tensor."""
    number = torch.tensor(3.0, device="cuda")
    for device in ("cpu", "cuda:1", "cuda:0"):
        assert torch.zeros(2, device=device).fill_(number).tolist() == [3, 3]
        assert torch.zeros(2, device="cuda").fill_(number.to(device)).tolist() == [3, 3]
    accelerator.reset_counters()
    torch.zeros(2).fill_(number)
    assert counted("syncs") == (1,)
    with raises(RuntimeError, "masked_fill_: Expected inputs to be on same device"):
        torch.zeros(2).masked_fill_(torch.tensor([True, False]), number)


@in_mode("cuda")
def test_a_second_stream_begins_beside_a_view_that_must_not_change() -> None:
    """One of several views whose base was changed in place has no node, as FSDP leaves them; a stream can be made."""
    base = torch.ones(4, device="cuda", requires_grad=True) * 1
    first, _ = base.split(2)
    base.add_(1)
    with raises(RuntimeError, "is a view and its base or another view of its base has been modified inplace"):
        assert first.is_leaf
    assert torch.cuda.Stream().query()


@in_mode("cuda")
def test_gradients_of_a_parameter_that_leaves_and_comes_back() -> None:
    """They reach it if its `data` was elsewhere between forward and backward, and go with it where it goes."""
    parameter, found = nn.Parameter(torch.ones(3, device="cuda")), []
    parameter.register_post_accumulate_grad_hook(lambda given: found.append(given is parameter))
    view: Any = parameter.expand_as(parameter)
    node = view.grad_fn.next_functions[0][0]
    node.register_hook(lambda *_: found.append(parameter.grad is not None))
    for factor, sums in ((2, [2, 2, 2]), (3, [5, 5, 5])):
        loss = (parameter * factor).sum()
        parameter.data = torch.zeros(3)
        parameter.data = torch.ones(3, device="cuda")
        loss.backward()
        assert grad_of(parameter).tolist() == sums
    assert found[:2] == [True, True]
    parameter.data = parameter.data.cpu()
    assert (grad_of(parameter).tolist(), str(grad_of(parameter).device)) == ([5, 5, 5], "cpu")
