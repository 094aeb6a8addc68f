"""Inputs are what their names say, come from the stream alone, and samples have what answers stumble over."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from grader.check import Rng
from grader.check.generate import CASES

HOLDS: dict[str, Callable[[torch.Tensor], object]] = {
    "an ordinary tensor": lambda x: x.is_contiguous() and x.numel() > 1,
    "zeros": lambda x: not x.any(),
    "equal numbers": lambda x: bool((x == x.flatten()[0]).all()),
    "a tensor with a size of 0": lambda x: x.numel() == 0,
    "a tensor with a size of 1": lambda x: 1 in x.shape,
    "a transposed tensor": lambda x: not x.is_contiguous(),
    "every second element of a tensor": lambda x: x.stride(-1) == 2,
    "a part of a tensor": lambda x: x.storage_offset() > 0,
    "large numbers": lambda x: x.abs().max() > 100,
    "tiny numbers": lambda x: x.abs().max() < 0.01,
    "NaN and infinity": lambda x: not x.isfinite().all(),
}
"""What is so of a sample of each case."""


@pytest.fixture
def rng() -> Rng:
    """A generator as a check has it, with a seed of its own."""
    generator = Rng()
    generator.manual_seed(3)
    return generator


def test_names_say_what_comes(rng: Rng) -> None:
    """Ints and tuples of them are plain; what is named after its content is a tensor, bounds are included."""
    assert {rng.integer(2, 3) for _ in range(40)} == {2, 3}
    assert isinstance(rng.integers(0, 5, 2), tuple)
    assert {rng.boolean() for _ in range(40)} == {True, False}
    assert sorted(rng.shuffled("abc")) == ["a", "b", "c"]
    assert rng.choice("a") == "a"
    whole = rng.whole(-1, 1, 200, 2, dtype=torch.int16)
    assert (whole.dtype, whole.shape, whole.unique().tolist()) == (torch.int16, (200, 2), [-1, 0, 1])
    assert rng.permutation(5).sort().values.tolist() == [0, 1, 2, 3, 4]
    assert rng.distinct(3, 4).unique().numel() == 12
    assert rng.whole(0, 1).shape == ()


def test_bools_have_both(rng: Rng) -> None:
    """A tensor of bools with two elements or more is never all the same."""
    for _ in range(40):
        found = rng.bools(2)
        assert found.dtype is torch.bool
        assert found.tolist() in ([True, False], [False, True])
    assert rng.bools(0).shape == (0,)


def test_sizes_differ(rng: Rng) -> None:
    """No two sizes are the same, and where there are not enough the author is told."""
    for _ in range(40):
        sizes = rng.sizes(3, 2, 4)
        assert sorted(sizes) == [2, 3, 4]
    with pytest.raises(ValueError, match="there are no 3 different sizes from 2 to 3"):
        rng.sizes(3, 2, 3)


def test_shapes_have_the_edges(rng: Rng) -> None:
    """A 1 and a 0 in each place, all ones, and sizes that differ."""
    found = list(rng.shapes(2))
    assert found[0][0] != found[0][1]
    assert [tuple(size if size < 2 else "n" for size in shape) for shape in found] == [
        ("n", "n"),
        (1, "n"),
        ("n", 1),
        (0, "n"),
        ("n", 0),
        (1, 1),
    ]
    assert all(0 not in shape for shape in rng.shapes(3, empty=False))
    assert list(rng.shapes(0)) == [()]


def test_samples_have_what_answers_stumble_over(rng: Rng) -> None:
    """Each case that is asked for comes, is told by a fixed text, and is what that says."""
    dtypes = torch.float32, torch.int32, torch.bool, torch.uint8, torch.complex64
    found = list(rng.samples(*rng.shapes(2), dtypes=dtypes, special=True))
    assert {sample.case for sample in found} == CASES
    assert {sample.tensor.dtype for sample in found} == set(dtypes)
    for sample in found:
        assert HOLDS[sample.case](sample.tensor), sample
    plain = list(rng.samples((2, 3), layouts=False, values=False))
    assert [sample.case for sample in plain] == ["an ordinary tensor"]


def test_the_stream_gives_all_of_it() -> None:
    """The same state gives the same, and PyTorch's own generator is not asked."""
    before = torch.get_rng_state()

    def draw() -> list[torch.Tensor]:
        generator = Rng()
        generator.manual_seed(5)
        rows = [sample.tensor for sample in generator.samples(*generator.shapes(2), dtypes=(torch.float32, torch.bool))]
        return [*rows, generator.bools(9), generator.distinct(4), torch.tensor(generator.shuffled([1, 2, 3]))]

    for one, other in zip(draw(), draw(), strict=True):
        torch.testing.assert_close(one, other)
    assert torch.equal(before, torch.get_rng_state())
