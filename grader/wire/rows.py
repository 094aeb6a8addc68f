"""The rows of a message as records, to plain data and back.

What arrives is validated here, once: types, lengths and ranges. Whether a tensor or an array fits its memory is seen
when it is built.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from grader.wire.bounds import Caps, ProtocolFault
from grader.wire.checked import MAX_NUMBER, MAX_SIZE, flag, listed, name, parts, sizes, text, whole
from grader.wire.handles import HandleRow
from grader.wire.tree import Plain

DICTS: Mapping[type, str] = {dict: "dict", Counter: "counter", OrderedDict: "ordered"}
CONTAINERS = ("list", "tuple", "named", "set", "frozenset", "size", "slice", "range", *DICTS.values())
MUTABLE = ("list", "set", *DICTS.values())
HASHED = ("set", "frozenset", *DICTS.values())
PAIRED = tuple(DICTS.values())
"""Those whose items are pairs."""

NO_BLOCK = -1
"""The block of what has no memory."""

# Records are named tuples, no dataclasses: every object that both ends know is described in every message, and a named
# tuple is made and compared several times as fast.


class Claims(NamedTuple):
    """What a worker says of a tensor that its bytes do not show. Read through `grader.check`: a claim, no fact.

    Attributes:
        requires_grad: as on the tensor.
        is_leaf: as on the tensor.
        grad_fn: class name of the node that made it, or None.
        is_conj: whether it was a lazily conjugated view.
        is_neg: whether it was a lazily negated view.
        version: in-place changes since it crossed, or since it was made.
        device: where it was, such as "cpu".
        type: "Tensor" or "Parameter".
        is_inference: whether it was made in inference mode.
    """

    requires_grad: bool = False
    is_leaf: bool = True
    grad_fn: str | None = None
    is_conj: bool = False
    is_neg: bool = False
    version: int = 0
    device: str = "cpu"
    type: str = "Tensor"
    is_inference: bool = False

    def plain(self) -> dict[str, Plain]:
        """The claims as an object of JSON."""
        return self._asdict()

    @classmethod
    def read(cls, value: object) -> Claims:
        """Claims as they arrived. Others than these are passed over.

        Raises:
            ProtocolFault: one of them is missing or of another type. No `grad_fn` is as good as null.
        """
        if not isinstance(value, dict):
            raise ProtocolFault("claims are not an object")
        return cls(
            flag(value.get("requires_grad")),
            flag(value.get("is_leaf")),
            name(value.get("grad_fn")) if value.get("grad_fn") else None,
            flag(value.get("is_conj")),
            flag(value.get("is_neg")),
            whole(value.get("version"), -MAX_SIZE, MAX_SIZE),
            name(value.get("device")),
            name(value.get("type")),
            flag(value.get("is_inference")),
        )


class Layout(NamedTuple):
    """How the elements of a tensor lie in its storage, in the unit of its dtype."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


class Place(NamedTuple):
    """Where a storage lies: the number of its block, its first byte there, and its bytes."""

    block: int = NO_BLOCK
    start: int = 0
    size: int = 0


class TensorRow(NamedTuple):
    """A tensor. Its gradient is the number of another one, or None."""

    layout: Layout
    place: Place
    claims: Claims
    grad: int | None

    @property
    def block(self) -> int:
        """The number of its block."""
        return self.place.block

    def not_claimed(self) -> tuple[object, ...]:
        """All of it but the claims."""
        return self.layout, self.place, self.grad

    def plain(self) -> list[Plain]:
        """The row of a message."""
        dtype, shape, strides, offset = self.layout
        geometry: list[Plain] = ["tensor", dtype, list(shape), list(strides), offset, *self.place]
        return [*geometry, self.claims.plain(), None if self.grad is None else ["known", self.grad]]

    @classmethod
    def read(cls, value: object) -> TensorRow:
        """A row as it arrived, or a `ProtocolFault`."""
        _, dtype, shape, strides, offset, block, start, size, claims, grad = parts(value, 10)
        layout = Layout(text(dtype), sizes(shape), sizes(strides), whole(offset, 0, MAX_SIZE))
        place = Place(_block(block), whole(start, 0, MAX_SIZE), whole(size, 0, MAX_SIZE))
        return cls(layout, place, Claims.read(claims), _grad(grad))


