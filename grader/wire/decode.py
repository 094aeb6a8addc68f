"""A message as values: everything is checked before anything is used, and before anything of the receiver's changes.

In a process that asks, a reply may change what the request held: containers, memory, the layout of a tensor. Such a
change can be taken back and made again (`Change`), so that the reference gets arguments as they were.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from grader.wire.containers import PlainDecoder, items_of
from grader.wire.dtypes import DTYPES, TAGS, array_dtype
from grader.wire.encode import can_be_lazy
from grader.wire.facts import AcceleratorFunctions, TensorFacts, are_any_recorded, from_row, note_facts
from grader.wire.frames import Caps, ProtocolError, expect
from grader.wire.memory import Array, MemoryBlock, check_layout, dense_strides, trial_view
from grader.wire.table import ALIGNMENT, ObjectTable


class Change:
    """A change of an object or a block of the receiver, which can be undone and redone.

    Attributes:
        thing: the object or the block.
    """

    def __init__(self, thing: Any, get: Callable[[Any], Any], put: Callable[[Any, Any], None], after: Any) -> None:
        self.thing, self._get, self._put = thing, get, put
        self._other = get(thing)
        put(thing, after)
        self._here = get(thing)

    def swap(self) -> None:
        """Exchange the present content of an object and the content kept here: undo, then redo.

        If something else has changed the object since, nothing happens.
        """
        if _is_same(self._get(self.thing), self._here):
            self._put(self.thing, self._other)
            self._here, self._other = self._other, self._here


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
    if isinstance(one, torch.Tensor):
        return bool((one.data_ptr(), one.shape, one.stride()) == (other.data_ptr(), other.shape, other.stride()))
    return bool(one == other)


class Decoder(PlainDecoder):
    """Reads one message of values: plain ones, tensors and arrays.

    Args:
        table: the objects and blocks of this call that both processes know.
        object_of_child: a function that takes the items of a child that `child_of_object` of an encoder made, and
            returns the object.
        caps: the caps on one message.
        answers: True if this is the process that answers: it gets tensors as they were, on their devices.
        accelerator: the functions for the accelerator of this process; None if it has none.
    """

    tags = TAGS
    leaves = ("tensor", "array")

    def __init__(
        self,
        table: ObjectTable,
        object_of_child: Callable[..., Any],
        caps: Caps | None = None,
        *,
        answers: bool = False,
        accelerator: AcceleratorFunctions | None = None,
    ) -> None:
        super().__init__(table, object_of_child, caps)
        self._answers = answers
        self._accelerator = accelerator
        self.changes: list[Change] = []

    # -- reading ------------------------------------------------------------------------------------------------------

    def _take_blocks(self, sizes: list[Any], data: memoryview, original: memoryview) -> dict[int, Array]:
        """Divide the data of a message into blocks of memory, and add the new blocks to the table.

        The sizes `[[0, 12], [1, 4]]` say that block 0 has bytes 0 to 11, and block 1 bytes 64 to 67, as each block
        begins at a multiple of 64. Return the new bytes of each such block that both processes already have, by its
        number.
        """
        blocks, written = self._table.blocks, {}
        known, start, most = len(blocks), 0, len(data)
        buffer = np.frombuffer(data, np.uint8) if most else np.empty(0, np.uint8)
        for entry in sizes:
            if type(entry) is not list or len(entry) != 2:
                raise ProtocolError("an invalid block")
            number, size = entry
            if type(number) is not int or type(size) is not int or not 0 < size <= most - start:
                raise ProtocolError("an invalid block")
            part = buffer[start : start + size]
            if 0 <= number < known:
                if not blocks[number].writable or number in written or blocks[number].nbytes != size:
                    raise ProtocolError("memory changed that is read-only, or of another size")
                written[number] = part
            else:
                if number != len(blocks):
                    raise ProtocolError("an invalid number of a block")
                blocks.append(self._new_block(number, part, original[start : start + size]))
            start += -(-size // ALIGNMENT) * ALIGNMENT
        if start != most:
            raise ProtocolError("blocks and data differ in size")
        return written

    def _new_block(self, number: int, part: Array, original: memoryview) -> MemoryBlock:
        if not len(original):
            return MemoryBlock(part.__array_interface__["data"][0], part.nbytes, part)
        # In the process that answers: PyTorch resizes memory that it has allocated, and no other.
        storage = self._table.storages[number, 0, part.nbytes] = torch.UntypedStorage(part.nbytes, device="cpu")
        block = MemoryBlock(storage.data_ptr(), part.nbytes, storage)
        block.data[:], block.original = part, original
        return block

    def _tensor_or_array(self, number: int, row: list[Any]) -> Any:
        """Return the tensor or array that a row of the message describes.

        In the process that answers, such as a worker, a tensor also gets the device and `requires_grad` that it has in
        the check process.

        Args:
            number: the number of the object, by which both processes refer to it.
            row: the description, such as `["array", "<f4", [2], [4], 0, 0, True]`; see `_array` and `_tensor`.
        """
        if row[0] == "array":
            array = self._array(row)
            if number < len(self._table.objects):
                # NumPy may refuse it, there or back, and once the first change is made nothing is refused any more.
                tried = trial_view(self._table.objects[number])
                before = _array_layout(tried)
                _set_array_layout(tried, _array_layout(array))
                _set_array_layout(tried, before)
            return array
        tensor = self._tensor(row)
        facts = from_row(row[9]) if len(row) == 10 else None
        if self._answers:
            if self._accelerator is not None:
                tensor = self._accelerator.to_device(tensor, "cpu" if facts is None else facts.device)
            if facts is not None and facts.requires_grad:
                tensor.requires_grad_()
            # Student code may have left inference mode on, in which tensors have no version.
            self._table.versions[number] = 0 if tensor.is_inference() else tensor._version
        elif number < len(self._table.objects) and self._table.objects[number].requires_grad:
            expect(tensor.is_floating_point() or tensor.is_complex(), "such a tensor has no gradient")
        return tensor

    def _array(self, row: list[Any]) -> Array:
        """Return the array that a row describes, over its block of memory.

        `["array", "<f4", [2], [4], 0, 0, True]` has dtype, shape, strides, offset, number of the block, and whether the
        array can be written to. An invalid row raises `ProtocolError`.
        """
        expect(len(row) == 7, "an invalid row of an array")
        _, name, shape, strides, offset, number, writable = row
        dtype, block = array_dtype(name), None if number is None else self._block(number)
        nbytes = 0 if block is None else block.nbytes
        check_layout(shape, strides, offset, 1, dtype.itemsize, nbytes, self._caps)
        expect(type(writable) is bool, "an invalid row of an array")
        data = np.empty(0, np.uint8) if block is None else block.data
        try:
            array: Array = np.ndarray(shape, dtype, data, offset, strides) if 0 not in shape else np.empty(shape, dtype)
        except (ValueError, TypeError):
            raise ProtocolError("an array that NumPy cannot make") from None
        if not writable or (block is not None and not block.writable):
            array.flags.writeable = False
        return array

    def _tensor(self, row: list[Any]) -> torch.Tensor:
        """Return the tensor that a row describes, over its storage.

        `["tensor", "float32", [2], [1], 0, 0, 0, 8, 0]` has dtype, shape, strides and offset; then the number of the
        block, and start and size of the storage in it; then 1 for a lazy conjugate plus 2 for a lazy negative. An
        invalid row raises `ProtocolError`.
        """
        if len(row) not in (9, 10):
            raise ProtocolError("an invalid row of a tensor")
        _, name, shape, strides, offset, number, start, size, bits = row[:9]
        dtype = DTYPES.get(name) if type(name) is str else None
        if dtype is None or type(bits) is not int or not 0 <= bits < 4:
            raise ProtocolError("an unknown dtype")
        block = None if number is None else self._block(number)
        nbytes = 0 if block is None else block.nbytes
        if not (type(start) is type(size) is int and 0 <= start <= start + size <= nbytes):
            raise ProtocolError("a storage is out of bounds")
        itemsize = dtype.itemsize
        check_layout(shape, strides, offset, itemsize, itemsize, size, self._caps)
        if min(strides, default=0) < 0:
            raise ProtocolError("a stride of a tensor is negative")
        storage = self._table.storages.get((number, start, size))
        if storage is None:
            if block is not None and (block.address + start) % min(itemsize, 8):
                raise ProtocolError("memory is not aligned")
            storage = torch.UntypedStorage(0, device="cpu") if block is None else block.storage(start, size)
            self._table.storages[number, start, size] = storage
        tensor = torch.empty(0, dtype=dtype, device="cpu").set_(storage, offset, shape, strides)
        if bits:
            conj, neg = bool(bits & 1), bool(bits & 2)
            expect(can_be_lazy(dtype, conj, neg), "a lazy view of a dtype that has none")
            tensor = torch._conj(tensor) if conj else tensor
            tensor = torch._neg_view(tensor) if neg else tensor
        return tensor

    def _block(self, number: Any) -> MemoryBlock:
        if type(number) is not int or not 0 <= number < len(self._table.blocks):
            raise ProtocolError("an unknown block")
        block: MemoryBlock = self._table.blocks[number]
        return block

    def _check_memory(self, rows: list[Any], written: Mapping[int, Array], views: Mapping[int, Any]) -> None:
        """Raise `ProtocolError` if a bool tensor or array has a byte other than 0 and 1.

        The other process is not trusted, and may send such bytes. Only memory that this message brought or changed is
        examined.

        Args:
            rows: the descriptions of all tensors, arrays and containers, such as
                `["array", "|b1", [2], [1], 0, 0, True]`.
            written: the new bytes of blocks of memory that both processes had before the message, by the block's
                number.
            views: the tensors and arrays that the message added or changed, by the index of their row.
        """
        total = 0
        for number, row in enumerate(rows):
            if row[0] not in ("tensor", "array") or row[1] not in ("bool", "|b1") or row[5] is None or 0 in row[2]:
                continue
            if number in views or row[5] in written:
                total += math.prod(row[2])
                expect(total <= self._caps.data_bytes, "too many elements")
                data = written.get(row[5], self._table.blocks[row[5]].data)
                offset = row[4] + (row[6] if row[0] == "tensor" else 0)
                expect(np.ndarray(row[2], np.uint8, data, offset, row[3]).max() <= 1, "an invalid bool")

    # -- applying -----------------------------------------------------------------------------------------------------

    def _apply_changes(
        self, views: Mapping[int, Any], written: Mapping[int, Array], contents: Mapping[int, list[Any]], known: int
    ) -> None:
        if self._answers:
            return
        table = self._table
        for number, view in views.items():
            self._record_facts_and_layout(number, view, is_new=number >= known)
        for number, block in written.items():
            self.changes.append(Change(table.blocks[number], lambda it: it.data.tobytes(), _write, block))
        for number, items in contents.items():
            self.changes.append(Change(table.objects[number], lambda it: list(items_of(it)), _set_contents, items))

    def _record_facts_and_layout(self, number: int, view: Any, *, is_new: bool) -> None:
        """Record what a message says of a tensor or an array besides its numbers.

        These are the shape and strides of one that the check already has, as student code may have resized it in place;
        and for a tensor, facts such as `requires_grad`.

        Args:
            number: the number of the object, by which both processes refer to it.
            view: the tensor or array as this message describes it.
            is_new: True if the check did not have the object before.
        """
        obj, row = self._table.objects[number], self._rows[number]
        if row[0] == "array":
            if not is_new:
                self.changes.append(Change(obj, _array_layout, _set_array_layout, _array_layout(view)))
            return
        if not is_new and (obj.data_ptr() != view.data_ptr() or _layout(obj) != _layout(view)):
            self.changes.append(Change(obj, lambda it: it.detach(), _set_data, view))
        if len(row) == 10 or (not is_new and (are_any_recorded() or obj.requires_grad)):
            note_facts(obj, from_row(row[9]) if len(row) == 10 else TensorFacts())


def _layout(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.dtype, tensor.shape, tensor.stride(), tensor.is_conj(), tensor.is_neg()


def _set_data(tensor: torch.Tensor, view: torch.Tensor) -> None:
    tensor.data = view


def _array_layout(array: Array) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.strides


def _set_array_layout(array: Array, layout: tuple[Any, ...]) -> None:
    """Set dtype, shape and strides of an array in place.

    Raises:
        ProtocolError: NumPy cannot do that in place.
    """
    dtype, shape, strides = layout
    # NumPy deprecates these assignments (of strides since 2.4, of dtype and shape since 2.5). It has no other way to
    # change an array itself, and this repeats an assignment of student code, which was warned.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if array.itemsize != dtype.itemsize:  # only a run of elements can be read as elements of another size
                _set_shape(array, (array.size,), (array.itemsize,))
            if array.dtype != dtype:
                array.dtype = dtype  # type: ignore[misc]
            if (array.shape, array.strides) != (shape, strides):
                _set_shape(array, shape, strides)
        except (AttributeError, ValueError, TypeError):
            raise ProtocolError("an array changed in a way that cannot be repeated") from None


def _set_shape(array: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Set shape and strides of an array in place, in an order that NumPy allows."""
    # The method for whoever has no other way, says NumPy 2.5, which deprecates the assignment; older ones lack it.
    change = getattr(array, "_set_shape", None) or functools.partial(setattr, array, "shape")
    try:
        change(shape)
    except (AttributeError, ValueError):
        # It does not suit the strides; any shape suits a run of elements, or elements that all lie in one place. Of a
        # view NumPy knows the whole memory, of any other array no more than the strides reach now.
        is_view = isinstance(array.base, np.ndarray)
        array.strides = (0,) * array.ndim if is_view else dense_strides(array)
        change(shape)
    array.strides = strides


def _write(block: MemoryBlock, data: Any) -> None:
    block.data[:] = np.frombuffer(data, np.uint8)


def _set_contents(obj: Any, items: list[Any]) -> None:
    if type(obj) is list:
        obj[:] = items
        return
    obj.clear()
    obj.update(zip(items[::2], items[1::2], strict=True) if type(obj) is dict else items)
