"""Device-side asserts, as CUDA has them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from accelerator.modes import in_mode, raises
from torch.nn import functional

from grader import accelerator

FAR = torch.tensor([0, 9])
BAD: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "an index": lambda x, far: x[far],
    "an index to write to": lambda x, far: x.index_put((far,), x.new_ones(2, 3)),
    "an embedding": lambda x, far: functional.embedding(far, x),
    "index_select": lambda x, far: x.index_select(0, far),
    "gather": lambda x, far: x.gather(0, far[:, None]),
    "scatter": lambda x, far: x.scatter(0, far[:, None], 1.0),
    "a class": lambda x, far: functional.cross_entropy(x[:2], far),
    "no probability": lambda x, far: functional.binary_cross_entropy(x + 2, x),
    "no distribution": lambda x, far: torch.multinomial(x - 2, 1),
    "nothing to draw": lambda x, far: torch.multinomial(0 * x, 1),
    "a chance above 1": lambda x, far: torch.bernoulli(x + 1),
    "a class that does not exist": lambda x, far: functional.one_hot(far, 3),
    "an index of a bag": lambda x, far: functional.embedding_bag(far[None], x),
    "an index of a bag, the largest": lambda x, far: functional.embedding_bag(far[None], x, mode="max"),
    "an assertion": lambda x, far: torch._assert_async(0 * x[0, 0]),
}

ADVICE = "For debugging consider passing CUDA_LAUNCH_BLOCKING=1"


@pytest.mark.parametrize("name", BAD)
@in_mode("cuda")
def test_a_wrong_number_is_reported_at_the_next_wait(name: str) -> None:
    """The call itself succeeds; the next wait raises CUDA's error, and from then on all that the device is asked."""
    x, far = torch.ones(4, 3, device="cuda"), FAR.cuda()
    BAD[name](x, far)
    for ask in (torch.cuda.synchronize, lambda: x + 1, x.cpu, lambda: x.sum().item(), lambda: repr(x)):
        with raises(RuntimeError, "CUDA error: device-side assert triggered") as told:
            ask()
        assert ADVICE in str(told.value)


@in_mode("off")
def test_a_blocking_launch_raises_where_it_is() -> None:
    """With CUDA_LAUNCH_BLOCKING=1 the host waits for each kernel, so that the line that is wrong raises."""
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    accelerator.enable("cuda")
    x, far = torch.ones(4, 3, device="cuda"), FAR.cuda()
    with raises(RuntimeError, "device-side assert triggered") as told:
        x[far]
    assert ADVICE not in str(told.value)
    assert torch.ones(2, device="cuda:1").tolist() == [1, 1]  # another device has nothing to do with it


@in_mode("cuda")
def test_what_the_host_finds_by_itself() -> None:
    """Numbers that the host knows, shapes and dims raise at once, and leave the device usable."""
    x = torch.ones(4, 3, device="cuda")
    wrong: tuple[Callable[[], Any], ...] = (lambda: x[9], lambda: x.sum(5), lambda: x[torch.ones(2).bool().cuda()])
    for ask in wrong:
        with pytest.raises(IndexError):
            ask()
    assert x.sum().item() == 12


@in_mode("sim")
def test_the_device_of_its_own_name_raises_at_once() -> None:
    """Where no GPU is imitated, the error comes from the line that is wrong."""
    with raises(IndexError, "index 9 is out of bounds for dimension 0 with size 4"):
        torch.ones(4, device="sim")[FAR.to("sim")]
