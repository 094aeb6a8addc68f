"""Where tensors and arrays lie in memory, and blocks: pieces of memory that several of them share.

A block is as large as it must be to hold every storage and array that overlaps with another. Two storages that
`torch.from_numpy` made of one array lie in one block, and so do an array and its reversed view.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from grader.wire.handles import is_remote

Array: TypeAlias = npt.NDArray[Any]
Owner: TypeAlias = torch.UntypedStorage | Array


@dataclass(frozen=True)
class Extent:
    """A range of addresses and the object that keeps it alive."""

    start: int
    size: int
    owner: Owner
    writable: bool = True

    @property
    def end(self) -> int:
        """The first address behind the range."""
        return self.start + self.size

    def holds(self, start: int, size: int) -> bool:
        """Whether the range lies in this extent."""
        return self.start <= start and start + size <= self.end


def storage_extent(storage: torch.UntypedStorage) -> Extent:
    """The memory of a storage."""
    return Extent(storage.data_ptr(), storage.nbytes(), storage)


def array_extent(array: Array) -> Extent:
    """The memory of the array that owns what this one is a view of."""
    # By the owner, not by what this view shows of it: two views that do not overlap may have a third across both.
    root = _root(array)
    if isinstance(root.base, torch.Tensor):
        return storage_extent(root.base.untyped_storage())
    start, size = array_bounds(root)
    return Extent(start, size, root, writable=root.flags.writeable)


def _root(array: Array) -> Any:
    """The array that owns what this one is a view of."""
    root: Any = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    return root


def extent_of(value: object) -> Extent | None:
    """The memory that a tensor or an array is a window on; None of anything else."""
    if is_remote(value):
        return None
    if isinstance(value, torch.Tensor):
        return storage_extent(value.untyped_storage())
    return array_extent(value) if isinstance(value, np.ndarray) else None


def memory_of(leaf: torch.Tensor | Array) -> int:
    """The address of what owns the memory that a tensor or an array is a window on."""
    return leaf.untyped_storage()._cdata if isinstance(leaf, torch.Tensor) else id(_root(leaf))


def is_shared(leaf: torch.Tensor | Array) -> bool:
    """Whether anything else is a window on the memory of a tensor or an array, or holds it."""
    if isinstance(leaf, torch.Tensor):
        return _holders(leaf.untyped_storage()) > _HOLDERS_OF_ONE
    root = _root(leaf)
    return root is not leaf and sys.getrefcount(root) > _REFERENCES_TO_ONE


def _holders(storage: torch.UntypedStorage) -> int:
    """Of the memory and of the object that stands for it here: one number that grows with each."""
    uses: int = torch._C._storage_Use_Count(storage._cdata)
    return uses + sys.getrefcount(storage)


_alone = torch.empty(1, device="cpu")
_HOLDERS_OF_ONE = _holders(_alone.untyped_storage())
"""What is counted where there is one tensor alone: that differs from one PyTorch to the next."""

_REFERENCES_TO_ONE = 3
"""To an array that another one is a view of: from there, from the local name, and from the question."""


def array_bounds(array: Array) -> tuple[int, int]:
    """Lowest address and number of bytes that the elements of an array span; strides may be negative."""
    start = array.__array_interface__["data"][0]
    low, high = span(array.shape, array.strides)
    return (start + low, high - low + array.itemsize) if array.size else (start, 0)


def span(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """Lowest and highest position of any element, relative to the first, in the unit of the strides."""
    steps = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)


def _writable(owner: Owner) -> bool:
    return isinstance(owner, torch.UntypedStorage) or bool(owner.flags.writeable)


def merge(extents: list[Extent]) -> list[list[Extent]]:
    """Group extents so that those which overlap stand together."""
    # Overlaps are no relation of two alone: what links one storage with the next may be a third, such as the array that
    # both were made of. All of them must then share memory at the other end, so all of them become one block.
    groups: list[list[Extent]] = []
    end = -1
    for extent in sorted(extents, key=lambda extent: extent.start):
        if groups and extent.start < end:
            groups[-1].append(extent)
            end = max(end, extent.end)
        else:
            groups.append([extent])
            end = extent.end
    return groups


@dataclass
class Block:
    """One piece of memory that two processes both have.

    Attributes:
        number: its name on the wire.
        start: address, here.
        size: bytes.
        extents: what keeps the memory alive, here.
        last: the bytes when both sides last agreed, or None before that.
        first: the bytes when they first crossed, which is what a reference is given.
    """

    number: int
    start: int
    size: int
    extents: list[Extent]
    last: bytes | None = None
    first: bytes | None = None
    _storages: weakref.WeakValueDictionary[tuple[int, int], torch.UntypedStorage] = field(
        default_factory=weakref.WeakValueDictionary
    )
    _released: list[tuple[int, int, weakref.ref[Any], bool]] | None = None

    @classmethod
    def of(cls, number: int, extents: list[Extent]) -> Block:
        """The block that just holds some overlapping extents."""
        start = min(extent.start for extent in extents)
        return cls(number, start, max(extent.end for extent in extents) - start, extents)

    @classmethod
    def allocate(cls, number: int, size: int, *, writable: bool) -> Block:
        """A new block, backed by a storage as PyTorch itself would make it."""
        extent = storage_extent(torch.UntypedStorage(size, device="cpu"))
        return cls(number, extent.start, size, [Extent(extent.start, size, extent.owner, writable)])

    @classmethod
    def over(cls, number: int, memory: memoryview, *, writable: bool) -> Block:
        """A block on memory that is there already, such as a mapping that another process writes into."""
        if not len(memory):
            return cls.allocate(number, 0, writable=writable)
        extent = storage_extent(torch.frombuffer(memory, dtype=torch.uint8).untyped_storage())
        return cls(number, extent.start, extent.size, [Extent(extent.start, extent.size, extent.owner, writable)])

    @property
    def writable(self) -> bool:
        """Whether every part may be written, as of now: an array may have become read-only."""
        return all(extent.writable and _writable(extent.owner) for extent in self.extents)

    def release(self) -> None:
        """Hold the memory weakly, so that it goes when nobody else holds it."""
        # By its owners, since neither end may guess from an address alone whether it is still the same memory.
        if self._released is None:
            self._released = [
                (extent.start, extent.size, weakref.ref(extent.owner), extent.writable) for extent in self.extents
            ]
            self.extents = []

    def hold(self) -> bool:
        """Hold the memory again, and tell whether all of it is still there."""
        # What holds memory may have gone in between, all of it or a part. The rest must still cover the block without a
        # gap: bytes in a gap may belong to somebody else by now, and would be read and overwritten.
        if self._released is not None:
            alive = [(start, size, refer(), writable) for start, size, refer, writable in self._released]
            self.extents = [Extent(*row) for row in alive if row[2] is not None]  # type: ignore[arg-type]
            self._released = None
        if len(self.extents) == 1:  # as almost always
            extent = self.extents[0]
            return (extent.start, extent.size) == (self.start, self.size) and not self.stale()
        end = self.start
        for extent in sorted(self.extents, key=lambda extent: extent.start):
            end = max(end, extent.end) if extent.start <= end else end
        return end == self.start + self.size and not self.stale()

    def holds(self, start: int, size: int) -> bool:
        """Whether the range lies in this block."""
        return self.start <= start and start + size <= self.start + self.size

    def stale(self) -> bool:
        """Whether a storage in it was resized or moved meanwhile."""
        return any(
            isinstance(extent.owner, torch.UntypedStorage)
            and (extent.owner.data_ptr(), extent.owner.nbytes()) != (extent.start, extent.size)
            for extent in self.extents
        )

    def read(self) -> bytes:
        """A copy of the bytes."""
        return ctypes.string_at(self.start, self.size) if self.size else b""

    def write(self, data: memoryview) -> None:
        """Overwrite the bytes."""
        if self.size:
            source = (ctypes.c_char * self.size).from_buffer(data)
            ctypes.memmove(self.start, source, self.size)

    def storage(self, offset: int, size: int) -> torch.UntypedStorage:
        """The storage at a range of the block: the one that is there, or one that shares its memory."""
        # One storage for each range, however many tensors are told on it: a check may compare `untyped_storage()`, and
        # what is resized through one of them must be so for all.
        key = (offset, size)
        storage = self._storages.get(key)
        if storage is None:
            storage = self._storages[key] = self._find_storage(offset, size)
        return storage

    def _find_storage(self, offset: int, size: int) -> torch.UntypedStorage:
        for extent in self.extents:
            if isinstance(extent.owner, torch.UntypedStorage) and (extent.start, extent.size) == (
                self.start + offset,
                size,
            ):
                return extent.owner
        if size == 0:
            return torch.UntypedStorage(0, device="cpu")
        return torch.frombuffer(self._buffer(offset, size), dtype=torch.uint8).untyped_storage()

    def array(self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """An array over the block's memory. The caller has checked that it lies inside."""
        low, high = span(shape, strides)
        whole = np.frombuffer(self._buffer(offset + low, high - low + dtype.itemsize), dtype=np.uint8)
        return np.ndarray(shape, dtype, whole, -low, strides)

    def _buffer(self, offset: int, size: int) -> Any:
        # Whatever is made over these bytes must keep their owner alive, for the block lets go of it between calls.
        start = self.start + offset
        for extent in self.extents:
            if extent.holds(start, size):
                if isinstance(extent.owner, torch.UntypedStorage):
                    # .numpy() keeps the storage alive and, as in PyTorch itself, forbids to resize it from now on
                    whole = torch.empty(0, dtype=torch.uint8, device="cpu").set_(extent.owner).numpy()
                    return whole[start - extent.start : start - extent.start + size]
                buffer: Any = (ctypes.c_char * size).from_address(start)
                buffer.keeps = extent.owner
                return buffer
        buffer = (ctypes.c_char * size).from_address(start)
        buffer.keeps = self.extents
        return buffer
