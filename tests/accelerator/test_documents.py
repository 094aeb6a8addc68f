"""What the five source documents say about devices, run: their lines, and what is true where they are out of date.

000 is the webinar of 2022, 001 and 003 its newer version, 002 the PyTorch tutorial, 004 the short introduction.
"""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from accelerator.modes import in_mode
from torch.utils import benchmark

from grader import accelerator


@in_mode("cuda")
def test_tensor_is_created_on_a_gpu() -> None:
    """000, 001, 003: `device='cuda'` at creation; it prints the device with its index."""
    t_gpu = torch.rand(2, 3, device="cuda")
    assert str(t_gpu.device) == "cuda:0"
    assert t_gpu.is_cuda
    assert repr(torch.full((2,), 0.5, device="cuda")) == "tensor([0.5000, 0.5000], device='cuda:0')"


@in_mode("cuda")
def test_default_device_is_the_cpu() -> None:
    """001, 002, 003: by default tensors are created on the CPU, and then no device is printed."""
    t1 = torch.zeros(2)
    assert t1.device == torch.device("cpu")
    assert repr(t1) == "tensor([0., 0.])"


@in_mode("cuda")
def test_tensor_is_copied_to_devices() -> None:
    """000, 001, 003: `.to(device=...)`, `.cpu()`, `.cuda()`, `.cuda(1)`; each makes one copy, the original stays."""
    t_cpu = torch.arange(3.0)
    t_gpu = t_cpu.to(device="cuda")
    placed = [t_gpu, t_cpu.to(device="cuda:0"), t_cpu.to(device="cuda:1"), t_cpu.cuda(), t_cpu.cuda(0), t_cpu.cuda(1)]
    assert [str(t.device) for t in placed] == ["cuda:0", "cuda:0", "cuda:1", "cuda:0", "cuda:0", "cuda:1"]
    back = [t_gpu.to(device="cpu"), t_gpu.cpu()]
    assert [t.tolist() for t in back] == [[0.0, 1.0, 2.0]] * 2
    t_gpu.zero_()
    assert t_cpu.tolist() == [0.0, 1.0, 2.0]
    found = accelerator.counters()
    assert (found["host_to_device"], found["device_to_host"], found["transferred_bytes"]) == (6, 2, 8 * 12)


@in_mode("cuda")
def test_copy_to_where_it_is_already_is_no_copy() -> None:
    """000, 001, 003 call every `.to` a copy; to the same device and dtype it gives the tensor itself."""
    t = torch.ones(2, device="cuda")
    assert t.to("cuda") is t
    assert t.to("cuda:0") is t
    assert t.cuda() is t
    assert torch.ones(2).cpu().device.type == "cpu"
    assert t.to("cuda", copy=True) is not t
    assert accelerator.counters()["transfers"] == 0


