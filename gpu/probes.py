# mypy: ignore-errors
"""What is asked of a real GPU and of the simulated one: small functions, each of which runs in a process of its own.

A probe gives plain data. What it raises is its answer, too. `gpu/on_a_gpu.py` runs and compares them.
"""

from __future__ import annotations

import gc
import io
import threading
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

PROBES: dict[str, Callable[[], Any]] = {}
_LONGEST = 150


def probe(function: Callable[[], Any]) -> Callable[[], Any]:
    """Add a function to the list."""
    PROBES[function.__name__] = function
    return function


def said(call: Callable[[], Any]) -> Any:
    """Return the result of a call as plain data, or its error."""
    try:
        return plain(call())
    except Exception as error:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        return f"! {type(error).__name__}: {first.strip()[:_LONGEST]}"


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; of a tensor, what is known without its numbers."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype)[6:]} {list(value.shape)} {list(value.stride())} {value.device}"
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def waits(call: Callable[[], Any]) -> Any:
    """Return how often the host waits in a call, as `set_sync_debug_mode` counts it; the first call warms up."""
    call()
    torch.cuda.synchronize()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        call()
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchroniz" in str(one.message) for one in told)


def taken(call: Callable[[], Any]) -> list[int]:
    """Return by how many bytes the memory grows in a call whose result is kept; the first call warms up."""
    call()
    gc.collect()
    before = torch.cuda.memory_allocated()
    kept = call()
    grown = torch.cuda.memory_allocated() - before
    del kept
    gc.collect()
    return [grown, torch.cuda.memory_allocated() - before]


