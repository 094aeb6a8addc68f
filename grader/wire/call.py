"""A call as a message that is encoded once, and what is made of it: what is sent, what is kept, and copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.wire.containers import ChildOfObject, PlainEncoder
from grader.wire.decode import Decoder
from grader.wire.encode import Encoder
from grader.wire.table import ObjectTable, padded_blocks


@dataclass(frozen=True)
class EncodedCall:
    """The values of one call, encoded once, from which the message and copies are made.

    Attributes:
        tree: the tree of the message.
        memory: blocks of the message, padded: the values' own memory, or that of `kept`.
        table: the objects and memory of the call by number, for the reply.
        others: the objects that are not values, by the child that stands for each in the tree.
        noted: the children of values whose copies are made later, by `noted_values`.
    """

    tree: Mapping[str, Any]
    memory: Sequence[Any]
    table: ObjectTable
    others: Mapping[tuple[Any, ...], Any]
    noted: Sequence[Any] = ()

    def with_own_memory(self) -> EncodedCall:
        """Return the same call with a copy of its memory, so that later changes do not reach it.

        Without it, a later change of a tensor in place also changes the encoded call.
        """
        return replace(self, memory=(b"".join(self.memory),))

    def values(self) -> list[Any]:
        """Return copies of the values.

        Copies share memory with each other where the values do.
        """
        return self._decoded(self.tree["roots"])[0]

    def noted_values(self) -> list[Any]:
        """Return copies of the values that the caller of `encode_call` listed in `noted`."""
        return self._decoded(self.noted)[0]

    def with_copies(self) -> EncodedCall:
        """Return the same call with copies of its values in its table.

        The reply's changes of arguments are then applied to the copies, and not to the values of the check: for calls
        of the reference, and of student code that may not change its arguments.
        """
        return replace(self, table=self._decoded(self.tree["roots"])[1])

    def _decoded(self, roots: Sequence[Any]) -> tuple[list[Any], ObjectTable]:
        table = ObjectTable()
        decoder = Decoder(table, lambda *child: self.others[child])
        return decoder.decode({**self.tree, "roots": list(roots)}, memoryview(bytearray().join(self.memory))), table


def encode_call(
    values: Sequence[Any], child_of_object: ChildOfObject, noted: Sequence[Any] = (), *, without_torch: bool = False
) -> EncodedCall:
    """Encode the values of a call as one message.

    Args:
        values: the values of the message.
        child_of_object: a function for objects that are not values: it returns the list that replaces the object in the
            message, or raises `Unsupported`.
        noted: the values, or items of containers in `values`, whose copies `noted_values` returns.
        without_torch: True if the other process has the standard library alone.

    Raises:
        Unsupported: a value cannot be sent.
    """
    table, others = ObjectTable(), dict[tuple[Any, ...], Any]()

    def record_child(value: Any) -> list[Any]:
        child = child_of_object(value)
        others[tuple(child)] = value
        return child

    encoder = PlainEncoder(table, record_child) if without_torch else Encoder(table, record_child)
    tree, blocks = encoder.encode(values)
    children = encoder.children(noted)
    assert len(table.objects) == len(table.rows), "a value was noted that is not in the message"
    return EncodedCall(tree, padded_blocks(blocks), table, others, children)


def copy_values(*values: Any) -> tuple[Any, ...]:
    """Return deep copies of values.

    Copies share memory with each other where the values do.

    Args:
        *values: tensors, arrays, numbers, and lists, tuples or dicts of them. Any other object is not copied: it is the
            same object in the result.

    Returns:
        A tuple with one copy for each value.

    Raises:
        Unsupported: the values are too large or too deep to be sent to a worker, and so cannot be copied here.
    """
    objects: list[Any] = []

    def child_of_object(value: Any) -> list[Any]:
        objects.append(value)
        return ["proxy", len(objects) - 1]

    return tuple(encode_call(values, child_of_object).values())
