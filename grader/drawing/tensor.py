"""A tensor's facts as data, and what they mean in sentences. It needs no PyTorch: pages of the web use it, too."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product

from grader.model.picture import View


@dataclass(frozen=True)
class DrawnTensor:
    """The facts of a tensor, as it is drawn: its view, dtype, device, elements.

    Attributes:
        view: the view and its storage; None where PyTorch has no strides for it, as of a sparse tensor.
        name: the student's name for it.
        shape: its shape.
        dtype: without "torch.".
        device: the device, such as "cpu" or "cuda:0".
        contiguous: True if its elements lie one behind another in the order of their indices.
        grad: "requires grad", "a leaf that requires grad" or "".
        values: its first elements as text, in the order of their indices; none where they cannot be read.
        itemsize: bytes of an element.
    """

    view: View | None
    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    contiguous: bool
    grad: str = ""
    values: tuple[str, ...] = ()
    itemsize: int = 1

    @property
    def sentence(self) -> str:
        """A sentence about the tensor's dtype, its device, and whether it is contiguous.

        An example is "float32 on cpu, requires grad; contiguous". `contiguity` has its last part.
        """
        parts = [f"{self.dtype} on {self.device}", *filter(None, [self.grad])]
        return f"{', '.join(parts)}; {self.contiguity}"

    @property
    def contiguity(self) -> str:
        """A phrase: "contiguous", or why the tensor is not contiguous.

        An example is "not contiguous: dim 1 has stride 3, and contiguous strides are (2, 1)".
        """
        if self.view is None:
            return f"shape {self.shape}; it has no strides, so no storage is drawn"
        wanted = contiguous_strides(self.shape)
        if self.contiguous:
            return "contiguous"
        dims = range(len(self.shape))
        wrong = [dim for dim in dims if self.shape[dim] > 1 and self.view.strides[dim] != wanted[dim]]
        dim = wrong[-1] if wrong else 0
        why = f"dim {dim} has stride {self.view.strides[dim]}, and contiguous strides are {wanted}"
        return f"not contiguous: {why}"


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor of this shape, as a new tensor has them.

    For the shape (2, 3) they are (3, 1).
    """
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(1, size)
    return tuple(reversed(strides))


def element_offsets(facts: DrawnTensor, most: int = 1 << 16) -> set[int]:
    """Return the offsets in bytes of a tensor's elements from the beginning of its storage.

    For three float32 in a row they are `{0, 4, 8}`. At most `most` of them are returned.
    """
    view = facts.view
    if view is None or not math.prod(view.shape):
        return set()
    indices = islice(product(*(range(min(size, most)) for size in view.shape)), most)
    return {
        (view.offset + sum(step * at for step, at in zip(view.strides, index, strict=True))) * facts.itemsize
        for index in indices
    }


def shared_sentence(first: DrawnTensor, second: DrawnTensor) -> str:
    """Return a sentence about the memory that two tensors share.

    For x and y = x.T of shape (2, 3) it is "x and y have all 6 elements of memory in common: writing into one changes
    the other." It is "" if one of them has no strides.
    """
    if first.view is None or second.view is None:
        return ""
    names = f"{first.name} and {second.name}"
    if first.view.memory != second.view.memory:
        return f"{names} share no memory: writing into one does not change the other."
    mine, other = element_offsets(first), element_offsets(second)
    if first.itemsize != second.itemsize:
        return f"{names} are views on the same storage, with elements of {first.itemsize} and {second.itemsize} bytes."
    both = len(mine & other)
    if not both:
        return f"{names} are views on the same storage, but no element belongs to both."
    if mine == other:
        return f"{names} have all {both:,} elements of memory in common: writing into one changes the other."
    counts = f"of {len(mine):,} of {first.name} and {len(other):,} of {second.name}"
    common = f"{both:,} element{'s' if both > 1 else ''} of memory"
    return f"{names} have {common} in common, {counts}: writing there changes both."


def shared_sentences(tensors: Sequence[DrawnTensor]) -> Iterator[str]:
    """Yield a sentence about the memory that two tensors share, for each pair of tensors."""
    yield from filter(None, (shared_sentence(one, other) for one, other in combinations(tensors, 2)))