@in_mode("cuda")
def test_numpy_is_not_automatic() -> None:
    """000: content "will be" copied to the CPU, but `.numpy()` raises; 001, 003: it "will have to be" copied."""
    t = torch.ones(2, device="cuda:1")
    message = (
        "can't convert cuda:1 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    )
    with pytest.raises(TypeError) as caught:
        t.numpy()
    assert str(caught.value) == message
    assert t.cpu().numpy().tolist() == [1.0, 1.0]


@in_mode("cuda")
def test_xla_is_not_simulated() -> None:
    """000, 001, 003: `xm.xla_device()` of torch_xla, out of date and not here; its device raises as without it."""
    with pytest.raises(ImportError):
        __import__("torch_xla")
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.ones(2, device="xla")


def _mine(x: torch.Tensor) -> torch.Tensor:
    result = torch.zeros(1, device=x.device)
    for value in x:
        result += value
    return result


@in_mode("cuda")
def test_loop_is_slower_on_a_gpu_and_sum_faster() -> None:
    """001, 003: a raw loop over elements is slower on a GPU than on the CPU, a vectorised sum is faster."""
    seconds: dict[tuple[str, str], float] = {}
    for device in ("cpu", "cuda"):
        with accelerator.virtual_time():
            x, large = torch.ones(1000, device=device), torch.ones(1_000_000, device=device)
            for name, function in (("loop", lambda x=x: _mine(x)), ("sum", lambda large=large: large.sum())):
                torch.cuda.synchronize()
                start = time.perf_counter()
                function()
                torch.cuda.synchronize()
                seconds[name, device] = time.perf_counter() - start
    assert seconds["loop", "cuda"] > 3 * seconds["loop", "cpu"]
    assert seconds["sum", "cpu"] > 5 * seconds["sum", "cuda"]


@in_mode("cuda")
def test_product_is_faster_on_a_gpu() -> None:
    """001, 003: `A @ B` of 500 x 500 by PyTorch's own timer, 21 times faster on their GPU; here by the spec."""
    A, B = torch.randn(500, 500), torch.randn(500, 500)
    A_gpu, B_gpu = torch.randn(500, 500, device="cuda"), torch.randn(500, 500, device="cuda")
    with accelerator.virtual_time():
        cpu = benchmark.Timer(stmt="A @ B", globals={"A": A, "B": B}).timeit(20)
        gpu = benchmark.Timer(stmt="A_gpu @ B_gpu", globals={"A_gpu": A_gpu, "B_gpu": B_gpu}).timeit(20)
    spec, flops = accelerator.Spec(), 2 * 500**3
    assert cpu.mean == pytest.approx(flops / spec.host_flops)
    assert gpu.mean == pytest.approx(flops / spec.flops, rel=0.05)


@in_mode("cuda")
def test_accelerator_is_found() -> None:
    """002: `torch.accelerator.is_available()`, a tensor made on `current_accelerator()`, `device_count()`."""
    assert torch.accelerator.is_available()
    gpu_rand = torch.rand(2, 2, device=torch.accelerator.current_accelerator())
    assert repr(gpu_rand).endswith("device='cuda:0')")
    assert torch.accelerator.device_count() == 2


@in_mode("cuda")
def test_one_handle_for_the_device() -> None:
    """002: a device handle with a fallback; it prints cuda, its tensors cuda:0, and the two are not equal."""
    my_device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
    x = torch.rand(2, 2, device=my_device)
    y = torch.rand(2, 2)
    y = y.to(my_device)
    assert f"Device: {my_device}" == "Device: cuda"
    assert (str(x.device), str(y.device)) == ("cuda:0", "cuda:0")
    assert x.device != my_device
    assert my_device is not None
    assert x.device.type == my_device.type


@in_mode("none")
def test_handle_falls_back() -> None:
    """002: without an accelerator the same lines take the CPU."""
    assert not torch.accelerator.is_available()
    my_device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
    assert torch.rand(2, 2, device=my_device).device == torch.device("cpu")


@in_mode("cuda")
def test_operands_must_be_on_one_device() -> None:
    """002: `x + y` of a CPU and a GPU tensor raises a RuntimeError, in PyTorch's words."""
    x = torch.rand(2, 2)
    y = torch.rand(2, 2, device="cuda")
    with pytest.raises(RuntimeError) as caught:
        x + y
    assert str(caught.value) == (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    )


@in_mode("cuda")
def test_zero_dim_cpu_tensor_may_join() -> None:
    """002 says all operands; a 0-dim CPU tensor is an exception."""
    y = torch.ones(2, device="cuda")
    assert (y * torch.tensor(3.0)).tolist() == [3.0, 3.0]
    assert (torch.tensor(3.0) - y).device == y.device


@in_mode("none")
def test_without_a_gpu_creation_fails() -> None:
    """002: "regardless of whether you have an accelerator"; without one it is the creation that fails."""
    torch.rand(2, 2)
    with pytest.raises((AssertionError, RuntimeError), match="Torch not compiled with CUDA enabled"):
        torch.rand(2, 2, device="cuda")


@in_mode("cuda")
def test_out_argument_on_the_gpu() -> None:
    """002: `out=` writes to a tensor that is there, and gives that tensor; here on a GPU."""
    a, b, c = (torch.rand(2, 2, device="cuda") for _ in range(3))
    old_address, old_id = c.data_ptr(), id(c)
    d = torch.matmul(a, b, out=c)
    assert (d is c, c.data_ptr(), id(c)) == (True, old_address, old_id)
    assert torch.equal(c, a @ b)


@in_mode("cuda")
def test_device_is_metadata_and_moves() -> None:
    """004: the device is one of a tensor's metadata; `t.to("cpu")`, `t.to("cuda")`."""
    t = torch.tensor([[1.0, 2.0]])
    assert (t.dtype, t.shape, str(t.device)) == (torch.float32, (1, 2), "cpu")
    t = t.to("cuda")
    assert (t.dtype, t.shape, str(t.device)) == (torch.float32, (1, 2), "cuda:0")
    assert str(t.to("cpu").device) == "cpu"


def _everything(device: str) -> list[Any]:
    a = torch.arange(6.0, device=device).view(2, 3)
    return [
        (a * 2).tolist(),
        (a @ a.T).tolist(),
        a.T.stride(),
        a[:, 1].tolist(),
        a[a > 2].tolist(),
        a.sum(0).tolist(),
        a.reshape(3, 2).shape,
        a.unsqueeze(0).squeeze().shape,
        torch.cat([a, a]).shape,
        a.mean().item(),
        torch.linalg.solve(torch.eye(2, device=device) * 2, a).tolist(),
    ]


@in_mode("cuda")
def test_all_the_rest_works_on_both() -> None:
    """004: "Everything we discussed earlier applies to both CPU tensors and GPU tensors"."""
    assert _everything("cuda") == _everything("cpu")


@in_mode("cuda")
def test_a_thousand_products_do_not_pay() -> None:
    """004: 1000 products take 1000 units on a CPU and 1 on a GPU; that leaves out the launch and the way there."""
    spec = accelerator.Spec()
    a, b = torch.ones(1000), torch.ones(1000)
    with accelerator.virtual_time():
        start = time.perf_counter()
        (a.cuda() * b.cuda()).cpu()
        seconds = time.perf_counter() - start
    assert seconds > 10 * spec.host_seconds(1000, 12_000)
