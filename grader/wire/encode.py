"""Values of one process as a message: a tree of plain data, and blocks of memory.

The tree has `roots`, a child for each value; `rows`, the objects that are new or changed, each with its number; and
`blocks`, the memory that is new or changed. A child is a plain value, a tagged list (`plain`), a reference `["ref",
number]` to an object, or what `other` gives for an object that stays in its process.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import torch

from grader.wire.facts import LONGEST, Facts, accelerator_here, any_known, cpu_view, device_of, to_row
from grader.wire.frames import Caps, ProtocolError, Unsupported, expect, weighed
from grader.wire.memory import Block, Table, place_of
from grader.wire.plain import ARRAY_DTYPE, NAMES, PLAIN, TAGGED, to_plain

CONTAINERS: dict[type, str] = {
    list: "list",
    tuple: "tuple",
    dict: "dict",
    set: "set",
    frozenset: "frozenset",
    slice: "slice",
}
UNCHANGING = ("tuple", "frozenset", "slice")

Other = Callable[[Any], list[Any]]
"""Gives the child for an object that is not a value."""


class Encoder:
    """Writes one message.

    Args:
        table: what both processes know of this call; new objects and blocks are added to it.
        other: gives the child for any object that is not a value, or raises `Unsupported`.
        answers: whether this is the process that answers, which says all facts of its tensors.
    """

    def __init__(self, table: Table, other: Other, *, answers: bool = False) -> None:
        self._table, self._other, self._answers = table, other, answers
        self._numbers = {id(obj): number for number, obj in enumerate(table.objects)} if table.objects else {}
        self._kept: list[Any] = []  # plain forms of subclasses, whose ids must not be used again

    def encode(self, values: Sequence[Any]) -> tuple[dict[str, Any], list[memoryview]]:
        """The tree of a message, and its blocks.

        Raises:
            Unsupported: a value cannot be sent.
        """
        table, known = self._table, len(self._table.rows)
        roots = [value if type(value) in PLAIN else self._child(value) for value in values]
        if not table.objects:
            return {"roots": roots, "rows": [], "blocks": []}, []
        rows: list[Any] = []
        for obj in table.objects:  # grows meanwhile: the items of containers get numbers, too
            kind = CONTAINERS.get(type(obj))
            if kind is None:
                rows.append(None)
            else:
                row = [item if type(item) in PLAIN else self._child(item) for item in items_of(obj)]
                # Two processes may go over equal sets in different orders.
                rows.append([kind, *(sorted(row, key=repr) if kind in ("set", "frozenset") else row)])
        blocks = self._describe_memory(rows) if None in rows else []
        if not self._answers:
            try:  # here, because this end is to blame for it
                expect(len(rows) <= Caps().objects, "too many objects")
                weighed(rows, [number for number, obj in enumerate(table.objects) if type(obj) in CONTAINERS], Caps())
            except ProtocolError as error:
                raise Unsupported(f"{error}, so that it cannot be sent to student code") from None
        # `repr` distinguishes 1 from True and -0.0 from 0.0, and NaN equals itself.
        changed = [
            [number, row]
            for number, row in enumerate(rows)
            if number >= known or (row[0] not in UNCHANGING and repr(row) != repr(table.rows[number]))
        ]
        table.rows = rows
        if not blocks:
            return {"roots": roots, "rows": changed, "blocks": []}, []
        sizes = [[number, len(block)] for number, block in blocks]
        return {"roots": roots, "rows": changed, "blocks": sizes}, [block for _, block in blocks]

    def _child(self, value: Any) -> Any:
        """A value that JSON cannot hold itself, as a child."""
        if (number := self._numbers.get(id(value))) is not None:
            return ["ref", number]
        if type(value) in CONTAINERS or _has_memory(value):
            return self._new(value)
        if isinstance(value, TAGGED) and (plain := to_plain(value)) is not None:
            return plain
        # A subclass, such as a named tuple, an OrderedDict or an enum of strings, is sent as what it derives from.
        for plain_kind in (str, int, float):
            if isinstance(value, plain_kind):
                return plain_kind(value)
        for kind in (tuple, dict, list):
            if isinstance(value, kind) and not isinstance(value, torch.Size):
                self._kept.append(plain_form := kind(value))
                self._kept.append(value)
                child = self._new(plain_form)
                self._numbers[id(value)] = child[1]
                return child
        return self._other(value)

    def _new(self, obj: Any) -> list[Any]:
        number = self._numbers[id(obj)] = len(self._table.objects)
        self._table.objects.append(obj)
        return ["ref", number]

    def _describe_memory(self, rows: list[Any]) -> list[tuple[int, memoryview]]:
        """Fill in the rows of tensors and arrays; give the blocks that are new or changed, by number."""
        table, leaves, spans = self._table, [], self._known_spans()
        for number, row in enumerate(rows):
            if row is None:
                obj, device = table.objects[number], "cpu"
                plain = obj
                if isinstance(obj, torch.Tensor) and (accelerator_here or any_known):
                    # A tensor of an accelerator is described by the CPU tensor over its memory.
                    seen = cpu_view(obj)
                    plain, device = seen if seen is not None else (obj, device_of(obj))
                start, end = place_of(plain)
                leaves.append((number, obj, plain, device, start, end))
                if start < end:
                    spans.append((start, end, None, plain))
        groups = self._merged(spans)
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
            data, original = memoryview(table.blocks[number].data), table.blocks[number].original  # type: ignore[arg-type]
            # Only what arrived has an original; the process that asks sends each block once.
            if is_new or (original is not None and data != original):
                sent.append((number, data))
        return sent

    def _known_spans(self) -> list[tuple[int, int, int | None, Any]]:
        """The blocks that are known, without those whose memory is gone because a storage was resized."""
        blocks, moved = self._table.blocks, set()
        for (number, start, nbytes), storage in self._table.storages.items():
            now = storage.data_ptr() - start, storage.nbytes()
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
            row.append(to_row(Facts(tensor.requires_grad, node is None, name, written, device)))
        return row

    def _merged(self, spans: list[tuple[int, int, int | None, Any]]) -> list[tuple[int, int, bool]]:
        """Merge ranges of addresses that overlap: the start of each, its block's number, and whether it is new.

        Args:
            spans: start, end, the number of a known block or None, and a new tensor or array or None.
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
                blocks.append(Block(start, end - start, owners, writable=writable))
            else:
                if (start, end - start) != (blocks[number].address, blocks[number].nbytes):
                    raise Unsupported("memory overlaps that of an argument and extends beyond it")
                groups.append((start, number, False))
        return groups


