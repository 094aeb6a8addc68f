"""Pinned memory that is used before the host has waited for the asynchronous copy that fills it."""

from __future__ import annotations

import copy
import io
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from accelerator.modes import in_mode
from torch.utils._python_dispatch import TorchDispatchMode

from grader import accelerator

cuda: Any = torch.cuda


def races_of(program: Callable[[], Any]) -> list[str]:
    """The races that a program is warned of, up to the line of the copy."""
    cuda.synchronize()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        program()
    cuda.synchronize()
    assert torch._C._len_torch_dispatch_stack() == 0
    return [str(one.message).partition(" (")[0] for one in found]


def fetched(*shape: int) -> torch.Tensor:
    return torch.rand(shape or (4, 5), device="cuda").to("cpu", non_blocking=True)


EARLY = "{} pinned memory that _to_copy on the default stream may not have filled yet"


USES: dict[str, tuple[Callable[[torch.Tensor], Any], ...]] = {
    "sum reads": (
        lambda y: y.sum(),
        lambda y: [y.sum(), y.mean()],
    ),
    "mm reads": (lambda y: y[1:].t() @ y[1:],),
    "gt reads": (lambda y: bool((y > 0.5).any()),),
    "cat reads": (lambda y: torch.cat([torch.ones(1), y.view(-1)]),),
    "add_ writes to": (lambda y: y.add_(1),),
    "fill_ writes to": (lambda y: y.view(-1)[3].fill_(1),),
    "copy_ reads": (lambda y: torch.zeros(4, 5).copy_(y),),
    "item reads": (lambda y: y[0, 0].item(),),
    "mul reads": (lambda y: torch.ones(3, device="cuda") * y[0, 0],),
    "tolist reads": (lambda y: y.tolist(),),
    "numpy reads": (
        lambda y: y.numpy(),
        lambda y: np.asarray(y),
    ),
    "deepcopy reads": (lambda y: copy.deepcopy(y),),
    "pickle reads": (
        lambda y: pickle.dumps(y),
        lambda y: torch.save(y, io.BytesIO()),
    ),
}
"""What uses the numbers, by how a warning begins."""


@in_mode("cuda")
def test_uses_before_the_wait() -> None:
    """Whatever reads the numbers, or writes there, is named, at the program's line, and a missing wait once."""
    for user, uses in USES.items():
        for use in uses:
            assert races_of(lambda use=use: use(fetched())) == [EARLY.format(user)]  # type: ignore[misc]


@in_mode("cuda")
def test_uses_after_the_wait() -> None:
    """Each way of waiting is enough, and so is a use that does not touch the numbers."""

    def wait_for_event(y: torch.Tensor) -> None:
        done = cuda.current_stream().record_event()
        cuda.Stream().wait_event(done)
        done.synchronize()

    def wait_for_other_stream(y: torch.Tensor) -> None:
        side = cuda.Stream()
        side.wait_stream(cuda.current_stream())
        side.synchronize()

    waits: tuple[Callable[[torch.Tensor], Any], ...] = (
        lambda y: cuda.synchronize(),
        lambda y: cuda.current_stream().synchronize(),
        lambda y: torch.ones((), device="cuda").item(),
        lambda y: torch.ones(3, device="cuda").cpu(),
        lambda y: torch.ones(3, device="cuda").tolist(),
        wait_for_event,
        wait_for_other_stream,
    )
    for wait in waits:

        def program(wait: Callable[[torch.Tensor], Any] = wait) -> None:
            y = fetched()
            wait(y)
            y.add_(1).numpy()

        assert races_of(program) == []

    def look() -> None:
        y = fetched()
        y.view(-1)[2:].detach().requires_grad_()
        assert y.is_pinned() and y.shape == torch.empty_like(y).shape and y.new_zeros(3).sum() == 0

    assert races_of(look) == []


@in_mode("cuda")
def test_memory_that_no_copy_fills() -> None:
    """Other elements of a pinned buffer may be used, and a copy for which PyTorch waits anyway is no race."""
    x = torch.rand(2, 3, device="cuda")

    def two_halves() -> None:
        buffer = torch.zeros(2, 3).pin_memory()
        buffer[0].copy_(x[0], non_blocking=True)
        buffer[1].sum()

    def through_temporaries() -> None:
        columns = torch.zeros(3, 2).pin_memory()
        columns.t().copy_(x, non_blocking=True)  # goes to pageable memory first, as it is not contiguous
        columns.sum()

    def pageable() -> None:
        torch.zeros(2, 3).copy_(x, non_blocking=True).sum()

    for program in (two_halves, through_temporaries, pageable):
        assert races_of(program) == []
    assert races_of(lambda: torch.zeros(2, 3).pin_memory().copy_(x, non_blocking=True).sum()) == [
        EARLY.format("sum reads").replace("_to_copy", "copy_")
    ]


@in_mode("cuda")
def test_copies_back_to_the_device() -> None:
    """On the same stream a copy back comes later by itself; another stream has to wait."""
    assert races_of(lambda: fetched().to("cuda", non_blocking=True).sum().item()) == []

    def on_another_stream(waits: bool) -> None:
        y, side = fetched(), cuda.Stream()
        if waits:
            side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            y.to("cuda", non_blocking=True)

    assert races_of(lambda: on_another_stream(True)) == []
    with pytest.warns(accelerator.RaceWarning, match="Let stream [0-9]+ wait for the default stream, or for an event"):
        on_another_stream(False)


@in_mode("cuda")
def test_copies_in_graphs() -> None:
    """A captured copy to the host is on its way after each replay, and not while it is captured."""
    x, host = torch.ones(4, device="cuda"), torch.zeros(4).pin_memory()
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        host.copy_(x, non_blocking=True)
    assert races_of(lambda: host.sum()) == []

    def replayed(waits: bool) -> None:
        graph.replay()
        if waits:
            cuda.synchronize()
        host.sum()

    assert races_of(lambda: replayed(True)) == []
    assert races_of(lambda: replayed(False)) == [EARLY.format("sum reads").replace("_to_copy", "replay")]


@in_mode("cuda")
def test_modes_of_the_program() -> None:
    """The program's own modes begin and end as it says, before, around and after such a copy; threads are apart."""
    seen: list[str] = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func._overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    def program() -> None:
        x = torch.ones(2, device="cuda")
        with Seen():  # type: ignore[no-untyped-call]
            y = x.to("cpu", non_blocking=True)
            cuda.synchronize()
            z = x.to("cpu", non_blocking=True)
        with Seen():  # type: ignore[no-untyped-call]
            cuda.synchronize()
            y.add(z)
        y.mul(z)

    assert races_of(program) == []
    assert seen == ["_to_copy", "_to_copy", "add"]

    def waits_in_another_thread() -> None:
        y = fetched()
        other = threading.Thread(target=cuda.synchronize)
        other.start()
        other.join()
        y.sum()
        cuda.synchronize()
        fetched()

    assert races_of(waits_in_another_thread) == []


@in_mode("cuda")
def test_the_sanitizer_raises() -> None:
    """With PyTorch's sanitizer such a use is an error, and the numbers are right all the same."""
    accelerator.the_machine().races.strict = True
    y = torch.arange(3, device="cuda").to("cpu", non_blocking=True)
    with pytest.raises(Exception, match="sum reads pinned memory"):
        y.sum()
    assert y.tolist() == [0, 1, 2]
