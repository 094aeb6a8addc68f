"""A message as values: everything is checked before anything is used, and before anything of the receiver's changes.

In a process that asks, a reply may change what the request held: containers, memory, the layout of a tensor. Such a
change can be taken back and made again (`Change`), so that the reference gets arguments as they were.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grader.wire.encode import CONTAINERS, UNCHANGING, Encoder, can_be_lazy, items_of
from grader.wire.facts import Facts, accelerator_here, any_known, from_row, note_facts
from grader.wire.frames import KEYED, Caps, ProtocolError, expect, weighed
from grader.wire.memory import ALIGNMENT, Array, Block, Table, check_layout, padded
from grader.wire.plain import DTYPES, PLAIN, array_dtype, from_plain

KINDS: Mapping[str, type] = {name: kind for kind, name in CONTAINERS.items()}
_EMPTY = memoryview(b"")
_COLLISIONS = 100
"""So many keys may have the same hash: n of them take n² comparisons, and the hash of an int is easy to choose."""


class Change:
    """A change of one thing of the receiver's, which can be taken back and made again.

    Attributes:
        thing: an object, or the block of memory.
    """

    def __init__(self, thing: Any, get: Callable[[Any], Any], put: Callable[[Any, Any], None], after: Any) -> None:
        self.thing, self._get, self._put = thing, get, put
        self._other = get(thing)
        put(thing, after)
        self._here = get(thing)

    def swap(self) -> None:
        """Take it back, or make it again. What has been changed since by somebody else stays."""
        if _is_same(self._get(self.thing), self._here):
            self._put(self.thing, self._other)
            self._here, self._other = self._other, self._here


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
    if isinstance(one, torch.Tensor):
        return bool((one.data_ptr(), one.shape, one.stride()) == (other.data_ptr(), other.shape, other.stride()))
    return bool(one == other)


class Decoder:
    """Reads one message.

    Args:
        table: what both processes know of this call.
        other: gives the object for a child that `other` of an encoder wrote; it is called with its items.
        caps: what one message may hold.
        answers: whether this is the process that answers: it gets tensors as they were, on their devices.
    """

    def __init__(
        self, table: Table, other: Callable[..., Any], caps: Caps | None = None, *, answers: bool = False
    ) -> None:
        self._table, self._other, self._caps, self._answers = table, other, caps or Caps(), answers
        self._rows: list[Any] = []
        self.changes: list[Change] = []

    def decode(self, tree: Mapping[str, Any], data: memoryview, original: memoryview = _EMPTY) -> list[Any]:
        """The values of a message. New objects and memory are in the table then, and changes are made.

        Args:
            tree: as `Encoder.encode` gives it, from another process.
            data: its blocks, padded; new ones stay in this memory, or get memory of their own if `original` is given.
            original: the same memory, never written to, for a process that reports changes.

        Raises:
            ProtocolError: it breaks a rule; then nothing has changed.
        """
        table = self._table
        roots, entries, sizes = tree.get("roots"), tree.get("rows"), tree.get("blocks")
        if type(roots) is not list or type(entries) is not list or type(sizes) is not list:
            raise ProtocolError("an invalid message")
        known = len(table.rows)
        written = self._take_blocks(sizes, data, original) if sizes or len(data) else {}
        self._rows = rows = list(table.rows)
        changed = self._take_rows(entries)
        leaves = [number for number in changed if rows[number][0] not in KINDS] if changed else ()
        views = {number: self._view(number, rows[number]) for number in leaves} if leaves else {}
        if rows:
            self._check_bools(rows, written, views)
        table.objects += map(views.get, range(known, len(rows)))
        if len(changed) > len(views):
            self._build(changed, known)
        values = [root if type(root) in PLAIN else self._child(root) for root in roots]
        # The new items of containers that the receiver has already.
        old = [number for number in changed if number < known and number not in views] if known else []
        contents = {number: self._items(rows[number]) for number in old} if old else {}
        # From here on nothing is refused.
        table.rows = rows
        if not self._answers:
            for number, view in views.items():
                self._finish(number, view, is_new=number >= known)
            for number, block in written.items():
                self.changes.append(Change(table.blocks[number], lambda it: it.data.tobytes(), _write, block))
            for number, items in contents.items():
                self.changes.append(Change(table.objects[number], lambda it: list(items_of(it)), _set_contents, items))
        return values

    # -- reading ------------------------------------------------------------------------------------------------------

    def _take_blocks(self, sizes: list[Any], data: memoryview, original: memoryview) -> dict[int, Array]:
        """Take in new blocks; give the new contents of known ones, by number."""
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

    def _new_block(self, number: int, part: Array, original: memoryview) -> Block:
        if not len(original):
            return Block(part.__array_interface__["data"][0], part.nbytes, part)
        # In the process that answers: PyTorch resizes memory that it has allocated, and no other.
        storage = self._table.storages[number, 0, part.nbytes] = torch.UntypedStorage(part.nbytes, device="cpu")
        block = Block(storage.data_ptr(), part.nbytes, storage)
        block.data[:], block.original = part, original
        return block

    def _take_rows(self, entries: list[Any]) -> list[int]:
        """Take in rows that are new or changed; give their numbers."""
        rows, known, changed = self._rows, len(self._rows), set()
        if known + len(entries) > self._caps.objects:
            raise ProtocolError("too many objects")
        for entry in entries:
            number, row = entry if type(entry) is list and len(entry) == 2 else (None, None)
            if type(number) is not int or number in changed or type(row) is not list or not row:
                raise ProtocolError("an invalid row")
            if type(row[0]) is not str or (row[0] not in KINDS and row[0] not in ("tensor", "array")):
                raise ProtocolError("an unknown kind of row")
            if 0 <= number < known:
                if row[0] != rows[number][0] or row[0] in UNCHANGING:
                    raise ProtocolError("an object changed its type")
                if row[0] == "array" and row[4:6] != rows[number][4:6]:
                    raise ProtocolError("an array changed its memory")
                rows[number] = row
            else:
                if number != len(rows):
                    raise ProtocolError("an invalid number of an object")
                rows.append(row)
            changed.add(number)
        return sorted(changed)

    def _view(self, number: int, row: list[Any]) -> Any:
        """A tensor or an array on its block; in the process that answers, as the process that asks has it."""
        if row[0] == "array":
            array = self._array(row)
            if number < len(self._table.objects):
                # NumPy may refuse it, and once the first change is made nothing is refused any more.
                _set_array_layout(self._table.objects[number][...], _array_layout(array))
            return array
        tensor = self._tensor(row)
        facts = from_row(row[9]) if len(row) == 10 else None
        if self._answers:
            if accelerator_here:
                tensor = accelerator_here[0].place(tensor, "cpu" if facts is None else facts.device)
            if facts is not None and facts.requires_grad:
                tensor.requires_grad_()
            # Student code may have left inference mode on, in which tensors have no version.
            self._table.versions[number] = 0 if tensor.is_inference() else tensor._version
        elif number < len(self._table.objects) and self._table.objects[number].requires_grad:
            expect(tensor.is_floating_point() or tensor.is_complex(), "such a tensor has no gradient")
        return tensor

    def _array(self, row: list[Any]) -> Array:
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

    def _block(self, number: Any) -> Block:
        if type(number) is not int or not 0 <= number < len(self._table.blocks):
            raise ProtocolError("an unknown block")
        return self._table.blocks[number]

    def _check_bools(self, rows: list[Any], written: Mapping[int, Array], changed: Container[int]) -> None:
        """Refuse bytes other than 0 and 1 in the memory of bool tensors and arrays."""
        total = 0
        for number, row in enumerate(rows):
            if row[0] not in ("tensor", "array") or row[1] not in ("bool", "|b1") or row[5] is None or 0 in row[2]:
                continue
            if number in changed or row[5] in written:
                total += math.prod(row[2])
                expect(total <= self._caps.data_bytes, "too many elements")
                data = written.get(row[5], self._table.blocks[row[5]].data)
                offset = row[4] + (row[6] if row[0] == "tensor" else 0)
                expect(np.ndarray(row[2], np.uint8, data, offset, row[3]).max() <= 1, "an invalid bool")

    # -- containers ---------------------------------------------------------------------------------------------------

    def _build(self, changed: Sequence[int], known: int) -> None:
        """Make the new containers, inner ones first."""
        rows, objects = self._rows, self._table.objects
        for number in weighed(rows, changed, self._caps):
            if number >= known and objects[number] is None:
                items, kind = self._items(rows[number]), rows[number][0]
                if kind == "dict":
                    objects[number] = dict(zip(items[::2], items[1::2], strict=True))
                else:
                    objects[number] = slice(*items) if kind == "slice" else KINDS[kind](items)

    def _items(self, row: list[Any]) -> list[Any]:
        """The items of a container; those of a dict in pairs, one behind the other."""
        kind = row[0]
        items = [item if type(item) in PLAIN else self._child(item) for item in row[1:]]
        if kind in KEYED:
            keys = items[:: KEYED[kind]]
            expect(kind != "dict" or len(items) % 2 == 0, "a key has no value")
            try:
                if len(keys) > _COLLISIONS:
                    expect(max(Counter(map(hash, keys)).values()) <= _COLLISIONS, "too many keys have the same hash")
                return list(set(items)) if kind != "dict" else items_of(dict(zip(keys, items[1::2], strict=True)))
            except (TypeError, ValueError, RuntimeError):  # the last: a key that has the hash of a tensor
                raise ProtocolError("a key is not hashable") from None
        expect(kind != "slice" or len(items) == 3, "a slice has three items")
        return items

    def _child(self, child: Any) -> Any:
        if type(child) is not list or not child or type(child[0]) is not str:
            raise ProtocolError("an invalid value")
        if child[0] == "ref":
            objects = self._table.objects
            if len(child) != 2 or type(child[1]) is not int or not 0 <= child[1] < len(objects):
                raise ProtocolError("a reference to an unknown object")
            return objects[child[1]]
        if child[0] in ("proxy", "name"):
            return self._other(*child)
        return from_plain(*child)

    # -- applying -----------------------------------------------------------------------------------------------------

    def _finish(self, number: int, view: Any, *, is_new: bool) -> None:
        """Keep the facts of a tensor; give an argument the layout that the other process gave it."""
        obj, row = self._table.objects[number], self._rows[number]
        if row[0] == "array":
            if not is_new:
                self.changes.append(Change(obj, _array_layout, _set_array_layout, _array_layout(view)))
            return
        if not is_new and (obj.data_ptr() != view.data_ptr() or _layout(obj) != _layout(view)):
            self.changes.append(Change(obj, lambda it: it.detach(), _set_data, view))
        if len(row) == 10 or (not is_new and (any_known or obj.requires_grad)):
            note_facts(obj, from_row(row[9]) if len(row) == 10 else Facts())


def _layout(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.dtype, tensor.shape, tensor.stride(), tensor.is_conj(), tensor.is_neg()


def _set_data(tensor: torch.Tensor, view: torch.Tensor) -> None:
    tensor.data = view


def _array_layout(array: Array) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.strides


def _set_array_layout(array: Array, layout: tuple[Any, ...]) -> None:
    dtype, shape, strides = layout
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            array.dtype, array.shape = dtype, shape  # type: ignore[misc]
            if array.strides != strides:
                array.strides = strides
        except (AttributeError, ValueError, TypeError):
            raise ProtocolError("an array changed in a way that cannot be repeated") from None


def _write(block: Block, data: Any) -> None:
    block.data[:] = np.frombuffer(data, np.uint8)


def _set_contents(obj: Any, items: list[Any]) -> None:
    if type(obj) is list:
        obj[:] = items
        return
    obj.clear()
    obj.update(zip(items[::2], items[1::2], strict=True) if type(obj) is dict else items)


def copies(*values: Any) -> tuple[Any, ...]:
    """Deep copies that share memory with each other as the values do.

    Raises:
        Unsupported: a value cannot be sent to a worker, and so is not copied either.
    """
    # A message from one new table to another, without the JSON between them.
    objects: list[Any] = []

    def other(value: Any) -> list[Any]:
        objects.append(value)
        return ["proxy", len(objects) - 1]

    tree, blocks = Encoder(Table(), other).encode(values)
    data = memoryview(bytearray().join(padded(blocks)))
    return tuple(Decoder(Table(), lambda _, number: objects[number]).decode(tree, data))
