"""Random inputs for checks, all drawn from the keyed stream of the run: numbers, tensors of every kind, and samples.

What each gives stands in its name: `integer` is an int, `integers` a tuple of them, and all that is named after what is
in it (`whole`, `normal`, `uniform`, `bools`, `permutation`) is a tensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

Item = TypeVar("Item")

_LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a transposed tensor": lambda x: x.transpose(0, -1).contiguous().transpose(0, -1) if x.dim() > 1 else x,
    "every second element of a tensor": lambda x: x.repeat_interleave(2, -1)[..., ::2] if x.dim() else x,
    "a part of a tensor": lambda x: torch.cat([x[:1], x])[1:] if x.dim() else x,
}
"""Ways to lay the same numbers out, by what they make."""
_SCALES = {"large numbers": 1e4, "tiny numbers": 1e-4}
_ORDINARY, _EMPTY, _ONE = "an ordinary tensor", "a tensor with a size of 0", "a tensor with a size of 1"
_ZEROS, _EQUAL, _SPECIAL = "zeros", "equal numbers", "NaN and infinity"

CASES = frozenset((_ORDINARY, _EMPTY, _ONE, _ZEROS, _EQUAL, _SPECIAL, *_LAYOUTS, *_SCALES))
"""What may be special about a sample."""


@dataclass(frozen=True)
class Sample:
    """A tensor of a sampler's, and in words what is special about it.

    Attributes:
        tensor: the tensor.
        case: one of `CASES`, for the `case` or the `what` of a message, such as "a tensor with a size of 0".
    """

    tensor: torch.Tensor
    case: str


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

    # -- samples of what is interesting ---------------------------------------------------------------------------

    def shapes(self, dims: int, *, empty: bool = True) -> Iterator[tuple[int, ...]]:
        """Shapes of so many dims: sizes that differ, then a 1 in each place, all ones, and, if wanted, a 0 in each."""
        yield self.sizes(dims)
        for edge in (1, 0) if empty else (1,):
            for place in range(dims):
                sizes = list(self.sizes(dims))
                sizes[place] = edge
                yield tuple(sizes)
        if dims > 1:
            yield (1,) * dims

    def samples(
        self,
        *shapes: Sequence[int],
        dtypes: Sequence[torch.dtype] = (torch.float32,),
        layouts: bool = True,
        values: bool = True,
        special: bool = False,
    ) -> Iterator[Sample]:
        """Tensors of these shapes that together have what answers stumble over; each shape comes several times.

        Args:
            shapes: the shapes, such as those of `shapes`.
            dtypes: each comes with each shape.
            layouts: whether there are also transposed ones, every second element of another, and a part of another.
            values: whether there are also zeros, equal numbers, large and tiny ones.
            special: whether there are also NaN and infinity, of dtypes that have them.
        """
        for shape, dtype in itertools.product(map(tuple, shapes), dtypes):
            first = self._some(shape, dtype)
            yield Sample(first, _EMPTY if not first.numel() else _ONE if 1 in shape else _ORDINARY)
            if not first.numel():  # there is but one such tensor
                continue
            for case, lay_out in _LAYOUTS.items() if layouts else ():
                tensor = lay_out(self._some(shape, dtype))
                if tensor.stride() != first.stride() or tensor.storage_offset():
                    yield Sample(tensor, case)
            for case in (_ZEROS, _EQUAL, *_SCALES) if values else ():
                if case not in _SCALES or _is_float(dtype):
                    yield Sample(self._of_case(case, shape, dtype), case)
            if special and _is_float(dtype):
                yield Sample(self._of_case(_SPECIAL, shape, dtype), _SPECIAL)

    def _some(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        if dtype is torch.bool:
            return self.bools(*shape)
        if _is_float(dtype):
            return self.normal(*shape, dtype=torch.float64).to(dtype)
        # Not to the ends of a narrow dtype: a sum of a few is to fit.
        return self.whole(0 if dtype is torch.uint8 else -20, 20, *shape, dtype=dtype)

    def _of_case(self, case: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        if case == _ZEROS:
            return torch.zeros(shape, dtype=dtype)
        if case == _EQUAL:
            return torch.full(shape, self.integer(1, 3)).to(dtype)
        tensor = self.normal(*shape, dtype=torch.float64) * _SCALES.get(case, 1.0)
        if case == _SPECIAL:
            flat = tensor.view(-1)
            for place, value in zip(self.permutation(len(flat)).tolist(), ("nan", "inf", "-inf"), strict=False):
                flat[place] = float(value)
        return tensor.to(dtype)


def _is_float(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex
