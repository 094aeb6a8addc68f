"""How tensors on CUDA cross to a check, tried with simulated ones: their memory cannot be handed over as it is."""

from __future__ import annotations

import torch
from accelerator.modes import in_mode
from wire.pair import Pair

from grader import accelerator
from grader.wire import devices
from grader.wire.claimed import claims_of, note_claims
from grader.wire.describe import Claims
from grader.worker.cuda import Mirrors


def mirrored() -> Pair:
    """A check and a worker whose tensors on "cuda" are mirrored."""
    mirrors = Mirrors(accelerator.is_simulated)
    devices.use(mirrors.look, mirrors.place, mirrors.arrived)
    return Pair()


def on_cuda(tensor: torch.Tensor, index: int = 0) -> torch.Tensor:
    """As a check marks a tensor that is to lie on the device."""
    note_claims(tensor, Claims(device=f"cuda:{index}"))
    return tensor


def place_of(tensor: torch.Tensor) -> str | None:
    """The device that is claimed for a tensor that came over."""
    claims = claims_of(tensor)
    assert claims is not None
    return claims.device


@in_mode("cuda")
def test_results_share_memory_as_they_do_there() -> None:
    """Numbers, strides, offset, device, conjugation and shared memory arrive."""
    pair = mirrored()
    base = torch.arange(6.0, device="cuda:1").view(2, 3)
    lazy = torch.tensor([1 + 2j, 3j], device="cuda").conj()
    whole, part, conj = pair.call(lambda: [base, base.T[1:], lazy])
    assert whole.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (part.shape, part.stride(), part.storage_offset()) == ((2, 2), (1, 3), 1)
    assert part.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr()
    assert (place_of(whole), place_of(conj)) == ("cuda:1", "cuda:0")
    assert conj.is_conj()
    assert conj.tolist() == [1 - 2j, -3j]


@in_mode("cuda")
def test_changes_on_the_device_are_told() -> None:
    """A tensor that the check holds shows what was done to it meanwhile, and stays the same object."""
    pair = mirrored()
    base = torch.zeros(4, device="cuda")
    held = pair.call(lambda: base)
    again = pair.call(lambda x: x[1:].add_(2), held)
    assert held.tolist() == [0, 2, 2, 2]
    assert again.tolist() == [2, 2, 2]
    assert pair.call(lambda: base) is held


@in_mode("cuda")
def test_arguments_are_put_on_the_device() -> None:
    """A marked argument arrives on its device; what shares memory shares it there; in-place changes come back."""
    pair = mirrored()
    whole = on_cuda(torch.arange(6.0).view(2, 3), 1)
    part = on_cuda(whole.T[1:], 1)

    def scale(x: torch.Tensor, y: torch.Tensor) -> str:
        y.mul_(10)
        return f"{x.device} {y.device} {x.tolist()} {y.stride()}"

    assert pair.call(scale, whole, part) == "cuda:1 cuda:1 [[0.0, 10.0, 20.0], [3.0, 40.0, 50.0]] (1, 3)"
    assert whole.tolist() == [[0, 10, 20], [3, 40, 50]]
    assert part.tolist() == [[10, 40], [20, 50]]


@in_mode("cuda")
def test_changes_of_the_check_reach_the_device() -> None:
    """What the check writes into a tensor that both know is there at the next call."""
    pair = mirrored()
    x = on_cuda(torch.zeros(3))
    kept = []
    pair.call(lambda x: kept.append(x), x)
    x[1] = 7
    assert pair.call(lambda x: [x is kept[0], x.tolist()], x) == [True, [0, 7, 0]]
    made = torch.ones(2, device="cuda")
    held = pair.call(lambda: made)
    held[0] = 5
    assert pair.call(lambda x: x.tolist(), held) == [5, 1]
    assert made.tolist() == [5, 1]


@in_mode("cuda")
def test_gradients_cross() -> None:
    """A marked argument that requires a gradient is a leaf there, and its gradient comes back."""
    pair = mirrored()
    x = on_cuda(torch.ones(3, requires_grad=True))
    pair.call(lambda x: (x * 3).sum().backward(), x)
    assert x.grad is not None
    assert x.grad.tolist() == [3, 3, 3]
    assert place_of(x.grad) == "cuda:0"


@in_mode("cuda")
def test_mirrors_go_with_their_memory() -> None:
    """Nothing is kept of tensors that are gone, and new memory at an old address is not taken for the old."""
    mirrors = Mirrors(accelerator.is_simulated)
    for number in range(50):
        found = mirrors.look(torch.full((1000,), float(number), device="cuda"))
        assert found is not None
        assert found[0][0] == number
    kept = torch.ones(2, device="cuda")
    mirrors.look(kept)
    assert len(mirrors._alive()) == 1
    assert mirrors.look(torch.ones(2)) is None
