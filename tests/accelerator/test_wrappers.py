"""What the generated functions around CUDA's kernels say of two devices; forward gradients; addresses and handles."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torchgen  # type: ignore[import-untyped]
from accelerator.modes import in_mode, raises
from torch import func
from torch.autograd import forward_ad
from torch.nn import functional

_GOT = "Expected all tensors to be on the same device, but got {} is on {}, different from other tensors on {} (when "
_FOUND = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


def _wrapped(name: str, device: str, common: str, wrapper: str) -> str:
    return _GOT.format(name, device, common) + f"checking argument in method {wrapper})"


@in_mode("cuda")
def test_wrappers_have_the_names_that_torchgen_gives() -> None:
    """The overload stands after the name of a structured kernel, before that of others; the layout chooses the key."""
    warnings.simplefilter("ignore")  # of sparse layouts, which PyTorch calls beta
    x, host = torch.ones(3, 3, device="cuda"), torch.ones(3, 3)
    indices = torch.tensor([[0, 1], [1, 2]])
    sparse = torch.sparse_coo_tensor(indices, torch.ones(2), (3, 3)).to("cuda")
    csr = torch.eye(3).to_sparse_csr().to("cuda")
    far, near = ("cpu", "cuda:0"), ("cuda:0", "cpu")
    index, there = torch.tensor([0]), torch.tensor([0], device="cuda")
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: x[0].scatter(0, there, host[0, :1]), _wrapped("src", *far, "wrapper_CUDA_scatter_src")),
        (lambda: x[0].scatter_(0, index, x[0, :1]), _wrapped("index", *far, "wrapper_CUDA_scatter__src")),
        (
            lambda: x[0].scatter_reduce(0, index, x[0, :1], "sum"),
            _wrapped("index", *far, "wrapper_CUDA_scatter_reduce_two"),
        ),
        (lambda: torch.mm(x, x, out=host), _wrapped("self", *near, "wrapper_CUDA_mm_out_out")),
        (lambda: x @ host[0], _wrapped("mat", *near, "wrapper_CUDA_addmv_")),
        (lambda: host @ x[0], _wrapped("mat", *far, "wrapper_CUDA_addmv_")),
        (lambda: torch.linalg.cross(x, host), _wrapped("other", *far, "wrapper_CUDA_linalg_cross")),
        (lambda: torch.linalg.solve(x, host), _wrapped("B", *far, "wrapper_CUDA__linalg_solve_ex")),
        (lambda: torch.stack([x, host]), _wrapped("tensors", *far, "wrapper_CUDA_cat")),
        (lambda: x.masked_scatter(host > 0, x), _wrapped("mask", *far, "wrapper_CUDA__masked_scatter_")),
        (lambda: torch.clamp(x, host), _wrapped("min", *far, "wrapper_CUDA_clamp_Tensor")),
        (lambda: x.take(index), _wrapped("index", *far, "wrapper_CUDA__take")),
        (lambda: sparse @ host, _wrapped("mat2", *far, "wrapper_SparseCUDA__mm")),
        (lambda: torch.sparse.mm(sparse, host), _wrapped("mat1", *near, "wrapper_SparseCUDA__addmm")),
        (lambda: csr @ host, _wrapped("mat2", *far, "wrapper_SparseCsrCUDA__mm")),
        (lambda: csr @ host[0], _wrapped("mat", *near, "wrapper_SparseCsrCUDA_out_addmv_out")),
        (
            lambda: torch.sparse_coo_tensor(indices.to("cuda"), torch.ones(2), (3, 3)),
            _wrapped("values", *far, "wrapper_SparseCUDA___sparse_coo_tensor_with_dims_and_tensors"),
        ),
        (lambda: x.sparse_mask(sparse.cpu()), _wrapped("mask", *far, "wrapper_SparseCUDA__sparse_mask")),
        (lambda: sparse + sparse.cpu(), "add: expected 'other' to be CUDA, but got CPU"),
        (lambda: host + sparse, "add: expected 'self' to be a CUDA tensor, but got a CPU tensor"),
        (lambda: functional.binary_cross_entropy(x / 2, host), _FOUND),
        (lambda: functional.smooth_l1_loss(x, host), _FOUND),
        (lambda: torch.cholesky_solve(host, x), "Expected b and A to be on the same device, but found b on cpu and A"),
    ]
    for call, text in cases:
        with raises(RuntimeError, text):
            call()


@in_mode("cuda")
def test_which_kernels_take_a_number_of_the_host() -> None:
    """A kernel whose wrapper compares devices refuses a CPU tensor without dimensions; another one reads it."""
    x, number = torch.ones(3, device="cuda"), torch.tensor(2.0)
    for name in ("maximum", "fmod", "atan2", "hypot", "pow"):
        assert getattr(torch, name)(x, number).device == x.device
    for name in ("logaddexp", "nextafter", "igamma"):
        text = _wrapped("other", "cpu", "cuda:0", f"wrapper_CUDA_{name}")
        with raises(RuntimeError, text):
            getattr(torch, name)(x, number)
    with raises(RuntimeError, _wrapped("min", "cpu", "cuda:0", "wrapper_CUDA_clamp_min__Tensor")):
        x.clamp_min_(number)


def test_all_such_kernels_are_known() -> None:
    """Each operator on several tensors that PyTorch's table calls pointwise, and that compares devices, is listed."""
    from grader.accelerator.dispatch.devices import _WRAPPED

    table = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    found = set()
    for entry in table.read_text(encoding="utf-8").split("\n- func: ")[1:]:
        signature = entry.partition("->")[0].partition(", *,")[0]
        if "device_check: NoCheck" in entry or "pointwise" not in entry or "_foreach_" in signature:
            continue
        kernel = re.search(r"(?m)^  structured|^    .*CUDA", entry)
        if kernel and len(re.findall(r"Tensor(?:\(\w!\))? \w+", signature)) > 1:
            found.add(entry.partition("(")[0].partition(".")[0])
    assert found - _WRAPPED == set()


