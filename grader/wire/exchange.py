"""Objects by number and memory by block: what two processes have in common during one check.

Both ends hold an `Exchange`. The asking end (the check process) numbers with even numbers and holds its objects weakly:
when a check drops a tensor, the worker is told to forget it. The answering end (the worker) numbers with odd ones and
holds strongly, so that what a check still has is still there. A list or dict cannot be held weakly: the asking end
holds it, and drops it when nobody else does.

Every message carries the blocks whose bytes changed since both ends last agreed, new objects, and known objects whose
rows changed. So the same object in gives the same object out, a changed argument is changed at the asking end (by
copy), and what shares memory at one end shares it at the other.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Container as Holds
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch.utils.weak import WeakIdKeyDictionary, WeakTensorKeyDictionary

from grader.wire.blocks import Block, extent_of, is_shared, memory_of
from grader.wire.bounds import Caps
from grader.wire.describe import layout_of, look_of
from grader.wire.handles import HandleRow, Remote
from grader.wire.held import KnownContainer
from grader.wire.named import Key
from grader.wire.rows import ContainerRow, LeafRow, TensorRow

Leaf: TypeAlias = torch.Tensor | np.ndarray
Backward: TypeAlias = Callable[[int, torch.Tensor, Sequence[torch.Tensor], bool], Sequence[torch.Tensor | None]]
"""Goes on with a backward pass at the other end: of the tensor of this number, with this gradient; gives those of some
tensors, and says whether all others are added up there."""
Container: TypeAlias = list[Any] | dict[Any, Any] | set[Any]


class Before(NamedTuple):
    """A tensor as it was before the other end gave it another shape, storage or gradient, and its block then."""

    tensor: torch.Tensor
    block: int


@dataclass(slots=True)
class Known:
    """A tensor, an array or a handle that has a number.

    Attributes:
        refer: gives it, or None if it is gone.
        row: how it was when both ends last agreed; None of a handle, which does not change.
        base_version: of a tensor when it crossed; 0 of what a worker made, whose changes count from then.
        before: what a reference is given, if the other end changed more than elements.
        look: of a tensor whose row this end wrote: that row, and how the tensor looked then (`describe.look_of`).
    """

    refer: Callable[[], Any]
    row: LeafRow | None = None
    base_version: int = 0
    before: Before | None = None
    look: tuple[LeafRow, object] | None = None

    def is_as_told(self, leaf: Leaf) -> bool:
        """Whether a tensor is as its row says, but for its elements: then it need not be described again."""
        look = self.look
        return look is not None and look[0] is self.row and isinstance(leaf, torch.Tensor) and look[1] == look_of(leaf)


class Changed(NamedTuple):
    """A container that the other end changed: a copy of it as it was before, and its items as they were told."""

    obj: Container
    before: Container
    told: Container


class Exchange:
    """One end's table of objects and blocks.

    Args:
        asks: whether this is the asking end.
        caps: what one message may hold.
        make_handle: builds what stands here for an object that stays at the other end (at the asking end).
        find: gives the object behind a name such as ("student", "total") (at the answering end).
        owner: whose functions and objects may be named to the other end (at the asking end).
        backward: goes on where a tensor has a graph at the other end (at the asking end).
        remotes: what lives in workers and stays what it is, where a message is a copy.

    Attributes:
        graphs: what lives as long as a graph of this end leads to a tensor of the other's, by its number.
        named: kinds of named tuples, by name and fields.
        held: tensors and arrays of the other end's, until the next message.
        kinds: what was told of the other end's objects.
        copied: of tensors that are copies of others, which stay here: the originals.
    """

    def __init__(
        self,
        *,
        asks: bool,
        caps: Caps | None = None,
        make_handle: Callable[[int, HandleRow], object] | None = None,
        find: Callable[[str, str], object] | None = None,
        owner: object = None,
        backward: Backward | None = None,
        remotes: list[Remote] | None = None,
    ) -> None:
        self.asks = asks
        self.caps = caps or Caps()
        self.make_handle = make_handle
        self.find = find
        self.owner = owner
        self.backward = backward
        self.remotes = remotes
        self.graphs: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.named: dict[Key, type] = {}
        self.held: list[Leaf] = []
        self.kinds: set[HandleRow] = set()
        self.copied: WeakIdKeyDictionary = WeakTensorKeyDictionary()
        self.known: dict[int, Known] = {}
        self.containers: dict[int, KnownContainer] = {}
        self.numbers: dict[int, int] = {}  # by `id`, which may belong to another object by now: `number_of` looks again
        self.blocks: dict[int, Block] = {}
        # Blocks from which the other end moved a tensor of ours away. A reference is still given what was in them.
        self.retired: dict[int, Block] = {}
        # By `id` too. A check may hand over what student code changed, and the reference must get it as it was.
        self.changed_containers: dict[int, Changed] = {}
        # What this end made or handed over, and the other end changed: where memory lies, and what refers to objects of
        # which it told other rows. Nothing of it is kept alive but lists and the like.
        self.overwritten: list[tuple[int, int] | Callable[[], object]] = []
        self.given: set[int] = set()
        self.fresh = False
        self.dropped: list[int] = []  # containers of which the other end was not yet told that they are
        self._next = 0 if asks else 1

    def new_number(self) -> int:
        """The next number of this end."""
        self._next += 2
        return self._next

    def is_other_ends(self, number: int) -> bool:
        """Whether the other end may introduce this number."""
        return number % 2 == (1 if self.asks else 0)

    def look_up(self, number: int) -> Any:
        """The object of a number, or None."""
        known = self.known.get(number) or self.containers.get(number)
        return known.refer() if known else None

    def number_of(self, obj: object) -> int | None:
        """The number of an object, or None if it has none."""
        number = self.numbers.get(id(obj))
        return number if number is not None and self.look_up(number) is obj else None

    def register(self, number: int, obj: object) -> Known:
        """Give a tensor, an array or a handle its number."""
        # A table that held a check's tensors would keep all that a loop over a hundred calls ever made. The worker's
        # must hold: what it returned may be garbage there, while the check still has it and hands it over again.
        known = self.known[number] = Known(weakref.ref(obj) if self.asks else lambda: obj)
        self.numbers[id(obj)] = number
        return known

    def register_container(self, number: int, obj: object, row: ContainerRow) -> None:
        """Give a container its number. It is held at both ends: a list cannot be held weakly."""
        known = self.containers[number] = KnownContainer(obj, row)
        known.agree(row)
        self.numbers[id(obj)] = number

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop objects."""
        gone = list(numbers)
        for number in gone:
            self.known.pop(number, None)
            self.containers.pop(number, None)
        if gone:
            live = self.known.keys() | self.containers.keys()
            self.numbers = {identity: number for identity, number in self.numbers.items() if number in live}

    def drop_containers(self, but: Holds[int]) -> None:
        """Drop what nobody else holds, and what only that held; the other end is told with the next message."""
        while gone := [n for n, known in self.containers.items() if n not in but and known.is_dropped()]:
            self.forget(gone)
            self.dropped += gone

    def drop_blocks(self) -> None:
        """Drop blocks in which nothing known lies: the other end has dropped them, too."""
        used = {known.row.block for known in self.known.values() if known.row is not None}
        self.blocks = {number: block for number, block in self.blocks.items() if number in used}

    def with_gradient(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Tensors that take a gradient and have no history at the other end, each with that of which it is a copy."""
        for number, known in self.known.items():
            obj = known.refer()
            if isinstance(obj, torch.Tensor) and obj.requires_grad and (obj.is_leaf or not self.is_other_ends(number)):
                yield obj, self.copied.get(obj, obj)

    def end_call(self) -> None:
        """The asking end no longer holds any memory."""
        # During a call the memory is held, so that no address in the tables can become another object's. Between calls
        # it goes with the check's own tensors.
        if self.asks:
            for block in (*self.blocks.values(), *self.retired.values()):
                block.release()

    def hold(self) -> None:
        """Keep the other end's tensors until the next message: `layer.weight.zero_()` is told, though none holds it.

        Longer is kept what another is a window on, such as `w = layer.weight.detach()`: one for each memory.
        """
        windows = {memory_of(obj): obj for obj in self.held}
        self.held = []  # the others have been told and go now, but for those that a check holds
        self.held = [obj for obj in windows.values() if is_shared(obj)]
        windows.clear()
        # Those that are left, and what has just come. What has no row lives at the other end.
        mine = (known for number, known in self.known.items() if self.is_other_ends(number) and known.row is not None)
        self.held = [obj for known in mine if (obj := known.refer()) is not None]

    def reset(self) -> None:
        """Drop everything, at both ends: a new check begins."""
        self.known, self.numbers, self.blocks, self.containers = {}, {}, {}, {}
        self.retired, self.named, self.held, self.kinds = {}, {}, [], set()
        self.graphs = weakref.WeakValueDictionary()
        self.changed_containers = {}
        self.overwritten, self.given, self.dropped = [], set(), []
        self.fresh = self.asks

    def note_overwritten(self, number: int, what: Block | object) -> None:
        """The other end has changed a block, or an object. What it made, and was not handed again, is its own."""
        if not self.asks:
            return
        given = {number for number in self.given if number in self.known or number in self.containers}
        if isinstance(what, Block):
            given = {row.block for each in given & self.known.keys() if (row := self.known[each].row) is not None}
        if not self.is_other_ends(number) or number in given:
            if isinstance(what, Block):
                self.overwritten.append((what.start, what.start + what.size))
            else:
                weak = isinstance(what, (torch.Tensor, np.ndarray))
                self.overwritten.append(weakref.ref(what) if weak else lambda: what)

    def overwrote_other_than(self, asked: Iterable[object]) -> bool:
        """Whether the other end changed anything of ours that does not lie in the memory of these, and is none."""
        asked = list(asked)
        places = [extent for each in asked if (extent := extent_of(each)) is not None]
        for changed in self.overwritten:
            if isinstance(changed, tuple):
                start, end = changed
                if not any(place.start < end and start < place.end for place in places):
                    return True
            elif not any(changed() is each for each in asked):
                return True
        return False

    def original(self, start: int, size: int) -> bytes | None:
        """The bytes of a range as they were before the other end changed them, or None if they are as they were.

        A range that this end wrote afterwards counts as it is now.
        """
        for block in (*self.retired.values(), *self.blocks.values()):
            if block.first is not None and block.last != block.first and block.holds(start, size):
                # As the other end told it, and not written here since. Held for the look alone: a reference's copy
                # must not keep memory that the check has dropped.
                as_told = block.hold() and block.read() == block.last
                block.release()
                if as_told:
                    return block.first[start - block.start : start - block.start + size]
        return None

    def original_tensor(self, obj: torch.Tensor) -> torch.Tensor:
        """A tensor as it was before the other end gave it another shape, storage or gradient.

        One that this end changed afterwards counts as it is now.
        """
        number = self.number_of(obj)
        known = None if number is None else self.known[number]
        if known is None or known.before is None or not isinstance(known.row, TensorRow):
            return obj
        row = known.row
        block = self.blocks.get(row.place.block)
        moved = block is not None and obj.untyped_storage().data_ptr() != block.start + row.place.start
        same_grad = not obj.is_leaf or (None if row.grad is None else self.look_up(row.grad)) is obj.grad
        return known.before.tensor if layout_of(obj) == row.layout and not moved and same_grad else obj

    def original_container(self, obj: Any) -> Any:
        """A container as it was before the other end changed it."""
        changed = self.changed_containers.get(id(obj))
        return changed.before if changed and changed.obj is obj and _same_items(changed.told, obj) else obj


def _same_items(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or len(one) != len(other):
        return False
    if isinstance(one, dict):
        return all(a is b and one[a] is other[b] for a, b in zip(one, other, strict=True))
    if isinstance(one, set):
        return bool(one == other)
    return all(a is b for a, b in zip(one, other, strict=True))
