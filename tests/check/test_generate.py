"""Inputs are what their names say, and come from the stream alone."""

from __future__ import annotations

import pytest
import torch

from grader.check import Rng


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


def test_the_stream_gives_all_of_it() -> None:
    """The same state gives the same, and PyTorch's own generator is not used."""
    before = torch.get_rng_state()

    def draw() -> list[torch.Tensor]:
        rng = Rng()
        rng.manual_seed(5)
        return [rng.normal(3), rng.bools(9), rng.distinct(4), torch.tensor(rng.shuffled([1, 2, 3]))]

    for one, other in zip(draw(), draw(), strict=True):
        torch.testing.assert_close(one, other)
    assert torch.equal(before, torch.get_rng_state())