def ones(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return ones on the device."""
    return torch.ones(shape, device="cuda", dtype=dtype)


# -- the classes of differences that were found before ----------------------------------------------------------------


@probe
def initialized() -> Any:
    found = [(torch.cuda.is_initialized(), torch.cuda._initialized)]
    for call in (
        *(lambda: torch.manual_seed(0), lambda: torch.cuda.manual_seed_all(0), torch.cuda.device_count),
        *(torch.cuda.is_available, lambda: torch.device("cuda"), lambda: torch.cuda.memory_allocated()),
        *(lambda: torch.cuda.get_device_name(0), lambda: torch.cuda.current_device(), lambda: ones(1)),
    ):
        call()
        found.append((torch.cuda.is_initialized(), torch.cuda._initialized))
    return found


def _dropped(**options: Any) -> Any:
    torch.manual_seed(1)
    layer, dropout = nn.Linear(64, 64, bias=False).cuda(), nn.Dropout(0.5)
    x = ones(8, 64).requires_grad_()
    out = checkpoint(lambda given: dropout(layer(given)), x, **options)
    kept = (out != 0).float()
    out.sum().backward()
    assert x.grad is not None
    return bool(torch.allclose(x.grad, (2 * kept) @ layer.weight, atol=1e-4))


@probe
def checkpoints() -> Any:
    options: list[dict[str, Any]] = [
        {"use_reentrant": reentrant, "preserve_rng_state": kept}
        for reentrant in (True, False)
        for kept in (True, False)
    ]
    return [said(lambda given=one: _dropped(**given)) for one in options]


@probe
def forked_generator() -> Any:
    state = torch.cuda.get_rng_state()
    with torch.random.fork_rng(devices=[0]):
        torch.rand(3, device="cuda")
    one = torch.equal(state, torch.cuda.get_rng_state())
    with torch.random.fork_rng(enabled=False):
        torch.rand(3, device="cuda")
    return one, torch.equal(state, torch.cuda.get_rng_state()), list(state.shape)


@probe
def generator_state() -> Any:
    own = torch.Generator("cuda").manual_seed(5)
    a = torch.rand(5, device="cuda", generator=own)
    offset = said(own.get_offset)
    state = own.get_state()
    b = torch.rand(5, device="cuda", generator=own)
    own.set_state(state)
    again = torch.equal(b, torch.rand(5, device="cuda", generator=own))
    same = said(lambda: torch.equal(a, torch.rand(5, device="cuda", generator=own.clone_state().manual_seed(5))))
    return offset, again, same, own.initial_seed(), list(state.shape), said(lambda: own.set_offset(3))


@probe
def custom_operators() -> Any:
    library = torch.library.Library("of_a_probe", "DEF")
    for name in ("moved", "anywhere", "here", "formula"):
        library.define(f"{name}(Tensor x) -> Tensor")
    library.impl("moved", lambda x: x + 1, "CPU")
    library.impl("moved", lambda x: x + 2 + int(x.is_cuda), "CUDA")
    library.impl("anywhere", lambda x: x + int(x.is_cuda), "CompositeExplicitAutograd")
    library.impl("here", lambda x: x + 1, "CPU")

    @torch.library.custom_op("of_a_probe::added", mutates_args=(), device_types="cpu")
    def added(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    found = [said(lambda: float(added(ones(1))))]
    added.register_kernel("cuda")(lambda x: x + 3)
    found.append(said(lambda: float(added(ones(1)))))
    ops = torch.ops.of_a_probe
    found += [said(lambda call=one: float(call(ones(1)))) for one in (ops.moved, ops.anywhere, ops.here, ops.formula)]
    own = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own.impl("cosh", lambda x: x + 42, "CUDA")
    return [*found, float(torch.cosh(ones(1))), float(torch.cosh(torch.zeros(1)))]


@probe
def threads() -> Any:
    found: list[Any] = []
    side = torch.cuda.Stream()

    def work() -> None:
        found.append(torch.cuda.current_stream() == torch.cuda.default_stream())
        torch.cuda.set_stream(torch.cuda.Stream())
        torch.set_default_device("cuda")
        found.append((torch.is_grad_enabled(), torch.is_autocast_enabled("cuda"), str(torch.ones(1).device)))

    with torch.cuda.stream(side), torch.no_grad(), torch.autocast("cuda"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        found.append(torch.cuda.current_stream() == side)
    return found, str(torch.ones(1).device)


@probe
def storages_of_no_bytes() -> Any:
    x = ones(1 << 20)
    start = torch.cuda.memory_allocated()
    storage = x.untyped_storage()
    sizes: list[Any] = []
    for size in (0, 1 << 22, 1 << 10):
        storage.resize_(size)
        sizes.append(torch.cuda.memory_allocated() - start)
    storage.resize_(0)
    return sizes, x.data_ptr(), list(x.shape), said(lambda: storage.resize_(1 << 46))[:60]


@probe
def use_of_no_bytes() -> Any:
    x = ones(4)
    x.untyped_storage().resize_(0)
    out = said(lambda: x + 1)
    return out, said(lambda: torch.cuda.synchronize())


def _attend(kernel: SDPBackend, dtype: torch.dtype, size: int = 16, length: int = 8, **options: Any) -> Any:
    x = torch.rand(1, 2, length, size, device="cuda").to(dtype).requires_grad_(options.pop("grad", False))
    with sdpa_kernel(kernel), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        out = said(lambda: functional.scaled_dot_product_attention(x, x, x, **options))
    return out, [str(one.message)[:100] for one in told if "kernel" not in str(one.message)]


@probe
def attention_backends() -> Any:
    half, mask = torch.float16, ones(8, 8, dtype=torch.bool)
    cases: list[tuple[torch.dtype, dict[str, Any]]] = [
        *((half, {}), (torch.bfloat16, {}), (torch.float32, {}), (torch.float64, {}), (half, {"size": 256})),
        *((half, {"size": 264}), (half, {"size": 12}), (half, {"size": 136}), (half, {"attn_mask": mask})),
        *((torch.float32, {"attn_mask": mask}), (half, {"attn_mask": mask.to(half)}), (half, {"dropout_p": 0.5})),
        *((half, {"is_causal": True}), (half, {"attn_mask": mask, "is_causal": True}), (half, {"scale": 2.0})),
        *((half, {"length": 1}), (half, {"length": 1, "is_causal": True}), (half, {"size": 256, "grad": True})),
        *((half, {"attn_mask": ones(8, 8).to(half).requires_grad_()}), (half, {"size": 3}), (half, {"length": 0})),
    ]
    kernels = (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH)
    return {
        f"{kernel.name} {str(dtype)[6:]} {sorted(options)} {options.get('size', '')}": _attend(kernel, dtype, **options)
        for kernel in kernels
        for dtype, options in cases
    }


@probe
def attention_in_groups() -> Any:
    q, k = torch.rand(1, 4, 8, 16, device="cuda").half(), torch.rand(1, 2, 8, 16, device="cuda").half()
    found = []
    for kernel in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
        with sdpa_kernel(kernel), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(said(lambda: functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)))
            found.append(said(lambda: functional.scaled_dot_product_attention(q, k, k)))
            found.append(said(lambda: functional.scaled_dot_product_attention(q[0], q[0], q[0])))
    return found


@probe
def attention_memory() -> Any:
    x = torch.rand(2, 4, 512, 64, device="cuda").half()
    y = x.detach().clone().requires_grad_()
    found: list[Any] = []
    for kernel in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
        with sdpa_kernel(kernel):
            found.append(taken(lambda: functional.scaled_dot_product_attention(x, x, x)))
            found.append(taken(lambda: functional.scaled_dot_product_attention(y, y, y, is_causal=True)))
    return found


@probe
def recurrent_in_eval() -> Any:
    found = []
    for kind in ("RNN", "LSTM", "GRU"):
        layer = getattr(nn, kind)(4, 4).cuda().eval()
        x = torch.rand(3, 2, 4, device="cuda")
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([3, 2]))
        found.append(said(lambda one=layer, given=x: one(given)[0].sum().backward()))
        found.append(said(lambda one=layer, given=packed: one(given)[0].data.sum().backward()))
        with torch.backends.cudnn.flags(enabled=False):
            found.append(said(lambda one=layer, given=x: one(given)[0].sum().backward()))
        found.append(said(lambda one=layer, given=x: one.train()(given)[0].sum().backward()))
        found.append(said(lambda one=layer, given=x: [part.dtype for part in one.half()(given.half())[:1]]))
        with torch.autocast("cuda"):
            found.append(said(lambda one=layer.float(), given=x: one(given)[0]))
        found.append(said(lambda one=layer, given=x: one(given.double())))
    return found


@probe
def recurrent_memory() -> Any:
    layer = nn.LSTM(8, 16, 2, dropout=0.5).cuda()
    x = torch.rand(5, 3, 8, device="cuda")
    weights = [(one.shape, one.data_ptr() == layer._flat_weights[0].data_ptr()) for one in layer._flat_weights[:2]]
    whole = layer._flat_weights[0].untyped_storage().nbytes()
    out, (h, c) = layer(x)
    return (
        plain(weights),
        whole,
        plain([out, h, c]),
        waits(lambda: layer(x)),
        waits(lambda: layer(x)[0].sum().backward()),
    )


@probe
def integers_without_kernels() -> Any:
    x = torch.ones(1, 1, 4, 4, dtype=torch.int64, device="cuda")
    calls: list[Callable[[torch.Tensor], Any]] = [
        *(lambda x: functional.conv2d(x, x[:, :, :2, :2]), lambda x: functional.conv1d(x[:, :, 0], x[:, :, 0, :2])),
        *(lambda x: functional.conv2d(x, x, dilation=2), lambda x: functional.conv3d(x[None], x[None])),
        *(lambda x: functional.conv_transpose2d(x, x), lambda x: functional.max_pool2d(x, 2)),
        *(lambda x: functional.avg_pool2d(x, 2), lambda x: functional.avg_pool3d(x.expand(1, 4, 4, 4), 2)),
        *(lambda x: x[0, 0] @ x[0, 0], lambda x: functional.adaptive_avg_pool2d(x, 1), lambda x: x[0, 0] @ x[0, 0, 0]),
        *(lambda x: x[0] @ x[0], lambda x: torch.dot(x[0, 0, 0], x[0, 0, 0]), lambda x: functional.linear(x, x[0, 0])),
        *(lambda x: torch.einsum("abcd,abcd->", x, x), lambda x: torch.cdist(x, x), lambda x: x.float().histc(3)),
        *(lambda x: torch.histogram(x.float(), 3), lambda x: functional.interpolate(x.byte(), scale_factor=2.0)),
        *(lambda x: functional.interpolate(x.byte(), scale_factor=2.0, mode="bilinear"), lambda x: x.half().angle()),
        *(lambda x: functional.softmax(x, 0), lambda x: x.mean(), lambda x: x.bool().cumsum(0), lambda x: x.norm()),
        *(lambda x: functional.one_hot(x), lambda x: torch.bincount(x.flatten()), lambda x: x.bool().sort()),
        *(lambda x: torch.inverse(x[0, 0].half()), lambda x: torch.fft.fft(x.half()), lambda x: x.bfloat16().erfinv()),
        *(lambda x: torch.fft.fft(x.bfloat16()), lambda x: torch.fft.fft(x[..., :3].half()), lambda x: x - x.bool()),
        *(
            lambda x: -x.bool(),
            lambda x: x.bool() - x.bool(),
            lambda x: x << 1,
            lambda x: x / 0,
            lambda x: x.half() << 1,
        ),
    ]
    return [said(lambda call=one: call(x)) for one in calls]


@probe
def small_dtypes() -> Any:
    x = torch.rand(16, 16, device="cuda")
    one = ones()
    found: list[Any] = []
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e8m0fnu, torch.float4_e2m1fn_x2, torch.uint16):
        low = said(lambda kind=dtype: x.to(kind))
        found.append(low)
        if not str(low).startswith("!"):
            low = x.to(dtype)
            for call in (
                *(lambda y: y + y, lambda y: y.float(), lambda y: y @ y, lambda y: y == y, lambda y: y.sum()),
                *(lambda y: torch._scaled_mm(y, y.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16),),
                *(lambda y: y.abs(), lambda y: torch.cat([y, y]), lambda y: y.clone(), lambda y: y[0], lambda y: -y),
                *(lambda y: y.tolist()[0][:1], lambda y: torch.zeros_like(y), lambda y: y.fill_(1), lambda y: y.max()),
                *(lambda y: y[y.float() > 0.5].dim(), lambda y: y.index_select(0, torch.tensor([0], device="cuda"))),
            ):
                found.append(said(lambda run=call, y=low: run(y)))
    small = ones(2, 2, dtype=torch.int8)
    big = ones(32, 32, dtype=torch.int8)
    return [*found, said(lambda: torch._int_mm(small, small)), said(lambda: torch._int_mm(big, big))]


@probe
def old_constructors() -> Any:
    x: Any = ones(2, dtype=torch.int64)
    found = [said(call) for call in (
        *(lambda: x.new(2), lambda: x.new([1, 2]), lambda: x.new(x.shape), lambda: x.new(), lambda: x.new(x)),
        *(lambda: x.new(2, device="cpu"), lambda: x.new_tensor([1.5]), lambda: x.new(torch.ones(2))),
        *(lambda: torch.cuda.FloatTensor(2, 3), lambda: torch.cuda.LongTensor([1]), lambda: torch.cuda.BoolTensor(2)),
        *(lambda: torch.cuda.FloatTensor(x), lambda: torch.Tensor([1, 2], device="cuda")),
        *(lambda: x.type("torch.cuda.FloatTensor"), lambda: x.type(torch.FloatTensor), lambda: x.type()),
    )]  # fmt: skip
    warnings.simplefilter("ignore")
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    kinds: Any = [torch.Tensor([1.0]), torch.Tensor(2, 3), torch.Tensor(), torch.ones(2), torch.FloatTensor([1.0])]
    return (
        found,
        plain(kinds),
        said(lambda: torch.randperm(3)),
        said(lambda: torch.from_numpy(torch.ones(1).cpu().numpy())),
    )


@probe
def types() -> Any:
    weight = nn.Linear(2, 2).cuda().weight
    kind: Any = type(weight)
    return [
        *(str(kind), kind == nn.Parameter, kind in (nn.Parameter,), kind == torch.Tensor, str(type(weight.data))),
        *(type(weight.data) == torch.Tensor, isinstance(weight.data, torch.Tensor), isinstance(weight, nn.Parameter)),
        *(isinstance(weight + 1, nn.Parameter), kind.__name__, kind.__module__, type(weight.grad) is type(None)),
        *(isinstance(weight, torch.cuda.FloatTensor), isinstance(weight, torch.FloatTensor), repr(weight.data.dtype)),
    ]


@probe
def compiled() -> Any:
    module = nn.Sequential(nn.Linear(2, 2)).cuda()
    made: Any = torch.compile(module)
    x = ones(1, 2)
    same = torch.allclose(made(x), module(x), atol=1e-5)
    return type(made).__name__, made._orig_mod is module, list(made.state_dict()), same, said(lambda: made(x.cpu()))


@probe
def pinned_buffers() -> Any:
    host = torch.zeros(4).pin_memory()
    there = host.to("cuda", non_blocking=True)
    torch.cuda.synchronize()
    back = torch.empty(4, pin_memory=True)
    return [
        *(waits(lambda: host.to("cuda", non_blocking=True)), waits(lambda: host.to("cuda"))),
        *(waits(lambda: torch.zeros(4).to("cuda")), waits(lambda: torch.zeros(4).to("cuda", non_blocking=True))),
        *(waits(lambda: back.copy_(there, non_blocking=True)), waits(lambda: back.copy_(there))),
        *(waits(lambda: there.cpu()), waits(lambda: there.to("cpu", non_blocking=True)), back.is_pinned()),
        *(there.to("cpu", non_blocking=True).is_pinned(), host[1:].is_pinned(), host.clone().is_pinned()),
        *(torch.empty_like(host).is_pinned(), said(lambda: there.pin_memory()), host.untyped_storage().is_pinned()),
        *(torch.zeros_like(host, pin_memory=True).is_pinned(), host.pin_memory() is host, host.is_pinned("cuda")),
    ]


@probe
def tensors_as_learning_rates() -> Any:
    found: list[Any] = []
    for name in ("Adam", "AdamW", "SGD", "Adagrad", "NAdam", "RMSprop"):
        for options in ({"fused": True}, {"foreach": True}, {"capturable": True}, {}):
            for rate in (torch.tensor(0.1), ones() * 0.1):

                def step(name: str = name, options: Any = options, rate: Any = rate) -> Any:
                    torch.manual_seed(0)
                    layer = nn.Linear(2, 2).cuda()
                    optimizer = getattr(torch.optim, name)(layer.parameters(), lr=rate, **options)
                    layer(ones(1, 2)).sum().backward()
                    optimizer.step()
                    return [round(one, 4) for one in layer.weight.detach().flatten().tolist()]

                found.append([name, str(options), str(rate.device), said(step)])
    return found


# -- waits, memory, errors --------------------------------------------------------------------------------------------


@probe
def what_the_host_waits_for() -> Any:
    x = torch.rand(8, 8, device="cuda") + torch.eye(8, device="cuda")
    row, mask = x[0], x > 0.5
    index = torch.tensor([0, 1], device="cuda")
    text: dict[str, Callable[[], Any]] = {
        "item": lambda: x[0, 0].item(), "bool": lambda: bool(x.sum() > 0), "tolist": lambda: row.tolist(),
        "nonzero": lambda: x.nonzero(), "where": lambda: torch.where(mask), "mask": lambda: x[mask],
        "mask set": lambda: x.__setitem__(mask, 1.0), "index": lambda: x[index], "host index": lambda: x[[0, 1]],
        "host tensor index": lambda: x[torch.tensor([0, 1])], "index_put": lambda: x.index_put((index,), row),
        "masked_select": lambda: x.masked_select(mask), "masked_fill": lambda: x.masked_fill(mask, 0),
        "unique": lambda: x.unique(), "equal": lambda: torch.equal(x, x), "allclose": lambda: torch.allclose(x, x),
        "unique_consecutive": lambda: x.unique_consecutive(), "bincount": lambda: torch.bincount(index),
        "bincount minlength": lambda: torch.bincount(index, minlength=4), "one_hot": lambda: functional.one_hot(index),
        "one_hot classes": lambda: functional.one_hot(index, 4), "repeat_interleave": lambda: x.repeat_interleave(2, 0),
        "repeat_interleave tensor": lambda: row[:2].repeat_interleave(index),
        "repeat_interleave size": lambda: row[:2].repeat_interleave(index, output_size=1),
        "histc": lambda: torch.histc(x), "histc range": lambda: torch.histc(x, min=0, max=1),
        "eigh": lambda: torch.linalg.eigh(x), "eigvalsh": lambda: torch.linalg.eigvalsh(x),
        "svd": lambda: torch.linalg.svd(x), "svdvals": lambda: torch.linalg.svdvals(x),
        "eig": lambda: torch.linalg.eig(x), "pinv": lambda: torch.linalg.pinv(x), "qr": lambda: torch.linalg.qr(x),
        "matrix_rank": lambda: torch.linalg.matrix_rank(x), "det": lambda: torch.linalg.det(x),
        "inv": lambda: torch.linalg.inv(x), "solve": lambda: torch.linalg.solve(x, x),
        "cholesky": lambda: torch.linalg.cholesky(x @ x.T + 8 * torch.eye(8, device="cuda")),
        "cholesky_ex": lambda: torch.linalg.cholesky_ex(x), "lu": lambda: torch.linalg.lu(x),
        "lstsq": lambda: torch.linalg.lstsq(x, x), "slogdet": lambda: torch.linalg.slogdet(x),
        "matrix_exp": lambda: torch.linalg.matrix_exp(x), "cond": lambda: torch.linalg.cond(x),
        "matrix_norm 2": lambda: torch.linalg.matrix_norm(x, 2), "vector_norm": lambda: torch.linalg.vector_norm(x),
        "normal": lambda: torch.normal(x, x.abs()), "normal std": lambda: torch.normal(x, 1.0),
        "multinomial": lambda: torch.multinomial(row.abs(), 2), "bernoulli": lambda: torch.bernoulli(x.clamp(0, 1)),
        "poisson": lambda: torch.poisson(x.abs()), "randperm": lambda: torch.randperm(100, device="cuda"),
        "sort": lambda: x.sort(), "topk": lambda: x.topk(2), "median": lambda: x.median(),
        "kthvalue": lambda: row.kthvalue(2), "mode": lambda: x.mode(), "quantile": lambda: x.quantile(0.5),
        "nanmedian": lambda: x.nanmedian(), "searchsorted": lambda: torch.searchsorted(row, row),
        "cumsum": lambda: x.cumsum(0), "tensor": lambda: torch.tensor([1.0], device="cuda"),
        "tensor number": lambda: torch.tensor(1.0, device="cuda"), "full": lambda: torch.full((2,), 1.0, device="cuda"),
        "arange": lambda: torch.arange(5, device="cuda"), "linspace": lambda: torch.linspace(0, 1, 5, device="cuda"),
        "arange of tensor": lambda: torch.arange(x.shape[0], device="cuda"), "print": lambda: repr(x),
        "set item number": lambda: x.__setitem__((0, 0), 1.0), "set item": lambda: x.__setitem__(0, row),
        "set item host": lambda: x.__setitem__(0, torch.ones(8)), "fill_ tensor": lambda: x.fill_(row[0]),
        "fill_ host": lambda: x.fill_(torch.tensor(1.0)), "clamp host": lambda: x.clamp(max=torch.tensor(1.0)),
        "add host": lambda: x + torch.tensor(1.0), "slice by tensor": lambda: x[: index[1]],
        "range of tensor": lambda: x[index[0]], "min": lambda: min(row), "sum of list": lambda: sum(row),
        "in": lambda: 1.0 in row, "len": lambda: len(x), "isnan any": lambda: bool(x.isnan().any()),
        "any": lambda: x.isnan().any(), "max": lambda: x.max(), "argmax": lambda: x.argmax(), "iter": lambda: list(x),
        "synchronize": lambda: torch.cuda.synchronize(), "stream": lambda: torch.cuda.current_stream().synchronize(),
        "event": lambda: torch.cuda.Event().synchronize(), "to dtype": lambda: x.to(torch.float64),
        "cross_entropy": lambda: functional.cross_entropy(x, index.repeat(4)),
        "embedding": lambda: functional.embedding(index, x), "nll": lambda: functional.nll_loss(x, index.repeat(4)),
        "embedding_bag": lambda: functional.embedding_bag(index[None], x), "scatter": lambda: x.scatter(0, index[None], 1),
        "ctc": lambda: functional.ctc_loss(x[:, None].log_softmax(2), index[None] + 1, torch.tensor([8]), torch.tensor([2])),
        "clip": lambda: nn.utils.clip_grad_norm_([x], 1.0), "dropout": lambda: functional.dropout(x),
        "interpolate": lambda: functional.interpolate(x[None, None], scale_factor=2),
        "cartesian_prod": lambda: torch.cartesian_prod(row, row), "combinations": lambda: torch.combinations(row),
        "pad_sequence": lambda: nn.utils.rnn.pad_sequence([row, row[:1]]), "block_diag": lambda: torch.block_diag(x, x),
        "split sizes": lambda: x.split([4, 4]), "tensor_split": lambda: x.tensor_split(torch.tensor([2])),
        "triu_indices": lambda: torch.triu_indices(3, 3, device="cuda"), "isin": lambda: torch.isin(x, row),
        "vander": lambda: torch.vander(row), "cdist": lambda: torch.cdist(x, x), "trapz": lambda: torch.trapezoid(x),
        "fft": lambda: torch.fft.fft(x), "rfft": lambda: torch.fft.rfft(x), "cov": lambda: x.cov(),
        "corrcoef": lambda: x.corrcoef(), "bucketize": lambda: torch.bucketize(x, row.sort()[0]),
        "nan_to_num": lambda: x.nan_to_num(), "roll": lambda: x.roll(1), "flip": lambda: x.flip(0), "rot90": lambda: x.rot90(),
        "as_tensor": lambda: torch.as_tensor([1.0, 2.0], device="cuda"), "from list": lambda: x.new_tensor([1.0, 2.0]),
        "MHA": lambda: attention(x[None], x[None], x[None]), "batch norm": lambda: norm(x), "LSTM": lambda: lstm(x[None]),
        "to_sparse": lambda: x.to_sparse(), "coalesce": lambda: x.to_sparse().coalesce(),
        "Categorical": lambda: torch.distributions.Categorical(row.abs()).sample(),
        "Normal": lambda: torch.distributions.Normal(x, x.abs() + 1).sample(),
        "GradScaler": lambda: _scaled(), "Adam": lambda: _stepped(torch.optim.Adam), "SGD": lambda: _stepped(torch.optim.SGD),
        "AdamW fused": lambda: _stepped(torch.optim.AdamW, fused=True), "backward": lambda: (weight * x).sum().backward(),
        "RMSprop": lambda: _stepped(torch.optim.RMSprop), "LBFGS": lambda: _stepped(torch.optim.LBFGS),
    }  # fmt: skip
    attention, norm, lstm = nn.MultiheadAttention(8, 2).cuda(), nn.BatchNorm1d(8).cuda(), nn.LSTM(8, 8).cuda()
    weight = ones(8, 8).requires_grad_()
    warnings.simplefilter("ignore")
    return {name: said(lambda run=call: waits(run)) for name, call in text.items()}


def _stepped(kind: Any, **options: Any) -> None:
    layer = nn.Linear(2, 2, device="cuda")
    optimizer = kind(layer.parameters(), lr=0.1, **options)

    def loss() -> Any:
        optimizer.zero_grad()
        found = layer(ones(1, 2)).sum()
        found.backward()
        return found

    loss()
    optimizer.step(*([loss] if kind is torch.optim.LBFGS else []))


def _scaled() -> None:
    layer = nn.Linear(2, 2, device="cuda")
    optimizer, scaler = torch.optim.SGD(layer.parameters(), lr=0.1), torch.amp.GradScaler("cuda")
    scaler.scale(layer(ones(1, 2)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()


@probe
def memory_of_results() -> Any:
    x, y = torch.rand(256, 256, device="cuda"), torch.rand(256, 256, device="cuda", requires_grad=True)
    layer = nn.Linear(256, 256).cuda()
    calls: list[Callable[[], Any]] = [
        *(lambda: ones(1), lambda: ones(0), lambda: ones(1000), lambda: ones(1 << 20), lambda: x.clone()),
        *(lambda: x + x, lambda: x.T, lambda: x.T.contiguous(), lambda: x[1:], lambda: x.expand(3, 256, 256)),
        *(
            lambda: x @ x,
            lambda: y.exp(),
            lambda: y.exp().sin(),
            lambda: layer(x),
            lambda: layer(x).relu(),
            lambda: y.softmax(0),
        ),
        *(lambda: functional.dropout(y, 0.5), lambda: functional.layer_norm(y, (256,)), lambda: functional.gelu(y)),
        *(
            lambda: x.sort(),
            lambda: x.half(),
            lambda: x.to(torch.float32),
            lambda: x > 0,
            lambda: y.max(1),
            lambda: y.sum(),
        ),
        *(lambda: functional.cross_entropy(y, ones(256, dtype=torch.int64)), lambda: functional.relu(y)),
        *(lambda: torch.cat([x, x]), lambda: y * x, lambda: y * 2, lambda: y.pow(2), lambda: torch.where(x > 0, y, x)),
        *(
            lambda: functional.conv2d(y[None, None], x[None, None, :3, :3]),
            lambda: functional.max_pool2d(y[None, None], 2),
        ),
        *(lambda: functional.batch_norm(y, None, None, training=True), lambda: functional.group_norm(y[None], 8)),
        *(lambda: functional.embedding(ones(64, dtype=torch.int64), y), lambda: y[ones(64, dtype=torch.int64)]),
        *(
            lambda: y.norm(),
            lambda: y.std(0),
            lambda: y.cumsum(0),
            lambda: functional.silu(y),
            lambda: functional.elu(y),
        ),
        *(
            lambda: functional.log_softmax(y, 1),
            lambda: functional.mse_loss(y, x),
            lambda: y.clamp(0, 1),
            lambda: y.abs(),
        ),
        *(
            lambda: torch.addmm(x, y, x),
            lambda: torch.baddbmm(x[None], y[None], x[None]),
            lambda: y.sigmoid(),
            lambda: y.T @ x,
        ),
        *(
            lambda: functional.interpolate(y[None, None], scale_factor=2),
            lambda: functional.pad(y, (1, 1)),
            lambda: y.tanh(),
        ),
        *(
            lambda: nn.LSTM(256, 8, device="cuda")(y)[0],
            lambda: nn.GRU(256, 8, device="cuda")(y)[0],
            lambda: y.unfold(0, 2, 1),
        ),
        *(
            lambda: torch.linalg.solve(y, x),
            lambda: torch.linalg.inv(y),
            lambda: y.repeat(2, 2),
            lambda: y.prod(),
            lambda: y.mean(0),
        ),
    ]
    return [said(lambda run=call: taken(run)) for call in calls]


@probe
def memory_of_training() -> Any:
    torch.cuda.empty_cache()
    found: list[Any] = []
    for kind, options in ((torch.optim.SGD, {}), (torch.optim.SGD, {"momentum": 0.9}), (torch.optim.Adam, {}),
                          (torch.optim.AdamW, {"fused": True}), (torch.optim.Adam, {"foreach": False})):  # fmt: skip
        gc.collect()
        base = torch.cuda.memory_allocated()
        model = nn.Sequential(*[nn.Linear(512, 512) for _ in range(4)]).cuda()
        row = [torch.cuda.memory_allocated() - base]
        optimizer = kind(model.parameters(), lr=0.1, **options)
        x = torch.rand(64, 512, device="cuda")
        loss = model(x).sum()
        row.append(torch.cuda.memory_allocated() - base)
        loss.backward()
        row.append(torch.cuda.memory_allocated() - base)
        optimizer.step()
        row.append(torch.cuda.memory_allocated() - base)
        optimizer.zero_grad()
        row.append(torch.cuda.memory_allocated() - base)
        found.append(row)
        del model, optimizer, x, loss
    return found


@probe
def peak_of_training() -> Any:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(8)]).cuda()
    x = torch.rand(4096, 512, device="cuda")
    (model(x[:1]).sum()).backward()
    found = []
    for forward in (lambda: model(x), lambda: checkpoint(model, x, use_reentrant=False)):
        model.zero_grad()
        torch.cuda.reset_peak_memory_stats()
        base = torch.cuda.memory_allocated()
        loss = forward().sum()
        held = torch.cuda.memory_allocated() - base
        loss.backward()
        found.append([held >> 20, (torch.cuda.max_memory_allocated() - base) >> 20])
    return found


@probe
def out_of_memory() -> Any:
    limit = torch.cuda.get_device_properties(0).total_memory
    found = [said(lambda: torch.empty(4 * limit, dtype=torch.uint8, device="cuda"))[:70]]
    torch.cuda.set_per_process_memory_fraction(1e-4)
    found.append(said(lambda: torch.ones(1 << 26, device="cuda"))[:70])
    stats = torch.cuda.memory_stats()
    return found, stats["num_ooms"], stats["num_alloc_retries"] >= 0, issubclass(torch.OutOfMemoryError, RuntimeError)


@probe
def asserts_of_the_device() -> Any:
    x = ones(3)
    y = x[torch.tensor([7], device="cuda")]
    first = said(lambda: torch.cuda.synchronize())
    return plain(y.shape), first, said(lambda: x + 1), said(lambda: x.tolist()), said(lambda: torch.ones(1).cuda())


@probe
def asserts_of_a_loss() -> Any:
    loss = functional.cross_entropy(torch.rand(4, 3, device="cuda"), torch.tensor([0, 1, 2, 3], device="cuda"))
    return said(lambda: loss.item()), said(lambda: torch.cuda.memory_allocated() > 0)


@probe
def asserts_of_embedding() -> Any:
    out = functional.embedding(torch.tensor([9], device="cuda"), ones(3, 2))
    return plain(out.shape), said(lambda: out.cpu())


@probe
def asserts_of_scatter() -> Any:
    x = ones(3)
    out = said(lambda: x.scatter(0, torch.tensor([9], device="cuda"), 1.0))
    return out, said(lambda: torch.cuda.synchronize()), said(lambda: x.sum().item())


@probe
def asserts_of_gather() -> Any:
    out = said(lambda: ones(3).gather(0, torch.tensor([-1], device="cuda")))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_bce() -> Any:
    out = said(lambda: functional.binary_cross_entropy(2 * ones(3), ones(3)))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_multinomial() -> Any:
    out = said(lambda: torch.multinomial(-ones(3), 1))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_multinomial_of_zeros() -> Any:
    out = said(lambda: torch.multinomial(0 * ones(3), 1))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_bernoulli() -> Any:
    out = said(lambda: torch.bernoulli(2 * ones(3)))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_one_hot() -> Any:
    out = said(lambda: functional.one_hot(torch.tensor([5], device="cuda"), 3))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_index_select() -> Any:
    out = said(lambda: ones(3).index_select(0, torch.tensor([5], device="cuda")))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_bags() -> Any:
    bag = nn.EmbeddingBag(3, 2).cuda()
    out = said(lambda: bag(torch.tensor([[9]], device="cuda")))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_put() -> Any:
    out = said(lambda: ones(3).index_put_((torch.tensor([5], device="cuda"),), ones(1)))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_add() -> Any:
    out = said(lambda: ones(3).index_add_(0, torch.tensor([5], device="cuda"), ones(1)))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_take() -> Any:
    out = said(lambda: ones(3).take(torch.tensor([5], device="cuda")))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def asserts_of_assert() -> Any:
    out = said(lambda: torch._assert_async(ones(1) * 0))
    return out, said(lambda: torch.cuda.synchronize())


@probe
def errors_of_linear_algebra() -> Any:
    zero = torch.zeros(3, 3, device="cuda")
    nan = zero + float("nan")
    calls: list[Callable[[], Any]] = [
        *(lambda: torch.linalg.inv(zero), lambda: torch.linalg.cholesky(-ones(1, 1)), lambda: torch.linalg.eigh(nan)),
        *(lambda: torch.linalg.svd(nan), lambda: torch.linalg.solve(zero, zero), lambda: torch.linalg.eig(nan)),
        *(lambda: torch.linalg.lstsq(zero, zero), lambda: torch.linalg.qr(nan), lambda: torch.linalg.det(zero)),
        *(
            lambda: torch.linalg.lstsq(zero, zero, driver="gelsd"),
            lambda: torch.linalg.pinv(nan),
            lambda: torch.geqrf(zero),
        ),
        *(
            lambda: torch.linalg.inv(zero.half()),
            lambda: torch.linalg.ldl_factor(zero),
            lambda: torch.linalg.eigvals(zero),
        ),
    ]
    return [said(call) for call in calls]


@probe
def devices_mixed() -> Any:
    x, c = ones(2), torch.ones(2)
    square, other = ones(2, 2), torch.ones(2, 2)
    index = torch.tensor([0, 1])
    calls: list[Callable[[], Any]] = [
        *(lambda: x + c, lambda: c + x, lambda: x.add_(c), lambda: c.add_(x), lambda: square @ other, lambda: other @ square),
        *(lambda: torch.cat([x, c]), lambda: torch.cat([c, x]), lambda: torch.stack([x, c]), lambda: torch.where(x > 0, x, c)),
        *(lambda: torch.where(c > 0, x, x), lambda: nn.Linear(2, 2).cuda()(c), lambda: nn.Linear(2, 2)(x)),
        *(lambda: nn.Conv2d(1, 1, 1)(square[None, None]), lambda: nn.Conv2d(1, 1, 1).cuda()(other[None, None])),
        *(lambda: nn.Embedding(3, 2).cuda()(index), lambda: nn.Embedding(3, 2)(index.cuda())),
        *(lambda: functional.cross_entropy(square, index), lambda: functional.cross_entropy(other, index.cuda())),
        *(lambda: functional.mse_loss(x, c), lambda: functional.mse_loss(c, x), lambda: nn.BatchNorm1d(2).cuda()(other)),
        *(lambda: nn.BatchNorm1d(2)(square), lambda: nn.LayerNorm(2).cuda()(other), lambda: nn.LayerNorm(2)(square)),
        *(lambda: nn.LSTM(2, 2).cuda()(other), lambda: nn.LSTM(2, 2)(square), lambda: c[index.cuda()], lambda: x[index]),
        *(lambda: x.gather(0, index), lambda: c.gather(0, index.cuda()), lambda: x.index_select(0, index)),
        *(lambda: x.masked_fill(c > 0, 0.0), lambda: x.masked_fill(x > 0, torch.tensor(1.0)), lambda: torch.dot(x, c)),
        *(lambda: torch.einsum("i,i->", x, c), lambda: torch.bmm(other[None], square[None]), lambda: torch.outer(x, c)),
        *(lambda: x.scatter(0, index, c), lambda: x.scatter_add(0, index.cuda(), c), lambda: x.index_add(0, index.cuda(), c)),
        *(lambda: x.index_put((index,), c), lambda: x.index_put((index.cuda(),), c), lambda: torch.lerp(x, x, c)),
        *(lambda: x.lerp(x, torch.tensor(0.5)), lambda: torch.addmm(square, other, square), lambda: torch.clamp(x, max=c)),
        *(lambda: torch.maximum(x, c), lambda: x == c, lambda: torch.equal(x, c), lambda: torch.allclose(x, c)),
        *(lambda: torch.isin(x, c), lambda: torch.bucketize(x, c), lambda: torch.searchsorted(c, x), lambda: x.take(index)),
        *(lambda: x.masked_select(c > 0), lambda: x[c > 0], lambda: x.copy_(c), lambda: x.type_as(c), lambda: x.expand_as(c)),
        *(lambda: functional.scaled_dot_product_attention(square[None], square[None], other[None]), lambda: x.dot(c)),
        *(lambda: torch.add(x, x, out=torch.empty(2)), lambda: torch.mm(square, square, out=torch.empty(2, 2))),
        *(lambda: torch.sum(x, 0, out=torch.empty(())), lambda: nn.PReLU()(x), lambda: nn.GRU(2, 2).cuda()(square, other)),
        *(lambda: functional.embedding_bag(index[None], square), lambda: x.to_sparse() + c, lambda: torch._foreach_add([x], [c])),
        *(lambda: nn.MultiheadAttention(2, 1).cuda()(other, other, other), lambda: torch.meshgrid(x, c, indexing="ij")),
        *(lambda: torch.linalg.solve(square, other), lambda: torch.cross(ones(3), torch.ones(3), dim=0), lambda: x.cov(fweights=index)),
        *(lambda: functional.grid_sample(ones(1, 1, 2, 2), torch.ones(1, 1, 1, 2)), lambda: torch.cdist(square, other)),
        *(lambda: functional.nll_loss(square, index), lambda: functional.binary_cross_entropy(x, c), lambda: torch.kron(x, c)),
        *(lambda: functional.kl_div(x, c), lambda: functional.pad(x, (1, 1), value=1), lambda: torch.polar(x, c)),
        *(lambda: functional.interpolate(square[None, None], size=torch.tensor(4)), lambda: torch.complex(x, c)),
        *(lambda: torch.normal(x, c), lambda: torch.distributions.Normal(x, c).sample(), lambda: torch.bincount(index.cuda(), c)),
        *(lambda: torch.tensordot(square, other), lambda: torch.cumulative_trapezoid(x, c), lambda: torch.block_diag(x, c)),
        *(lambda: functional.cosine_similarity(x, c, 0), lambda: functional.ctc_loss(square[:, None], index[None], index, index)),
    ]  # fmt: skip
    warnings.simplefilter("ignore")
    return [said(call) for call in calls]


@probe
def convolutions_of_two_devices() -> Any:
    found = []
    for channels, size, batch in ((1, 2, 1), (3, 8, 1), (3, 8, 16), (64, 16, 32)):
        layer, x = nn.Conv2d(channels, 8, min(size, 3)).cuda(), torch.ones(batch, channels, size, size)
        found.append(
            [said(lambda one=layer, given=x: one(given)), said(lambda one=layer, given=x: one.cpu()(given.cuda()))]
        )
    return found


# -- streams, events, graphs, precision, files ------------------------------------------------------------------------


@probe
def streams_and_events() -> Any:
    side = torch.cuda.Stream()
    event = torch.cuda.Event()
    timed = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    found: list[Any] = [
        *(side.query(), event.query(), side == torch.cuda.current_stream(), torch.cuda.default_stream().cuda_stream),
        *(plain(torch.cuda.Stream.priority_range()), torch.cuda.Stream(priority=-1).priority, side.priority),
        *(said(lambda: event.elapsed_time(event)), said(lambda: timed[0].elapsed_time(timed[1])), str(event.device)),
        *(said(lambda: event.wait()), said(lambda: event.synchronize()), said(lambda: side.wait_event(event))),
        *(
            repr(torch.cuda.current_stream()),
            said(lambda: side.device_type),
            said(lambda: side.device_index),
            said(lambda: side.stream_id > 0),
        ),
        *(repr(torch.cuda.Event()), said(lambda: event.ipc_handle()), said(lambda: torch.cuda.set_stream(None))),
        *(said(lambda: torch.cuda.Stream(device="cpu")), said(lambda: torch.cuda.Stream(device="cuda:3"))),
    ]
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        event.record()
        found += [event.query(), side.query(), torch.cuda.current_stream() == side, torch.cuda.default_stream().query()]
    event.synchronize()
    found += [event.query(), side.query(), str(event.device)]
    timed[0].record()
    found.append(said(lambda: timed[0].elapsed_time(timed[1])))
    torch.cuda._sleep(1_000_000)
    timed[1].record()
    early = said(lambda: timed[0].elapsed_time(timed[1]))
    torch.cuda.synchronize()
    found += [early if isinstance(early, str) else "a number", timed[0].elapsed_time(timed[1]) > 0]
    with torch.cuda.stream(None):
        found.append(torch.cuda.current_stream() == torch.cuda.default_stream())
    return [*found, said(_generic_stream)]


def _generic_stream() -> Any:
    with torch.Stream("cuda") as generic:
        return torch.accelerator.current_stream() == generic, torch.cuda.current_stream().cuda_stream != 0


@probe
def what_a_launch_does_not_wait_for() -> Any:
    x = ones(2)
    torch.cuda.synchronize()
    event = torch.cuda.Event()
    calls: dict[str, Callable[[], Any]] = {
        "add": lambda: x + 1, "copy": lambda: x.clone(), "tensor": lambda: torch.tensor([1.0], device="cuda"),
        "to cuda": lambda: torch.ones(2).to("cuda"), "large to cuda": lambda: torch.ones(1 << 22).to("cuda"),
        "to cuda, not blocking": lambda: torch.ones(1 << 22).to("cuda", non_blocking=True),
        "pinned, not blocking": lambda: torch.ones(2, pin_memory=True).to("cuda", non_blocking=True),
        "pinned": lambda: torch.ones(2, pin_memory=True).to("cuda"), "cpu": lambda: x.cpu(), "item": lambda: x.sum().item(),
        "mask": lambda: x[x > 0], "empty": lambda: torch.empty(1 << 20, device="cuda"), "sort": lambda: x.sort(),
        "cpu, not blocking": lambda: x.to("cpu", non_blocking=True), "empty_cache": lambda: torch.cuda.empty_cache(),
        "set host number": lambda: x.__setitem__(0, 2.0), "host index": lambda: x[[0]], "multinomial": lambda: x.multinomial(1),
        "linalg.inv": lambda: torch.linalg.inv(torch.eye(3, device="cuda")), "randperm": lambda: torch.randperm(9, device="cuda"),
        "linalg.eigh": lambda: torch.linalg.eigh(torch.eye(3, device="cuda")), "one_hot": lambda: functional.one_hot(x.long()),
        "memory_stats": lambda: torch.cuda.memory_stats(), "synchronize": lambda: torch.cuda.synchronize(),
    }  # fmt: skip
    found = {}
    for name, call in calls.items():
        call()  # what is loaded at the first call
        torch.cuda.synchronize()
        torch.cuda._sleep(200_000_000)
        event.record()
        call()
        found[name] = "does not wait" if not event.query() else "waits"
    return found


@probe
def graphs() -> Any:
    x = ones(4)

    def captured(call: Callable[[], Any]) -> Any:
        graph = torch.cuda.CUDAGraph()

        def run() -> Any:
            with torch.cuda.graph(graph):
                made = call()
            graph.replay()
            return made.tolist() if isinstance(made, torch.Tensor) else made

        return said(run)

    calls: list[Callable[[], Any]] = [
        *(lambda: x * 2, lambda: torch.zeros(2, device="cuda") + 1, lambda: x.clone(), lambda: x.view(2, 2)),
        *(lambda: (torch.rand(2, device="cuda") >= 0).float(), lambda: functional.dropout(x, 0.0), lambda: x.cumsum(0)),
    ]
    return [captured(call) for call in calls]


def _captured_alone(call: Callable[[torch.Tensor], Any]) -> Any:
    x = ones(4)
    call(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()

    def run() -> None:
        with torch.cuda.graph(graph):
            call(x)

    return said(run), said(lambda: (x + 1).tolist())


for _name, _call in {
    "item": lambda x: x.sum().item(), "copy": lambda x: x.cpu(), "synchronize": lambda x: torch.cuda.synchronize(),
    "mask": lambda x: x[x > 0], "pageable": lambda x: torch.ones(4).to("cuda"), "nonzero": lambda x: x.nonzero(),
    "event": lambda x: torch.cuda.Event().synchronize(), "host_number": lambda x: x.fill_(3.0), "print": lambda x: repr(x),
    "list": lambda x: torch.tensor([1.0], device="cuda"), "seed": lambda x: torch.cuda.manual_seed(1), "eigh": lambda x: torch.linalg.eigh(x.diag()),
    "empty_cache": lambda x: torch.cuda.empty_cache(), "query": lambda x: torch.cuda.current_stream().query(),
    "rng_state": lambda x: torch.cuda.get_rng_state(), "other_stream": lambda x: _on_another(x), "multinomial": lambda x: x.multinomial(1),
}.items():  # fmt: skip
    PROBES[f"captured_{_name}"] = lambda call=_call: _captured_alone(call)


def _on_another(x: torch.Tensor) -> None:
    with torch.cuda.stream(torch.cuda.Stream()):
        x + 1


@probe
def autocast_of_functions() -> Any:
    x, half, double = ones(2, 2), ones(2, 2).half(), ones(2, 2).double()
    calls: list[Callable[[], Any]] = [
        *(
            lambda: x @ x,
            lambda: x.exp(),
            lambda: x.sum(),
            lambda: half.sum(),
            lambda: half + x,
            lambda: half.softmax(0),
        ),
        *(
            lambda: torch.cat([half, x]),
            lambda: torch.addcmul(half, x, x),
            lambda: x.norm(),
            lambda: half.norm(),
            lambda: double @ double,
        ),
        *(
            lambda: functional.layer_norm(half, (2,)),
            lambda: functional.group_norm(half[None], 1),
            lambda: half.pow(2),
            lambda: half.prod(),
        ),
        *(
            lambda: functional.mse_loss(half, x),
            lambda: functional.binary_cross_entropy(half, half),
            lambda: functional.cross_entropy(half, half),
        ),
        *(
            lambda: torch.einsum("ij,jk", x, half),
            lambda: torch.matmul(x, half),
            lambda: torch.mm(x, double),
            lambda: half.cumsum(0),
        ),
        *(
            lambda: functional.linear(x, half),
            lambda: torch.stack([half, x]),
            lambda: torch.where(x > 0, half, x),
            lambda: half.log(),
        ),
        *(
            lambda: nn.Linear(2, 2).cuda()(x),
            lambda: nn.LSTM(2, 2).cuda()(x)[0],
            lambda: nn.GRUCell(2, 2).cuda()(x),
            lambda: half.rsqrt(),
        ),
        *(
            lambda: nn.BatchNorm1d(2).cuda()(half),
            lambda: functional.scaled_dot_product_attention(x[None], x[None], x[None]),
        ),
        *(
            lambda: torch.dot(half[0], x[0]),
            lambda: torch.cross(ones(3), ones(3).half(), dim=0),
            lambda: functional.gelu(half),
        ),
        *(
            lambda: torch.linalg.inv(half),
            lambda: x.matmul(x).dtype,
            lambda: functional.softplus(half),
            lambda: half.cosh(),
        ),
        *(
            lambda: functional.grid_sample(half[None, None], half[None, None]),
            lambda: torch.bilinear(x, half, ones(1, 2, 2), None),
        ),
        *(
            lambda: functional.embedding(ones(1, dtype=torch.int64), half),
            lambda: torch.cdist(half, half),
            lambda: half.std(),
        ),
        *(
            lambda: nn.MultiheadAttention(2, 1).cuda()(x, x, x)[0],
            lambda: functional.interpolate(half[None, None], scale_factor=2),
        ),
        *(
            lambda: torch.index_put(x, (ones(1, dtype=torch.int64),), half[0]),
            lambda: torch.baddbmm(x[None], half[None], x[None]),
        ),
    ]
    warnings.simplefilter("ignore")
    found = []
    for dtype in (torch.float16, torch.bfloat16):
        with torch.autocast("cuda", dtype=dtype):
            found.append([said(call) for call in calls])
    return found


@probe
def half_precision() -> Any:
    x, half = ones(2, 2), ones(2, 2).half()
    calls: list[Callable[[], Any]] = [
        *(
            lambda: half @ x,
            lambda: nn.Linear(2, 2).cuda()(half),
            lambda: nn.Linear(2, 2).cuda().half()(x),
            lambda: half + x,
        ),
        *(
            lambda: nn.LayerNorm(2).cuda()(half),
            lambda: nn.GroupNorm(1, 2).cuda()(half),
            lambda: nn.BatchNorm1d(2).cuda()(half),
        ),
        *(
            lambda: nn.BatchNorm1d(2).cuda().half()(x),
            lambda: nn.Conv2d(1, 1, 1).cuda()(half[None, None]),
            lambda: nn.LSTM(2, 2).cuda()(half),
        ),
        *(
            lambda: nn.Conv2d(1, 1, 1).cuda().half()(x[None, None]),
            lambda: functional.cross_entropy(half, half.argmax(1)),
            lambda: half.std(),
        ),
        *(
            lambda: functional.mse_loss(half, x),
            lambda: torch.where(x > 0, half, x),
            lambda: functional.embedding(x, x),
            lambda: half[0] @ x,
        ),
        *(
            lambda: torch.addmm(x, half, half),
            lambda: torch.baddbmm(half[None], half[None], x[None]),
            lambda: torch.dot(half[0], x[0]),
        ),
        *(
            lambda: nn.MultiheadAttention(2, 1).cuda()(half, half, half),
            lambda: functional.scaled_dot_product_attention(half[None], x[None], x[None]),
        ),
        *(
            lambda: torch.cat([half, x]),
            lambda: torch.einsum("ij,jk", half, x),
            lambda: half.double() @ x,
            lambda: half.bfloat16() + half,
        ),
        *(
            lambda: half.bfloat16() @ half,
            lambda: nn.PReLU().cuda()(half),
            lambda: functional.nll_loss(half, x),
            lambda: half.addcmul(x, x),
        ),
        *(
            lambda: functional.cross_entropy(x, x.int()[0]),
            lambda: functional.cross_entropy(x, x[0].short()),
            lambda: x.lerp(half, 0.5),
        ),
        *(
            lambda: functional.binary_cross_entropy(half, x),
            lambda: functional.kl_div(half, x),
            lambda: x.copysign(half),
            lambda: x.mm(half),
        ),
        *(
            lambda: x.index_copy(0, torch.tensor([0], device="cuda"), half[:1]),
            lambda: x.scatter(0, x.long(), half),
            lambda: x.bmm(x),
        ),
        *(
            lambda: x.index_add(0, torch.tensor([0], device="cuda"), half[:1]),
            lambda: x.masked_scatter(x > 0, half),
            lambda: x.mv(half[0]),
        ),
    ]
    warnings.simplefilter("ignore")
    return [said(call) for call in calls]


@probe
def switches() -> Any:
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    found: list[Any] = [
        *(cuda.matmul.allow_tf32, cudnn.allow_tf32, cudnn.benchmark, cudnn.deterministic, cudnn.enabled, cuda.is_built()),
        *(torch.get_float32_matmul_precision(), cuda.matmul.allow_fp16_reduced_precision_reduction),
        *(cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled(), cuda.cudnn_sdp_enabled()),
        *(str(cuda.preferred_linalg_library()), cudnn.is_available(), torch.cuda.is_bf16_supported(), torch.cuda.is_tf32_supported()),
        *(torch.cuda.get_device_capability(), torch.cuda.device_count(), torch.cuda.get_allocator_backend(), said(lambda: cuda.cufft_plan_cache.size)),
        *(torch.cuda.get_sync_debug_mode(), said(lambda: torch.cuda.nccl.is_available([ones(1)]))),
        *(said(lambda: torch.cuda.get_device_properties(0).multi_processor_count), said(lambda: torch.cuda.get_device_properties(0).warp_size)),
        *(said(lambda: torch.cuda.get_device_properties(0).major), said(lambda: torch.cuda.get_device_properties(0).L2_cache_size > 0)),
        *(said(lambda: torch.cuda.get_device_properties(0).max_threads_per_multi_processor), said(lambda: torch.cuda.get_device_name())),
        *(said(lambda: torch.cuda.get_device_properties(0).shared_memory_per_block), said(lambda: torch.cuda.get_device_properties(0).is_integrated)),
        *(said(lambda: torch.cuda.get_device_properties(0).regs_per_multiprocessor), said(lambda: torch.cuda.get_device_properties(0).gcnArchName)),
        *(said(lambda: torch.cuda.utilization() >= 0), said(lambda: torch.cuda.temperature() > 0), said(lambda: torch.cuda.clock_rate() > 0)),
        *(said(lambda: len(torch.cuda.get_arch_list()) > 0), said(lambda: torch.cuda.get_gencode_flags()[:9]), said(lambda: torch.cuda.memory_usage() >= 0)),
        *(said(lambda: torch.cuda.list_gpu_processes()[:3]), said(lambda: torch.cuda.current_blas_handle() > 0), said(lambda: len(torch.cuda.memory_snapshot()) >= 0)),
    ]  # fmt: skip
    torch.set_float32_matmul_precision("high")
    found += [cuda.matmul.allow_tf32, cuda.matmul.fp32_precision, cudnn.conv.fp32_precision]
    cuda.matmul.allow_tf32 = False
    return [*found, torch.get_float32_matmul_precision()]


@probe
def names_in_torch_cuda() -> Any:
    return sorted(name for name in vars(torch.cuda) if not name.startswith("_"))


@probe
def memory_statistics() -> Any:
    ones(1)
    return sorted(torch.cuda.memory_stats()), torch.cuda.memory_summary().splitlines()[:4]


@probe
def files() -> Any:
    def saved(thing: Any, **options: Any) -> Any:
        file = io.BytesIO()
        torch.save(thing, file)
        file.seek(0)
        return torch.load(file, **options)

    x = ones(2)
    model = nn.Linear(2, 2).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    model(x).sum().backward()
    optimizer.step()
    return [
        said(call)
        for call in (
            *(lambda: saved(x), lambda: saved(x, map_location="cpu"), lambda: saved(x, map_location="cuda:5")),
            *(lambda: saved(x, map_location={"cuda:0": "cpu"}), lambda: saved(torch.ones(1), map_location="cuda")),
            *(
                lambda: saved(model.state_dict()),
                lambda: saved(optimizer.state_dict()),
                lambda: saved(model, weights_only=False).weight,
            ),
            *(
                lambda: saved(x, map_location=lambda storage, place: storage),
                lambda: saved(x, map_location="meta"),
                lambda: saved(model),
            ),
            *(lambda: saved(x[1:]).untyped_storage().nbytes(), lambda: saved([x, x[1:]])[1].untyped_storage().nbytes()),
        )
    ]


@probe
def to_other_libraries() -> Any:
    import numpy as np

    x = ones(2)
    calls: list[Callable[[], Any]] = [
        *(lambda: x.numpy(), lambda: np.array(x), lambda: np.asarray([x]), lambda: x + np.ones(2), lambda: np.ones(2) + x),
        *(lambda: x * np.float32(2), lambda: np.float32(2) * x, lambda: np.float64(2) * x, lambda: torch.as_tensor(np.ones(2), device="cuda")),
        *(lambda: np.sum(x), lambda: np.sqrt(x), lambda: x.numpy(force=True), lambda: x.requires_grad_().numpy(), lambda: np.mean([x.detach()])),
        *(lambda: torch.from_numpy(x), lambda: sorted(x.__cuda_array_interface__), lambda: memoryview(x), lambda: bytes(x), lambda: np.array(x.cpu().detach())),
        *(lambda: x.__dlpack_device__(), lambda: torch.from_dlpack(x.detach()), lambda: np.from_dlpack(x.detach()), lambda: torch.tensor(x)),
        *(lambda: torch.utils.dlpack.to_dlpack(x.detach()).__class__.__name__, lambda: x.__array__(), lambda: torch.tensor([x.sum(), x.sum()])),
        *(lambda: torch.tensor([x.sum()], device="cuda"), lambda: torch.as_tensor(x, device="cpu"), lambda: torch.asarray(x, device="cpu")),
    ]  # fmt: skip
    warnings.simplefilter("ignore")
    return [said(call) for call in calls]


@probe
def profiles() -> Any:
    from torch.profiler import ProfilerActivity, profile

    x = torch.rand(64, 64, device="cuda")
    host = torch.rand(64)
    (x @ x).sum().item()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
        (x @ x).relu().sum().item()
        host.to("cuda")
    names = {event.key for event in found.key_averages()}
    wanted = (
        *("aten::mm", "aten::relu", "aten::sum", "aten::item", "aten::_local_scalar_dense", "cudaLaunchKernel"),
        *("cudaMemcpyAsync", "cudaStreamSynchronize", "cudaDeviceSynchronize", "Memcpy HtoD (Pageable -> Device)"),
        *(
            "Memcpy DtoH (Device -> Pageable)",
            "Memcpy DtoH (Device -> Pinned)",
            "aten::to",
            "aten::_to_copy",
            "aten::copy_",
        ),
    )
    return {name: name in names for name in wanted}


@probe
def autograd_on_the_device() -> Any:
    x = ones(2).requires_grad_()
    seen: list[Any] = []

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, given: torch.Tensor) -> torch.Tensor:
            return given * 2

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            seen.append(
                (
                    torch.is_grad_enabled(),
                    torch.is_autocast_enabled("cuda"),
                    threading.current_thread() is threading.main_thread(),
                )
            )
            return grad * 2

    own: Any = Own
    with torch.autocast("cuda"):
        out = own.apply(x).sum()
    out.backward()
    hooked = ones(2).requires_grad_()
    hooked.register_hook(lambda grad: grad.cpu())
    w = torch.ones(2, requires_grad=True)
    return seen, [
        said(call)
        for call in (
            *(lambda: (hooked * 2).sum().backward(), lambda: x.sum().backward(torch.tensor(1.0)), lambda: (x * 2).backward(ones(2))),
            *(lambda: (w.cuda() * 2).sum().backward(), lambda: w.grad, lambda: setattr(w, "grad", ones(2)), lambda: setattr(w, "data", ones(2))),
            *(lambda: w.is_cuda, lambda: (x * 2).sum().backward(gradient=torch.ones(())), lambda: torch.autograd.grad((x * 2).sum(), w)),
            *(lambda: (x * 2).backward(torch.ones(2)), lambda: (x * 2).cpu().backward(ones(2)), lambda: x.detach().requires_grad_().cpu().is_leaf),
            *(lambda: torch.autograd.gradcheck(lambda y: y * y, ones(2).double().requires_grad_()), lambda: x.grad),
            *(lambda: torch.func.jacrev(lambda y: y.sin())(x.detach()), lambda: torch.func.hessian(lambda y: (y**3).sum())(x.detach())),
        )
    ]  # fmt: skip


@probe
def smaller_calls() -> Any:
    x, c = ones(2), torch.ones(2)
    calls: list[Callable[[], Any]] = [
        *(lambda: x.share_memory_() is x, lambda: x.is_shared(), lambda: x.is_pinned(), lambda: x.data_ptr() % 512, lambda: x.set_(c.untyped_storage())),
        *(lambda: torch.frombuffer(bytearray(8), dtype=torch.float32).cuda(), lambda: x.storage().device, lambda: x.untyped_storage().device),
        *(lambda: torch.device("cuda", -1), lambda: torch.device("cuda:x"), lambda: c.to("gpu"), lambda: c.to("cuda:7"), lambda: torch.cuda.set_device(9)),
        *(lambda: torch.cuda.get_device_name(5), lambda: c.cuda("cpu"), lambda: x.cuda(non_blocking=True) is x, lambda: c.to(0), lambda: c.to(1)),
        *(lambda: x.to("meta"), lambda: torch.ones(2, device="meta").to("cuda"), lambda: x.device == "cuda", lambda: x.get_device(), lambda: hash(x.device)),
        *(lambda: nn.utils.rnn.pack_padded_sequence(ones(2, 1, 1), ones(1, dtype=torch.int64)), lambda: torch.testing.assert_close(x, c)),
        *(lambda: list(torch.utils.data.DataLoader([x], pin_memory=True)), lambda: list(torch.utils.data.DataLoader([x])), lambda: torch.Generator("cuda:3")),
        *(lambda: torch.rand(2, generator=torch.Generator("cuda")), lambda: torch.rand(2, device="cuda", generator=torch.Generator()), lambda: x.random_(3)),
        *(lambda: torch.randperm(3, generator=torch.Generator("cuda")), lambda: torch.utils.data.random_split(range(4), [2, 2], generator=torch.Generator("cuda"))),
        *(lambda: torch.cuda.comm.broadcast(x, [0]), lambda: nn.DataParallel(nn.Linear(2, 2).cuda())(x[None]), lambda: torch.cuda.comm.scatter(x, [0, 1])),
        *(lambda: nn.utils.clip_grad_norm_(nn.Linear(1, 1).cuda().parameters(), 1.0), lambda: x.__deepcopy__({}), lambda: (x + 1).is_contiguous()),
        *(lambda: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), lambda: torch.nested.nested_tensor([x, x]).is_nested, lambda: x.to_mkldnn()),
        *(lambda: torch.nested.nested_tensor([x, x], layout=torch.jagged).shape[0], lambda: x.to_sparse(), lambda: x[None].to_sparse_csr(), lambda: x.sparse_mask(x.to_sparse())),
        *(lambda: nn.LazyLinear(3).cuda()(x).shape, lambda: nn.LazyLinear(3, device="cuda")(x).shape, lambda: torch.jit.script(nn.Linear(2, 2).cuda())(x)),
        *(lambda: torch.export.export(nn.Linear(2, 2).cuda(), (x[None],)).__class__.__name__, lambda: torch.fx.symbolic_trace(nn.Linear(2, 2).cuda())(x)),
        *(lambda: x.map_(c, lambda a, b: a), lambda: x.apply_(lambda a: a), lambda: torch._foreach_norm([x, x]), lambda: x.storage_offset()),
        *(lambda: torch.empty(2, device="cuda", pin_memory=True), lambda: torch.empty_strided((2,), (1,), device="cuda"), lambda: torch.randn(2, device="cuda").to("cuda:0")),
        *(lambda: torch.accelerator.current_accelerator(), lambda: torch.accelerator.memory_allocated() >= 0, lambda: torch.get_device_module()),
        *(lambda: functional.ctc_loss(ones(4, 1, 3), ones(1, 2, dtype=torch.int64), torch.tensor([4]), torch.tensor([2])), lambda: x.is_cuda),
        *(lambda: torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x; }")(x), lambda: torch.cuda.nvtx.range_push("a")),
        *(lambda: torch.cuda.cudart().cudaMemGetInfo(0)[0] > 0, lambda: torch.cuda.check_error(0), lambda: torch.cuda.check_error(2), lambda: torch.cuda.ipc_collect()),
        *(lambda: torch.multiprocessing.reductions.reduce_tensor(x)[0].__name__, lambda: torch.cuda.caching_allocator_alloc(64) > 0, lambda: torch.cuda.is_current_stream_capturing()),
        *(lambda: torch.cuda.Event(interprocess=True).ipc_handle().__class__.__name__, lambda: torch.cuda.ExternalStream(torch.cuda.Stream().cuda_stream).query()),
        *(lambda: torch.cuda.MemPool().__class__.__name__, lambda: torch.backends.cuda.sdp_kernel.__name__, lambda: torch.cuda.seed(), lambda: torch.cuda.tunable.is_enabled()),
        *(lambda: torch.cuda.green_contexts.__name__, lambda: torch.cuda.device_memory_used() > 0, lambda: torch.cuda.host_memory_stats()["num_host_alloc"] >= 0),
    ]  # fmt: skip
    warnings.simplefilter("ignore")
    return [said(call) for call in calls]


@probe
def deterministic_calls() -> Any:
    torch.use_deterministic_algorithms(True)
    x, index = torch.rand(4, 4, device="cuda", requires_grad=True), torch.tensor([0, 1], device="cuda")
    y = x.detach()
    calls: list[Callable[[], Any]] = [
        *(lambda: y.cumsum(0), lambda: y.index_add(0, index, y[:2]), lambda: y.scatter_add(0, index[None], y), lambda: y.flip(0)),
        *(lambda: torch.bincount(index), lambda: torch.bincount(index, weights=y[0, :2]), lambda: torch.histc(y), lambda: y.kthvalue(1), lambda: y.median(0)),
        *(lambda: y.median(), lambda: y.put_(index, y[0, :2]), lambda: y.put_(index, y[0, :2], accumulate=True), lambda: y.index_put_((index,), y[:2], accumulate=True)),
        *(lambda: functional.interpolate(x[None, None], scale_factor=2, mode="bilinear").sum().backward(), lambda: x.gather(0, index[None]).sum().backward()),
        *(lambda: functional.interpolate(x[None, None], scale_factor=2).sum().backward(), lambda: functional.embedding(index, x).sum().backward()),
        *(lambda: functional.nll_loss(x[None].log_softmax(1)[..., None], index[None, :, None].repeat(1, 2, 1)), lambda: x[index].sum().backward()),
        *(lambda: functional.pad(x[None], (1, 1), mode="reflect").sum().backward(), lambda: functional.pad(x[None], (1, 1), mode="replicate").sum().backward()),
        *(lambda: functional.adaptive_avg_pool2d(x[None], 2).sum().backward(), lambda: functional.max_pool2d(x[None], 2).sum().backward()),
        *(lambda: functional.avg_pool2d(x[None], 2).sum().backward(), lambda: functional.grid_sample(x[None, None], y[None, None, :, :2]).sum().backward()),
        *(lambda: torch.bmm(y[None].to_sparse(), y[None]), lambda: y.to_sparse() @ y, lambda: functional.cross_entropy(x, index.repeat(2)).backward()),
        *(lambda: y.masked_scatter(y > 0, y), lambda: y.scatter(0, index[None], y), lambda: y.scatter_reduce(0, index[None], y, "sum"), lambda: y @ y),
        *(lambda: y.scatter_reduce(0, index[None], y, "prod"), lambda: y.index_copy(0, index, y[:2]), lambda: y.resize_(8), lambda: y.repeat_interleave(2, 0)),
        *(lambda: nn.LSTM(4, 4).cuda()(x)[0].sum().backward(), lambda: nn.Conv2d(1, 1, 1).cuda()(x[None]).sum().backward(), lambda: y.cumprod(0)),
        *(lambda: functional.ctc_loss(x[:, None].log_softmax(2), index[None] + 1, torch.tensor([4]), torch.tensor([2])).backward(), lambda: torch.trapezoid(y)),
        *(lambda: functional.fold(x[None], (2, 2), 1).sum().backward(), lambda: functional.unfold(x[None, None], 2).sum().backward(), lambda: y.unique()),
    ]  # fmt: skip
    warnings.simplefilter("ignore")
    return [said(call) for call in calls]