def items_of(obj: Any) -> Any:
    """The items of a container in one sequence."""
    if type(obj) is dict:
        return [item for pair in obj.items() for item in pair]
    return (obj.start, obj.stop, obj.step) if type(obj) is slice else obj


def _has_memory(value: Any) -> bool:
    """Whether a value is a tensor or an array whose memory can be sent."""
    kind = type(value)
    if kind is np.ndarray:
        return ARRAY_DTYPE.fullmatch(value.dtype.str) is not None
    if kind is not torch.Tensor and kind is not torch.nn.Parameter:
        # A subclass may run code of its own whenever it is used, unless it is of the accelerator here.
        return isinstance(value, torch.Tensor) and cpu_view(value) is not None
    if value.device.type != "cpu":
        return cpu_view(value) is not None
    if value.layout is not torch.strided or value.dtype not in NAMES or value.is_nested or value._is_zerotensor():
        return False
    if torch._C._functorch.is_functorch_wrapped_tensor(value):  # it lives only inside a transform
        return False
    conj, neg = value.is_conj(), value.is_neg()
    return not (conj or neg) or can_be_lazy(value.dtype, conj, neg)


def can_be_lazy(dtype: torch.dtype, conj: bool, neg: bool) -> bool:
    """Whether PyTorch can read such a lazily conjugated or negated view: it makes others, but cannot resolve them."""
    if dtype.is_complex:
        return dtype is not torch.complex32 or not (conj and neg)
    return not conj and (not neg or dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64))
