"""What is there for programs that exchange tensors with a process where an accelerator is simulated."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerator.modes import grad_of, in_mode

from grader import accelerator

pytestmark = pytest.mark.lane


@in_mode("cuda")
def test_tensors_are_put_on_the_device_without_a_copy() -> None:
    """Tensors over one CPU storage share it on the device, and nothing is counted but the memory, once."""
    storage = torch.arange(12, dtype=torch.float32).untyped_storage()
    whole = accelerator.view_on_device(storage, torch.float32, (3, 4), (4, 1), 0, index=1)
    part = accelerator.view_on_device(storage, torch.float32, (4, 2), (1, 4), 4, index=1)
    part[0, 0] = -1
    assert whole.tolist() == [[0, 1, 2, 3], [-1, 5, 6, 7], [8, 9, 10, 11]]
    assert str(part.device) == "cuda:1"
    accelerator.reset_counters()
    again = accelerator.to_device(torch.empty(0).set_(storage, 1, (2,), (1,)), 1)
    found = accelerator.counters()
    assert (found["transfers"], found["launches"], found["current_bytes"]) == (0, 0, [0, 512])
    assert accelerator.describe(again).storage == accelerator.describe(whole).storage
    with pytest.raises(ValueError, match="this memory is on index 1 already"):
        accelerator.view_on_device(storage, torch.float32, (3,), (1,), 0, index=0)


@in_mode("sim")
def test_tensors_are_described_without_a_count() -> None:
    """A description tells layout, storage and device, gives the CPU tensor inside, and counts nothing."""
    base = torch.arange(6.0, device="sim:1").view(2, 3)
    view = base.T[1:]
    accelerator.reset_counters()
    one, other = accelerator.describe(base), accelerator.describe(view)
    assert (other.device, other.shape, other.strides, other.offset) == ("sim:1", (2, 2), (1, 3), 1)
    assert (one.storage, one.storage_bytes) == (other.storage, 24)
    assert type(other.inner) is torch.Tensor
    assert other.inner.tolist() == [[1, 4], [2, 5]]
    other.inner[0, 0] = 8
    found = accelerator.counters()
    assert (found["transfers"], found["launches"], found["syncs"]) == (0, 0, 0)
    assert base[0, 1].item() == 8
    # A CPU tensor that requires a gradient still does on the device, as a leaf.
    t = accelerator.to_device(torch.ones(2, requires_grad=True))
    (t * 3).sum().backward()
    assert (accelerator.describe(t).requires_grad, t.is_leaf, grad_of(t).tolist()) == (True, True, [3, 3])


@in_mode("sim")
def test_replaced_methods_are_not_called() -> None:
    """What student code puts on a tensor, or in the place of its methods, is not asked."""
    t = torch.ones(2, 3, device="sim")
    kind = type(t)
    for name in ("stride", "size", "storage_offset", "untyped_storage", "detach"):
        setattr(torch.Tensor, name, lambda *args: 1 / 0)
    for name in ("nbytes", "_cdata"):
        setattr(torch.UntypedStorage, name, property(lambda self: 1 / 0))
    kind.device = property(lambda self: "elsewhere")  # type: ignore[assignment]
    kind.shape = (9,)  # type: ignore[assignment]
    found = accelerator.describe(t)
    assert (found.device, found.shape, found.strides, found.offset) == ("sim:0", (2, 3), (3, 1), 0)
    assert found.storage_bytes == 24
    with pytest.raises(TypeError):
        accelerator.describe(torch.ones(1))


def test_every_name_is_documented() -> None:
    """The page about the accelerator names all that the package offers."""
    page = (Path(__file__).parents[2] / "docs" / "accelerator.md").read_text(encoding="utf-8")
    assert [name for name in accelerator.__all__ if not re.search(rf"\b{name}\b", page)] == []


def test_it_needs_nothing_else_of_ours() -> None:
    """The package imports nothing of the grader, nor PyTorch's compiler."""
    code = (
        "import sys; from grader import accelerator; accelerator.preload(); accelerator.enable('cuda');"
        "import torch; torch.ones(2, device='cuda').sum().item();"
        "print([m for m in sys.modules if m.startswith('grader') and not m.startswith('grader.accelerator')],"
        "'torch._dynamo' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['grader'] False"


@pytest.mark.timeout(120)
@in_mode("off")
def test_a_sample_of_operators_conforms() -> None:
    """The command that compares operators with the CPU finds nothing wrong among a few."""
    from accelerator import conformance

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert conformance.main(["--samples", "1", "-k", "linalg.so"]) == 0, printed.getvalue()
    assert " 0 wrong" in printed.getvalue().splitlines()[-1]


@in_mode("cuda", indices=2)
def test_dlpack_between_tensors() -> None:
    """A tensor that came by DLPack shares its memory, unless a copy or another device is wanted."""
    x: Any = torch.arange(4.0, device="cuda:1")
    dlpack: Any = torch.utils.dlpack
    for y in (dlpack.from_dlpack(x), dlpack.from_dlpack(dlpack.to_dlpack(x)), dlpack.from_dlpack(x[1:])):
        assert (y.device, y.untyped_storage().data_ptr()) == (x.device, x.untyped_storage().data_ptr())
    dlpack.from_dlpack(x[1:]).zero_()
    assert x.tolist() == [0, 0, 0, 0]
    assert dlpack.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    assert dlpack.from_dlpack(x, device="cpu").device.type == "cpu"
    with pytest.raises(BufferError, match=r"Can't export tensors that require gradient, use tensor\.detach"):
        dlpack.from_dlpack(x.clone().requires_grad_())
    for device in ("cpu", "cuda:0"):
        with pytest.raises(ValueError, match=r"without copying\. Set copy=None or copy=True"):
            dlpack.from_dlpack(x, device=device, copy=False)
    assert dlpack.from_dlpack(torch.ones(2)).tolist() == [1, 1]