class ArrayRow(NamedTuple):
    """An array: strides and the offset of its first element in bytes."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block: int
    offset: int
    writable: bool

    def plain(self) -> list[Plain]:
        """The row of a message."""
        geometry: list[Plain] = ["array", self.dtype, list(self.shape), list(self.strides)]
        return [*geometry, self.block, self.offset, self.writable]

    @classmethod
    def read(cls, value: object) -> ArrayRow:
        """A row as it arrived, or a `ProtocolFault`."""
        _, dtype, shape, strides, block, offset, writable = parts(value, 7)
        steps = sizes(strides, low=-MAX_SIZE)  # a reversed view has negative ones
        place = _block(block), whole(offset, 0, MAX_SIZE)
        return cls(text(dtype), sizes(shape), steps, *place, bool(writable))


class ContainerRow(NamedTuple):
    """A container: its kind and its items as values of the tree. They are read when it is built.

    Those of a dict are pairs; of a named tuple the name of its class and those of its fields come first.
    """

    kind: str
    items: list[Plain]

    def plain(self) -> list[Plain]:
        """The row of a message."""
        return [self.kind, self.items]

    @classmethod
    def read(cls, value: object) -> ContainerRow:
        """A row as it arrived, or a `ProtocolFault`."""
        # Not looked into here: it is weighed with the others first, and may be deep.
        kind, items = parts(value, 2)
        if not isinstance(kind, str) or kind not in CONTAINERS:
            raise ProtocolFault("an object of an unknown kind")
        if not isinstance(items, list):
            raise ProtocolFault("a container is described wrongly")
        return cls(kind, items)


LeafRow: TypeAlias = TensorRow | ArrayRow
Row: TypeAlias = TensorRow | ArrayRow | HandleRow | ContainerRow


class ObjectRow(NamedTuple):
    """An object and its number."""

    number: int
    row: Row

    def plain(self) -> list[Plain]:
        """The row of a message."""
        return [self.number, self.row.plain()]

    @classmethod
    def read(cls, value: object) -> ObjectRow:
        """A row as it arrived, or a `ProtocolFault`."""
        number, row = parts(value, 2)
        kind = row[0] if isinstance(row, list) and row else None
        if kind == "tensor":
            reader: type[Row] = TensorRow
        elif kind == "array":
            reader = ArrayRow
        else:
            reader = HandleRow if kind == "handle" else ContainerRow
        return cls(whole(number, 0, MAX_NUMBER), reader.read(row))


class BlockRow(NamedTuple):
    """A block whose bytes travel with the message: where they begin in its data."""

    number: int
    size: int
    start: int
    writable: bool

    def plain(self) -> list[Plain]:
        """The row of a message."""
        return list(self)

    @classmethod
    def read(cls, value: object, caps: Caps) -> BlockRow:
        """A row as it arrived, or a `ProtocolFault`."""
        # By the caps, before a block of that size is made. Whether the data hold as much is seen then.
        number, size, start, writable = parts(value, 4)
        within = whole(size, 0, caps.data_bytes), whole(start, 0, caps.data_bytes)
        return cls(whole(number, 0, MAX_NUMBER), *within, bool(writable))


class Told(NamedTuple):
    """The part of a message that tells of objects and memory.

    Attributes:
        new: objects that the other end does not know yet.
        changed: those that it knows otherwise.
        blocks: memory that changed.
        forget: numbers of objects that the asking end has dropped.
        fresh: whether the asking end has dropped everything: a new check begins.
    """

    new: list[ObjectRow]
    changed: list[ObjectRow]
    blocks: list[BlockRow]
    forget: list[int] = []  # noqa: RUF012  nobody changes it in place
    fresh: bool = False

    def plain(self, *, asks: bool) -> dict[str, Plain]:
        """This part as it is sent, by the asking end or the other."""
        told: dict[str, Plain] = {
            "new": [row.plain() for row in self.new],
            "changed": [row.plain() for row in self.changed],
            "blocks": [row.plain() for row in self.blocks],
        }
        # What a worker holds is the check's to say: the answering end has no such words.
        return {**told, "forget": list(self.forget), "fresh": self.fresh} if asks else told

    @classmethod
    def read(cls, value: object, caps: Caps, *, asks: bool) -> Told:
        """This part as it was received by the asking end or the other.

        Raises:
            ProtocolFault: something in it is not as it must be.
        """
        if not isinstance(value, dict):
            raise ProtocolFault("a message does not tell of its objects")
        # Each object costs far more than its row has bytes, so they are counted before any is read.
        new = listed(value.get("new"))
        if len(new) > caps.objects:
            raise ProtocolFault("a message tells of too many objects")
        return cls(
            [ObjectRow.read(row) for row in new],
            [ObjectRow.read(row) for row in listed(value.get("changed"))],
            [BlockRow.read(row, caps) for row in listed(value.get("blocks"))],
            [] if asks else [whole(number, 0, MAX_NUMBER) for number in listed(value.get("forget"))],
            not asks and bool(value.get("fresh")),
        )


def _block(value: object) -> int:
    return NO_BLOCK if value == NO_BLOCK else whole(value, 0, MAX_NUMBER)


def _grad(value: object) -> int | None:
    match value:
        case None:
            return None
        case ["known", number] if type(number) is int:
            return number
    raise ProtocolFault("a gradient is no object that has a number")
