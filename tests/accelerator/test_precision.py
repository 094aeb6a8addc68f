"""Mixed precision: autocast by CUDA's rules, the scaler of gradients, and what a dtype costs."""

from __future__ import annotations

import warnings
from typing import Any, cast

import pytest
import torch
from accelerator.modes import counted, grad_of, in_mode, raises
from torch import nn
from torch.nn import functional

from grader import accelerator
from grader.accelerator.sim.spec import Spec

HALF, FULL, DOUBLE = torch.float16, torch.float32, torch.float64


@in_mode("cuda")
def test_dtypes_of_autocast() -> None:
    """Products and convolutions run in half precision, sums and losses in float32, the rest as its operands say."""
    x = torch.rand(2, 2, device="cuda")
    half, double, whole = x.half(), x.double(), x.long()
    image = torch.rand(1, 1, 4, 4, device="cuda")
    made: dict[str, tuple[torch.Tensor, torch.dtype]] = {}
    with torch.autocast("cuda"):
        made["a product"] = x @ x, HALF
        made["a product of both"] = x @ half, HALF
        made["a layer"] = functional.linear(x, x), HALF
        made["a convolution"] = functional.conv2d(image, image[:, :, :2, :2]), HALF
        made["einsum"] = torch.einsum("ij,kj->ik", x, x), HALF
        made["attention"] = functional.scaled_dot_product_attention(image, image, image), HALF
        made["float64 stays"] = double @ double, DOUBLE
        made["softmax"] = half.softmax(0), FULL
        made["a sum"] = half.sum(), FULL
        made["a sum whose dtype is asked for"] = half.sum(dtype=HALF), HALF
        made["a norm"] = half.norm(), FULL
        made["a power"] = half**2, FULL
        made["exp"] = half.exp(), FULL
        made["layer norm"] = functional.layer_norm(half, (2,)), FULL
        made["cross entropy"] = functional.cross_entropy(half, whole[0]), FULL
        made["addcmul of both"] = torch.addcmul(x, half, x), FULL
        made["addcmul of halves"] = torch.addcmul(half, half, half), HALF
        made["addition"] = x + 1, FULL
        made["addition of halves"] = half + half, HALF
        made["relu"] = half.relu(), HALF
        made["whole numbers"] = whole + whole, torch.int64
        made["a recurrent layer"] = nn.LSTM(2, 3).cuda()(x[None])[0], HALF
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            functional.binary_cross_entropy(x, x)
    made["after it"] = x @ x, FULL
    assert [name for name, (tensor, kind) in made.items() if tensor.dtype is not kind] == []


@pytest.mark.parametrize("mode", ["cuda", "sim"])
@in_mode("off")
def test_regions_of_autocast(mode: str) -> None:
    """Regions nest, are switched off, choose a dtype, decorate; the state can be asked for; weights are cast once."""
    accelerator.enable(cast(Any, mode))
    layer, x = nn.Linear(4, 4).to(mode), torch.rand(2, 4, device=mode)

    decorate: Any = torch.autocast(mode, dtype=torch.bfloat16)
    seen = [decorate(layer)(x).dtype]
    with torch.autocast(mode):
        seen += [layer(x).dtype, torch.get_autocast_dtype(mode)]
        assert torch.is_autocast_enabled(mode)
        with torch.autocast(mode, enabled=False):
            seen.append(layer(x).dtype)
        with torch.no_grad():
            layer(x)
        seen.append(layer(x).dtype)
        layer(x).float().sum().backward()
    assert seen == [torch.bfloat16, HALF, HALF, FULL, HALF]
    assert not torch.is_autocast_enabled(mode)
    assert grad_of(layer.weight).dtype is FULL
    with torch.autocast(mode):
        accelerator.reset_counters()
        layer(x)
        once = counted("launches")[0]
        layer(x)
        assert counted("launches")[0] - once == once - 2  # neither weight nor bias is cast again


