"""Values of one process as a message: a tree of plain data as in `containers`, and blocks of memory."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter
from typing import Any

import numpy as np
import torch

from grader.wire.containers import ChildOfObject, PlainEncoder
from grader.wire.dtypes import ARRAY_DTYPE, NAMES, TAGS
from grader.wire.facts import LONGEST, AcceleratorFunctions, TensorFacts, are_any_recorded, device_of, to_row
from grader.wire.frames import Unsupported
from grader.wire.memory import MemoryBlock, address_range, host_address
from grader.wire.table import ObjectTable


class Encoder(PlainEncoder):
    """Writes one message of values: plain ones, tensors and arrays.

    Args:
        table: the objects and blocks of this call that both processes know; new ones are added to it.
        child_of_object: a function that returns the child for an object that is not a value, or raises `Unsupported`.
        answers: True if this is the process that answers, which says all facts of its tensors.
        accelerator: the functions for the accelerator of this process; None if it has none.
    """

    tags = TAGS
    no_tuples = (torch.Size,)

    def __init__(
        self,
        table: ObjectTable,
        child_of_object: ChildOfObject,
        *,
        answers: bool = False,
        accelerator: AcceleratorFunctions | None = None,
    ) -> None:
        super().__init__(table, child_of_object, answers=answers)
        self._accelerator = accelerator

    def _has_memory(self, value: Any) -> bool:
        """Return whether a value is a tensor or an array whose memory can be sent."""
        kind = type(value)
        if kind is np.ndarray:
            return ARRAY_DTYPE.fullmatch(value.dtype.str) is not None
        if kind is not torch.Tensor and kind is not torch.nn.Parameter:
            # A subclass may run code of its own whenever it is used, unless it is of the accelerator here.
            return isinstance(value, torch.Tensor) and self._cpu_view(value) is not None
        if value.device.type != "cpu":
            return self._cpu_view(value) is not None
        if value.layout is not torch.strided or value.dtype not in NAMES or value.is_nested or value._is_zerotensor():
            return False
        if torch._C._functorch.is_functorch_wrapped_tensor(value):  # it lives only inside a transform
            return False
        conj, neg = value.is_conj(), value.is_neg()
        return not (conj or neg) or can_be_lazy(value.dtype, conj, neg)

    def _cpu_view(self, tensor: torch.Tensor) -> tuple[torch.Tensor, str] | None:
        """Return a CPU tensor over the memory of an accelerator tensor, and the device's name.

        The name is "sim:1", for example. For any other tensor, return None.
        """
        return self._accelerator.to_host(tensor) if self._accelerator is not None else None

    def _describe_memory(self, rows: list[Any]) -> list[tuple[int, memoryview]]:
        """Write the rows of all tensors and arrays, and return the blocks of memory to send.

        Each None in `rows` is replaced by the row of its tensor or array. For `torch.zeros(2)` that is
        `["tensor", "float32", [2], [1], 0, 0, 0, 8, 0]`, as `Decoder._tensor` reads it.

        Returns:
            The number and the bytes of each block that is new, or that changed since it arrived.
        """
        table, leaves, spans = self._table, [], self._known_spans()
        elsewhere = self._accelerator is not None or are_any_recorded()
        for number, row in enumerate(rows):
            if row is None:
                obj, device = table.objects[number], "cpu"
                plain = obj
                if elsewhere and isinstance(obj, torch.Tensor):
                    # A tensor of an accelerator is described by the CPU tensor over its memory.
                    seen = self._cpu_view(obj)
                    plain, device = seen if seen is not None else (obj, device_of(obj))
                start, end = address_range(plain)
                leaves.append((number, obj, plain, device, start, end))
                if start < end:
                    spans.append((start, end, None, plain))
        groups = self._merge_ranges(spans)
        for number, obj, plain, device, start, end in leaves:
            block, base = None, 0
            if start < end:
                block = groups[bisect_right(groups, start, key=itemgetter(0)) - 1][1]
                base = start - table.blocks[block].address
            if isinstance(obj, torch.Tensor):
                rows[number] = self._tensor_row(number, obj, plain, device, (block, base, end - start))
            else:
                # The row has the offset of the first element, which is not the lowest address where strides go down.
                first = obj.__array_interface__["data"][0] - start + base if block is not None else 0
                layout = list(obj.shape), list(obj.strides), first
                rows[number] = ["array", obj.dtype.str, *layout, block, obj.flags.writeable]
        sent = []
        for _, number, is_new in groups:
            data, original = memoryview(table.blocks[number].data), table.blocks[number].original
            # Only what arrived has an original; the process that asks sends each block once.
            if is_new or (original is not None and data != original):
                sent.append((number, data))
        return sent

    def _known_spans(self) -> list[tuple[int, int, int | None, Any]]:
        """Return the address ranges of the blocks that both processes have.

        A tensor in such a range is on that block, and gets no new one. Blocks whose storage was moved or resized are
        left out. Each range is a tuple of start, end, block number and None, as `_merge_ranges` takes it.
        """
        blocks, moved = self._table.blocks, set()
        for (number, start, nbytes), storage in self._table.storages.items():
            now = host_address(storage) - start, storage.nbytes()
            if number is not None and now != (blocks[number].address, nbytes):
                moved.add(number)
        spans = [(block.address, block.address + block.nbytes, number, None) for number, block in enumerate(blocks)]
        return [span for span in spans if span[2] not in moved]

    def _tensor_row(
        self, number: int, tensor: torch.Tensor, plain: torch.Tensor, device: str, place: tuple[int | None, int, int]
    ) -> list[Any]:
        self._table.storages.setdefault(place, plain.untyped_storage())
        bits = plain.is_conj() + 2 * plain.is_neg()
        layout = list(plain.shape), list(plain.stride()), plain.storage_offset()
        row: list[Any] = ["tensor", NAMES[plain.dtype], *layout, *place, bits]
        written = 0 if tensor.is_inference() else tensor._version - self._table.versions.get(number, tensor._version)
        if tensor.requires_grad or written or device != "cpu":
            # Only of the answering process is it known what a gradient comes from.
            node = tensor.grad_fn if self._answers else None
            name = None if node is None else type(node).__name__[:LONGEST]
            row.append(to_row(TensorFacts(tensor.requires_grad, node is None, name, written, device)))
        return row

    def _merge_ranges(self, spans: list[tuple[int, int, int | None, Any]]) -> list[tuple[int, int, bool]]:
        """Merge overlapping address ranges into blocks, so that shared memory is sent once.

        Two new ranges 1000 to 1064 and 1032 to 1096 become the block `(1000, 0, True)`: its start, its number, and True
        as it is new. New blocks are added to the table.

        Args:
            spans: tuples of start, end, the number of a known block or None, and a new tensor or array or None.

        Raises:
            Unsupported: a range overlaps a known block and extends beyond it.
        """
        merged: list[list[Any]] = []  # start, end, number of a known block or None, new owners
        for start, end, known, owner in sorted(spans, key=itemgetter(0, 1)):
            if not merged or start >= merged[-1][1]:
                merged.append([start, end, None, []])
            last = merged[-1]
            last[1], last[2] = max(last[1], end), known if last[2] is None else last[2]
            if owner is not None:
                last[3].append(owner)
        blocks, groups = self._table.blocks, []
        for start, end, number, owners in merged:
            if number is None:
                writable = False
                for owner in owners:
                    writable = writable or isinstance(owner, torch.Tensor) or owner.flags.writeable
                groups.append((start, len(blocks), True))
                blocks.append(MemoryBlock(start, end - start, owners, writable=writable))
            else:
                if (start, end - start) != (blocks[number].address, blocks[number].nbytes):
                    raise Unsupported("memory overlaps that of an argument and extends beyond it")
                groups.append((start, number, False))
        return groups


def can_be_lazy(dtype: torch.dtype, conj: bool, neg: bool) -> bool:
    """Return whether PyTorch can read a lazily conjugated or negated view of a dtype.

    It makes some views whose values `resolve_conj` or `resolve_neg` cannot compute. A conjugate view of complex64 can
    be read, and a negative view of float32; a negative view of int64 cannot.

    Args:
        dtype: the dtype of the view.
        conj: True if the view is conjugated lazily.
        neg: True if the view is negated lazily.
    """
    if NAMES[dtype] == "bcomplex32":
        return False
    if dtype.is_complex:
        return dtype is not torch.complex32 or not (conj and neg)
    return not conj and (not neg or dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64))
