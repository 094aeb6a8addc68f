"""Random inputs for checks, all drawn from the keyed stream of the run: numbers, and tensors of every kind.

What each gives stands in its name: `integer` is an int, `integers` a tuple of them, and all that is named after what is
in it (`whole`, `normal`, `uniform`, `bools`, `permutation`) is a tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import torch

Item = TypeVar("Item")


class Rng(torch.Generator):
    """A generator for a check's inputs; goes wherever PyTorch takes `generator=`, too."""

    # -- plain values ---------------------------------------------------------------------------------------------

    def integer(self, low: int, high: int) -> int:
        """An int from `low` to `high`, both included."""
        return int(torch.randint(low, high + 1, (), generator=self))

    def integers(self, low: int, high: int, count: int) -> tuple[int, ...]:
        """A tuple of several of them."""
        return tuple(self.integer(low, high) for _ in range(count))

    def boolean(self) -> bool:
        """True or False."""
        return bool(self.integer(0, 1))

    def choice(self, items: Sequence[Item]) -> Item:
        """One of several."""
        return items[self.integer(0, len(items) - 1)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """All of them, in another order."""
        return [items[place] for place in self.permutation(len(items)).tolist()]

    def sizes(self, count: int, low: int = 2, high: int = 7) -> tuple[int, ...]:
        """A tuple of sizes that all differ, so that swapped dims show.

        Raises:
            ValueError: there are not so many between `low` and `high`.
        """
        if high - low + 1 < count:
            raise ValueError(f"there are no {count} different sizes from {low} to {high}")
        return tuple((low + self.permutation(high - low + 1)[:count]).tolist())

    # -- tensors --------------------------------------------------------------------------------------------------

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """A tensor of normally distributed numbers, mean 0 and deviation 1."""
        return torch.randn(shape, generator=self, dtype=dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """A tensor of numbers from 0 to 1."""
        return torch.rand(shape, generator=self, dtype=dtype)

    def whole(self, low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """A tensor of whole numbers from `low` to `high`, both included."""
        return torch.randint(low, high + 1, shape, generator=self).to(dtype)

    def bools(self, *shape: int) -> torch.Tensor:
        """A tensor of True and False; with two elements or more it has both."""
        found = self.whole(0, 1, *shape).bool()
        if found.numel() > 1 and bool(found.all() | ~found.any()):
            flat = found.view(-1)
            flat[self.integer(0, found.numel() - 1)] ^= True
        return found

    def permutation(self, count: int) -> torch.Tensor:
        """A tensor with the numbers from 0 to `count` - 1, each once."""
        return torch.randperm(count, generator=self)

    def distinct(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """A tensor of numbers that all differ, so that a sort or a maximum has one answer."""
        count = torch.Size(shape).numel()
        return (self.permutation(count) - count // 2).to(dtype).reshape(shape)