@in_mode("cuda")
def test_custom_functions_and_autocast() -> None:
    """`custom_fwd` casts what comes in, and `custom_bwd` runs in the region of the forward."""
    seen: list[torch.dtype] = []
    amp: Any = torch.amp

    class Product(torch.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cuda")  # type: ignore[untyped-decorator]
        def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @amp.custom_bwd(device_type="cuda")  # type: ignore[untyped-decorator]
        def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            a, b = ctx.saved_tensors
            seen.append((a.t() @ a).dtype)
            return grad @ b.t(), a.t() @ grad

    class Exact(torch.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)  # type: ignore[untyped-decorator]
        def forward(ctx: Any, a: torch.Tensor) -> torch.Tensor:
            return a @ a

    a = torch.rand(2, 2, device="cuda", requires_grad=True)
    with torch.autocast("cuda"):
        product = cast(Any, Product).apply(a, a)
        assert (product.dtype, cast(Any, Exact).apply(a.half()).dtype) == (HALF, FULL)
    product.sum().backward()
    assert (seen, grad_of(a).dtype) == ([HALF], FULL)


@pytest.mark.parametrize("name", ["amp", "cuda.amp"])
@in_mode("cuda")
def test_the_scaler_of_gradients(name: str) -> None:
    """A step with an infinite gradient is left out and halves the scale; any other is made with the true gradient."""
    warnings.simplefilter("ignore", FutureWarning)  # `torch.cuda.amp` is deprecated, and still in many tutorials
    space: Any = torch.amp if name == "amp" else torch.cuda.amp
    weight = nn.Parameter(torch.ones(2, device="cuda"))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = space.GradScaler(init_scale=1024.0)
    with torch.autocast("cuda") if name == "amp" else space.autocast():
        loss = (weight * torch.tensor([1.0, 2.0], device="cuda")).sum()
    scaler.scale(loss).backward()
    assert grad_of(weight).tolist() == [1024, 2048]
    scaler.unscale_(optimizer)
    assert grad_of(weight).tolist() == [1, 2]
    scaler.step(optimizer)
    scaler.update()
    assert (weight.tolist(), scaler.get_scale()) == ([0.5, 0.0], 1024)
    grad_of(weight)[0] = float("inf")
    scaler.step(optimizer)
    scaler.update()
    assert (weight.tolist(), scaler.get_scale()) == ([0.5, 0.0], 512)


@in_mode("cuda", spec=Spec(flops=1e12, bandwidth=1e15, half=8.0, double=0.25, tf32=4.0))
def test_a_dtype_has_its_rate() -> None:
    """Half precision is faster and double precision slower; TF32 counts where the program allows it."""

    def seconds(dtype: torch.dtype) -> float:
        x = torch.ones(256, 256, device="cuda", dtype=dtype)
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        x @ x
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) / 1e3 - 5e-6  # the launch, which starts an idle device

    full, found = 2 * 256**3 / 1e12, [seconds(dtype) for dtype in (FULL, HALF, torch.bfloat16, DOUBLE)]
    assert found == pytest.approx([full, full / 8, full / 8, full * 4], rel=1e-3)
    torch.backends.cuda.matmul.allow_tf32 = True
    assert seconds(FULL) == pytest.approx(full / 4, rel=1e-3)


@in_mode("cuda")
def test_products_in_another_dtype() -> None:
    """With `out_dtype`, a product of 16-bit matrices is in float32, and is not rounded; other dtypes raise."""
    a, b = (torch.randn(*size, device="cuda", dtype=torch.bfloat16) for size in ((4, 64), (64, 8)))
    ones, wide = torch.ones(4, 8, device="cuda"), a.float() @ b.float()
    product: Any = torch
    assert torch.equal(product.mm(a, b, out_dtype=torch.float32), wide)
    assert torch.equal(product.bmm(a[None], b[None], out_dtype=torch.float32)[0], wide)
    torch.testing.assert_close(product.addmm(ones, a, b, out_dtype=torch.float32, beta=2), 2 + wide)
    torch.testing.assert_close(product.baddbmm(ones[None], a[None], b[None], out_dtype=torch.float32)[0], 1 + wide)
    for x, dtype in ((a.float(), torch.float64), (a, torch.float16)):
        with raises(RuntimeError, "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs"):
            product.mm(x, x.t(), out_dtype=dtype)
    with raises(RuntimeError, "self dtype must match either out_dtype or mat1 dtype"):
        product.addmm(ones.double(), a, b, out_dtype=torch.float32)
