"""Plain values as a message, and back: numbers, text, and the containers that hold them. Standard library only.

A message is a tree of plain data, with blocks of memory where it has tensors or arrays. The tree has `roots`, a child
for each value; `rows`, the objects that are new or changed, each with its number; and `blocks`, the memory that is new
or changed. A child is a plain value, a tagged list (`plain`), a reference `["ref", number]` to an object, or what
`child_of_object` returns for an object that stays in its process.

`encode` and `decode` add tensors and arrays to the two classes here. A worker without PyTorch uses these as they are,
and answers with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from grader.wire.frames import KEYED, Caps, ProtocolError, Unsupported, expect, ordered_by_nesting
from grader.wire.plain import PLAIN, TAGS, Tags
from grader.wire.table import ObjectTable

CONTAINERS: dict[type, str] = {
    list: "list",
    tuple: "tuple",
    dict: "dict",
    set: "set",
    frozenset: "frozenset",
    slice: "slice",
}
UNCHANGING = ("tuple", "frozenset", "slice")
KINDS: Mapping[str, type] = {name: kind for kind, name in CONTAINERS.items()}

_EMPTY = memoryview(b"")
_COLLISIONS = 100
"""So many keys may have the same hash: n of them take n² comparisons, and the hash of an int is easy to choose."""

ChildOfObject = Callable[[Any], list[Any]]
"""Returns the child for an object that is not a value."""


class PlainEncoder:
    """Writes one message of plain values.

    Args:
        table: the objects and blocks of this call that both processes know; new ones are added to it.
        child_of_object: a function that returns the child for an object that is not a value, or raises `Unsupported`.
        answers: True if this is the process that answers, which says all facts of its tensors.
    """

    tags: ClassVar[Tags] = TAGS
    no_tuples: ClassVar[tuple[type, ...]] = ()
    """Classes that derive from tuple, whose subclasses are not sent as one."""

    def __init__(self, table: ObjectTable, child_of_object: ChildOfObject, *, answers: bool = False) -> None:
        self._table, self._child_of_object, self._answers = table, child_of_object, answers
        self._numbers = {id(obj): number for number, obj in enumerate(table.objects)} if table.objects else {}
        self._kept: list[Any] = []  # plain forms of subclasses, whose ids must not be used again

    def encode(self, values: Sequence[Any]) -> tuple[dict[str, Any], list[memoryview]]:
        """Turn values into a message: a tree of plain data, and blocks of memory.

        `[5, [1, 2]]` becomes `{"roots": [5, ["ref", 0]], "rows": [[0, ["list", 1, 2]]], "blocks": []}`, without memory.
        Only a tensor or an array has a block of memory.

        Raises:
            Unsupported: a value cannot be sent.
        """
        table, known = self._table, len(self._table.rows)
        roots = self.children(values)
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
                ordered_by_nesting(
                    rows, [number for number, obj in enumerate(table.objects) if type(obj) in CONTAINERS], Caps()
                )
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

    def children(self, values: Sequence[Any]) -> list[Any]:
        """Turn each value into its child, which stands for the value in the message.

        `[5, b"a", [1, 2]]` becomes `[5, ["bytes", "a"], ["ref", 0]]`. A number or a text stands for itself, and a
        container is replaced by a reference to its number in the table.
        """
        return [value if type(value) in PLAIN else self._child(value) for value in values]

    def _child(self, value: Any) -> Any:
        """Return the child of a value that is not plain, which stands for it in the message.

        It is a reference such as `["ref", 0]` to an object in the table, or a list with a tag such as `["bytes", "a"]`.
        """
        if (number := self._numbers.get(id(value))) is not None:
            return ["ref", number]
        if type(value) in CONTAINERS or self._has_memory(value):
            return self._add_object(value)
        if isinstance(value, self.tags.types) and (plain := self.tags.to_plain(value)) is not None:
            return plain
        # A subclass, such as a named tuple, an OrderedDict or an enum of strings, is sent as what it derives from.
        for plain_kind in (str, int, float):
            if isinstance(value, plain_kind):
                return plain_kind(value)
        for kind in (tuple, dict, list):
            if isinstance(value, kind) and not isinstance(value, self.no_tuples):
                self._kept.append(plain_form := kind(value))
                self._kept.append(value)
                child = self._add_object(plain_form)
                self._numbers[id(value)] = child[1]
                return child
        return self._child_of_object(value)

    def _add_object(self, obj: Any) -> list[Any]:
        number = self._numbers[id(obj)] = len(self._table.objects)
        self._table.objects.append(obj)
        return ["ref", number]

    def _has_memory(self, value: Any) -> bool:
        """Return whether a value is a tensor or an array whose memory can be sent.

        Without PyTorch, the result is always False.
        """
        del value
        return False

    def _describe_memory(self, rows: list[Any]) -> list[tuple[int, memoryview]]:
        """Return an empty list, as a message without PyTorch has no blocks of memory."""
        del rows
        return []


class PlainDecoder:
    """Reads one message of plain values, in the process that answers: all of it is checked before anything is used.

    Args:
        table: the objects and blocks of this call that both processes know.
        object_of_child: a function that takes the items of a child that `child_of_object` of an encoder made, and
            returns the object.
        caps: the caps on one message.
    """

    tags: ClassVar[Tags] = TAGS
    leaves: ClassVar[tuple[str, ...]] = ()
    """The kinds of rows for other values than containers."""

    def __init__(self, table: ObjectTable, object_of_child: Callable[..., Any], caps: Caps | None = None) -> None:
        self._table, self._object_of_child, self._caps = table, object_of_child, caps or Caps()
        self._rows: list[Any] = []

    def decode(self, tree: Mapping[str, Any], data: memoryview, original: memoryview = _EMPTY) -> list[Any]:
        """Turn a message back into the values that another process encoded.

        New objects and memory are added to the table, and changes of known objects are applied.

        Args:
            tree: the tree of a message from another process, as `PlainEncoder.encode` returned it there.
            data: the message's blocks, padded; the values share this memory, unless `original` has bytes.
            original: an unchanging buffer with the bytes of `data`, for a process that reports changes.
                New blocks then get memory of their own.

        Raises:
            ProtocolError: the message breaks a rule; then nothing has changed.
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
        views = {number: self._tensor_or_array(number, rows[number]) for number in leaves} if leaves else {}
        if rows:
            self._check_memory(rows, written, views)
        table.objects += map(views.get, range(known, len(rows)))
        if len(changed) > len(views):
            self._build_containers(changed, known)
        values = [root if type(root) in PLAIN else self._child(root) for root in roots]
        # The new items of containers that the receiver has already.
        old = [number for number in changed if number < known and number not in views] if known else []
        contents = {number: self._items(rows[number]) for number in old} if old else {}
        # From here on nothing is refused.
        table.rows = rows
        self._apply_changes(views, written, contents, known)
        return values

    # -- what only messages with memory have --------------------------------------------------------------------------

    def _take_blocks(self, sizes: list[Any], data: memoryview, original: memoryview) -> dict[int, Any]:
        """Raise `ProtocolError`: a process without PyTorch cannot take blocks of memory.

        This is called only if a message has blocks.
        """
        raise ProtocolError("memory in a message of plain values")

    def _tensor_or_array(self, number: int, row: list[Any]) -> Any:
        """Raise `ProtocolError`: a process without PyTorch cannot take tensors or arrays."""
        raise ProtocolError("an unknown kind of row")

    def _check_memory(self, rows: list[Any], written: Mapping[int, Any], views: Mapping[int, Any]) -> None:
        """Do nothing, as a process without PyTorch gets no memory that must be checked."""

    def _apply_changes(
        self, views: Mapping[int, Any], written: Mapping[int, Any], contents: Mapping[int, list[Any]], known: int
    ) -> None:
        """Do nothing, as a process without PyTorch gets requests alone.

        Only a reply changes known objects.
        """

    # -- reading ------------------------------------------------------------------------------------------------------

    def _take_rows(self, entries: list[Any]) -> list[int]:
        """Check the rows of a message, and put them into `_rows`.

        The entry `[3, ["list", 1, 2]]` says that object 3 is the list `[1, 2]`, or has become that. Return the numbers
        of these objects, sorted.
        """
        rows, known, changed = self._rows, len(self._rows), set()
        if known + len(entries) > self._caps.objects:
            raise ProtocolError("too many objects")
        for entry in entries:
            number, row = entry if type(entry) is list and len(entry) == 2 else (None, None)
            if type(number) is not int or number in changed or type(row) is not list or not row:
                raise ProtocolError("an invalid row")
            if type(row[0]) is not str or (row[0] not in KINDS and row[0] not in self.leaves):
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

    def _build_containers(self, changed: Sequence[int], known: int) -> None:
        """Make the new containers of a message, inner ones first, and put them into the table."""
        rows, objects = self._rows, self._table.objects
        for number in ordered_by_nesting(rows, changed, self._caps):
            if number >= known and objects[number] is None:
                items, kind = self._items(rows[number]), rows[number][0]
                if kind == "dict":
                    objects[number] = dict(zip(items[::2], items[1::2], strict=True))
                else:
                    objects[number] = slice(*items) if kind == "slice" else KINDS[kind](items)

    def _items(self, row: list[Any]) -> list[Any]:
        """Return the items that a container gets, from the row that describes it.

        `["list", 1, ["ref", 0]]` becomes `[1, obj]`, where `obj` is object 0 of the table. `["dict", "a", 1, "b", 2]`
        becomes `["a", 1, "b", 2]`: the keys and values in turn.
        """
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
            return self._object_of_child(*child)
        return self.tags.from_plain(*child)


def items_of(obj: Any) -> Any:
    """Return the items of a container as one flat sequence.

    `{"a": 1, "b": 2}` becomes `["a", 1, "b", 2]`, and `slice(3)` becomes `(None, 3, None)`.
    """
    if type(obj) is dict:
        return [item for pair in obj.items() for item in pair]
    return (obj.start, obj.stop, obj.step) if type(obj) is slice else obj