@in_mode("cuda")
def test_forward_gradients() -> None:
    """Forward gradients of tensors on the device are those of the CPU: of views, in-place changes, modules, nested."""
    warnings.simplefilter("ignore")  # of TorchScript, which PyTorch itself calls here

    def along(device: str) -> list[Any]:
        x = torch.arange(12.0, device=device).view(3, 4)
        one, part = torch.ones(4, 3, device=device), torch.arange(12.0, device=device)[2:5]
        z = torch.complex(x, x)
        layer = torch.nn.Linear(4, 2, device=device)
        torch.nn.init.constant_(layer.weight, 0.5)
        torch.nn.init.constant_(layer.bias, 0.25)
        named = dict(layer.named_parameters())
        steps = {name: torch.ones_like(value) for name, value in named.items()}
        with forward_ad.dual_level():
            base = torch.zeros(4, device=device)
            base[1:3].copy_(forward_ad.make_dual(x[0, :2], one[0, :2]))
            into_view = forward_ad.unpack_dual(base).tangent
        return [
            *func.jvp(torch.sin, (x.t(),), (one,)),
            *func.jvp(lambda given: given.clone().view(-1).mul_(2).sum(), (x,), (one.t(),)),
            *func.jvp(lambda given: (given * given).sum(), (part,), (one[0],)),
            *func.jvp(lambda given: (given.conj() * given).real, (z,), (z,)),
            *func.jvp(lambda given: func.functional_call(layer, given, x), (named,), (steps,)),
            func.jacfwd(lambda given: given * given)(part),
            func.hessian(lambda given: (given**3).sum())(part),
            into_view,
        ]

    for here, there in zip(along("cpu"), along("cuda"), strict=True):
        assert there.device.type == "cuda"
        assert torch.equal(here, there.cpu())
    assert torch.autograd.gradcheck(
        lambda given: given.sin() * given,
        (torch.rand(3, dtype=torch.float64, device="cuda", requires_grad=True),),
        check_forward_ad=True,
    )


@in_mode("cuda")
def test_a_tangent_on_another_device() -> None:
    """PyTorch sets a tangent of any device (`autograd_meta.cpp`); the first operator with primal and tangent raises."""
    warnings.simplefilter("ignore")  # of TorchScript and of graphs, which PyTorch itself makes here
    x, tangent = torch.ones(3, 3, device="cuda"), torch.ones(3, 3)
    for given in (x, torch.ones(3, 3, device="cuda").t()):
        with raises(RuntimeError, _FOUND):
            func.jvp(torch.sin, (given,), (tangent,))
    assert [one.device.type for one in func.jvp(torch.sum, (x,), (tangent,))] == ["cuda", "cpu"]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, tangent)
        assert forward_ad.unpack_dual(dual).tangent.device.type == "cpu"
        with raises(RuntimeError, _FOUND):
            dual * dual
    with raises(RuntimeError, "tangent:0 with device cpu in flattened pytree doesn't match the device cuda:0"):
        func.linearize(torch.sin, x)[1](tangent)


@pytest.mark.parametrize("size", [1, 3, 100, 5000])
@in_mode("cuda")
def test_addresses_are_multiples_of_512(size: int) -> None:
    """A storage begins at a multiple of 512, as CUDA's allocator returns them; views lie within, and none overlap."""
    made = [torch.empty(size, device="cuda") for _ in range(8)]
    made += [torch.ones(size).cuda(), made[0] + 1, made[0].to(torch.float64), torch.zeros(size, 2, device="cuda")[:, 0]]
    for x in made:
        assert x.data_ptr() % 512 == 0
        assert x.untyped_storage().data_ptr() == x.data_ptr()
        assert x[size - 1 :].data_ptr() == x.data_ptr() + (size - 1) * x.stride(0) * x.element_size()
    spans = sorted((x.data_ptr(), x.data_ptr() + x.untyped_storage().nbytes()) for x in made)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert made[0][size:].data_ptr() == 0


@in_mode("cuda")
def test_handles_of_the_driver() -> None:
    """Memory cannot be given to another process by a handle of the driver; the error says what works."""
    storage, host = torch.ones(3, device="cuda").untyped_storage(), torch.ones(3).untyped_storage()
    text = "send the tensor by a queue of torch.multiprocessing, which works"
    with raises(NotImplementedError, text):
        storage._share_cuda_()
    with raises(NotImplementedError, text):
        torch.UntypedStorage._new_shared_cuda(0, b"", 0, 0, b"", 0, b"", False)
    with raises(NotImplementedError, text):
        torch.UntypedStorage._release_ipc_counter_cuda(b"", 0)
    with raises(RuntimeError, "_share_cuda_: only available on CUDA"):
        host._share_cuda_()
    with raises(RuntimeError, "_share_fd_: only available on CPU"):
        storage._share_fd_cpu_()
    with raises(RuntimeError, "_share_filename_: only available on CPU"):
        storage._share_filename_cpu_()
