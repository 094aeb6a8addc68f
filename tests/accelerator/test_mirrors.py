"""How tensors on CUDA cross to a check, tried with simulated ones: their memory cannot be handed over as it is."""

from __future__ import annotations

import torch
from accelerator.modes import in_mode
from wire.pair import Pair, quietly

from grader import accelerator
from grader.wire.facts import AcceleratorFunctions, TensorFacts, facts_of, note_facts
from grader.worker.surroundings import Mirrors, set_device_mode


def mirrored() -> Pair:
    """A check and a worker whose tensors on "cuda" are mirrored."""
    mirrors = Mirrors(accelerator.is_simulated)
    return Pair(accelerator=AcceleratorFunctions(mirrors.to_host, mirrors.to_device, mirrors.clear))


def on_cuda(tensor: torch.Tensor, index: int = 0) -> torch.Tensor:
    """As a check marks a tensor that is to lie on the device."""
    note_facts(tensor, TensorFacts(device=f"cuda:{index}"))
    return tensor


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
    assert (facts_of(whole).device, facts_of(conj).device) == ("cuda:1", "cuda:0")
    assert conj.is_conj()
    assert conj.tolist() == [1 - 2j, -3j]


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
def test_an_argument_on_the_device_comes_back_as_itself() -> None:
    """It stays on its device from call to call, and changes there arrive here each time."""
    pair = mirrored()
    x = on_cuda(torch.zeros(3))
    assert pair.call(lambda x: x, x) is x
    pair.call(quietly(lambda x: x[1:].add_(2)), x)
    assert (x.tolist(), facts_of(x).device) == ([0, 2, 2], "cuda:0")
    x[0] = 7
    assert pair.call(lambda x: [str(x.device), x.tolist()], x) == ["cuda:0", [7, 2, 2]]


@in_mode("cuda")
def test_mirrors_last_as_long_as_a_request() -> None:
    """Within one, memory has one mirror, which is up to date; the next one begins with none."""
    mirrors = Mirrors(accelerator.is_simulated)
    for number in range(50):
        mirrors.clear()
        there = torch.full((1000,), float(number), device="cuda")
        found = mirrors.to_host(there)
        assert found is not None
        assert found[0][0] == number
        there[0] = -1
        again = mirrors.to_host(there[:1])
        assert again is not None
        assert again[0][0] == found[0][0] == -1
        assert len(mirrors._pairs) == 1
    assert mirrors.to_host(torch.ones(2)) is None


@in_mode("off")
def test_memory_of_the_simulated_device_crosses_after_its_storage_was_looked_at() -> None:
    """A storage's address on the device, which is not in this process, is never read as memory of it."""
    pair = Pair(accelerator=set_device_mode("sim"))
    x = torch.arange(4.0)
    note_facts(x, TensorFacts(device="sim:0"))

    def double(x: torch.Tensor) -> list[torch.Tensor]:
        assert x.untyped_storage().data_ptr() % 512 == 0
        return [x.mul_(2), torch.ones(2, device="sim:0")]

    same, ones = pair.call(double, x)
    assert same is x
    assert (x.tolist(), ones.tolist(), facts_of(ones).device) == ([0, 2, 4, 6], [1, 1], "sim:0")
