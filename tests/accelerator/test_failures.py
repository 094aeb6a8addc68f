"""What fails: in backward, for want of a deterministic kernel, in a forked process."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from accelerator.modes import grad_of, in_mode, raises
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from grader import accelerator

pytestmark = pytest.mark.lane


@in_mode("cuda")
def test_errors_in_backward() -> None:
    """An operator that fails in backward raises its own error from there; the process goes on, and so does backward."""
    x = torch.ones(1, 1, 4, 4, device="cuda", requires_grad=True)
    pooled, product = nn.functional.adaptive_avg_pool2d(x, 2).sum(), (x * x).sum()
    start = torch.ones((), device="cuda")
    torch.use_deterministic_algorithms(True)
    with raises(RuntimeError, "adaptive_avg_pool2d_backward_cuda does not have a deterministic implementation"):
        pooled.backward(start, retain_graph=True)
    torch.use_deterministic_algorithms(False)
    pooled.backward(start)
    memory = accelerator.the_machine().devices[0].memory
    before, memory.capacity = memory.capacity, memory.current
    with raises(torch.OutOfMemoryError, "CUDA out of memory"):
        product.backward(start, retain_graph=True)
    memory.capacity = before
    product.backward(start)
    assert grad_of(x).flatten().tolist() == [2.25] * 16


class _Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        raise KeyError("in backward")


class _Refuses(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise KeyError("in a mode")


def _fails(x: torch.Tensor) -> torch.Tensor:
    apply: Any = _Fails.apply
    total: torch.Tensor = apply(x).sum()
    return total


def _fail(where: str) -> Callable[..., Any]:
    def hook(*unused: Any) -> Any:
        raise KeyError(where)

    return hook


@in_mode("cuda")
def test_errors_of_hooks() -> None:
    """What a hook raises in backward comes out of it: of tensors, modules, saved tensors, modes, one in another."""

    def out() -> torch.Tensor:
        total: torch.Tensor = layer(leaf * 2).pow(2).sum()
        return total

    layer, leaf = nn.Linear(2, 1).cuda(), torch.ones(2, device="cuda", requires_grad=True)
    handles: list[Any] = []
    mode: Any = _Refuses

    def raised(text: str, total: torch.Tensor) -> None:
        with raises(KeyError, text) as told:
            total.backward()
        assert told.value.__traceback__ is not None
        assert told.traceback[-1].name in ("hook", "backward", "__torch_dispatch__")
        while handles:
            handles.pop().remove()
        out().backward()

    total = out()
    handles.append(leaf.register_hook(_fail("of a tensor")))
    raised("of a tensor", total)
    handles.append(leaf.register_post_accumulate_grad_hook(_fail("of a leaf")))
    raised("of a leaf", out())
    handles.append(layer.register_full_backward_hook(_fail("of a module")))
    raised("of a module", out())
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, _fail("of saved tensors")):
        total = out()
    raised("of saved tensors", total)
    raised("in backward", _fails(leaf))
    nested = _fails(leaf.detach().requires_grad_())
    handles.append(leaf.register_hook(lambda grad: nested.backward()))
    raised("in backward", out())
    total = out()
    with mode(), raises(KeyError, "in a mode"):
        total.backward()
    out().backward()


def _forked(work: Callable[[], object]) -> str:
    """What a piece of work gives in a forked process, or the text of its error."""
    read, write = os.pipe()
    if not (child := os.fork()):
        try:
            text = str(work())
        except RuntimeError as error:
            text = str(error)
        os.write(write, text.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as stream:
        return stream.read()


class _OnDevice(torch.utils.data.Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.ones(1, device="cuda")


@in_mode("cuda")
def test_a_forked_process_has_no_device_that_its_parent_used() -> None:
    """As on CUDA: the workers of a loader raise, where they would work or hang, and may if nobody used it before."""
    here, refused = torch.arange(4.0), "Cannot re-initialize CUDA in forked subprocess."

    def first(data: Any) -> Any:
        loader = torch.utils.data.DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context="fork")
        return next(iter(loader))

    # Before the first use nothing is to be lost.
    assert _forked(lambda: torch.ones(1, device="cuda").item()) == "1.0"
    there = here.cuda()
    for use in (lambda: there + 1, there.cpu, there.sum().item, here.cuda, torch.cuda.init, lambda: repr(there)):
        assert _forked(use).startswith(refused)
    # What has nothing to do with the device goes on, seeds of all devices among them.
    assert _forked(lambda: torch.manual_seed(0).initial_seed()) == "0"
    with raises(RuntimeError, refused):
        first(torch.utils.data.TensorDataset(there))
    with raises(RuntimeError, refused):
        first(_OnDevice())
    assert first(torch.utils.data.TensorDataset(here))[0].cuda().tolist() == [0.0, 1.0]
