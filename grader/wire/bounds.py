"""What one message may hold, and the errors of everything beyond. Standard library only.

WireError
├── ProtocolError    the other process broke a rule; `TooMuch`: of how much it may send
├── ChannelClosed    the other process is gone
└── Unsupported      a value of ours cannot be sent
"""

from __future__ import annotations

from dataclasses import dataclass

_OF_A_TREE = 16
"""So many times its text a tree takes as objects of Python's."""


class WireError(Exception):
    """A message could not be sent or received."""


class ProtocolError(WireError):
    """The other process sent what this protocol does not allow."""


class TooMuch(ProtocolError):
    """The other process sent more than all its messages together may hold."""


class ChannelClosed(WireError):
    """The other process is gone."""


class Unsupported(WireError, TypeError):
    """A value of ours cannot be sent; the message says why."""


def expect(condition: object, text: str) -> None:
    """Refuse a message that breaks a rule.

    Raises:
        ProtocolError: the condition does not hold.
    """
    if not condition:
        raise ProtocolError(text)


@dataclass
class Budget:
    """What several messages may hold together. Like `Caps`, it is taken from before any memory is allocated."""

    left: int

    def take(self, tree_bytes: int, data_bytes: int) -> None:
        """Take one message from it.

        Raises:
            TooMuch: so much is not left.
        """
        self.left -= _OF_A_TREE * tree_bytes + data_bytes
        if self.left < 0:
            raise TooMuch("more than all messages together may hold")


@dataclass(frozen=True)
class Caps:
    """What one message may hold at most. Checked before any memory is allocated."""

    tree_bytes: int = 16 << 20
    tree_nodes: int = 1_000_000
    data_bytes: int = 1 << 30
    objects: int = 100_000
    depth: int = 64
    unfolded: int = 2_000_000
    """Items of a value if each shared container were counted wherever it occurs."""
    expanded_bytes: int = 64 << 20
    """Of one tensor or array whose elements share memory, for instance by strides of 0."""

    def most_bytes(self, memory: int) -> int:
        """Bytes that the elements of one tensor or array may come to: a comparison or a copy makes all of them.

        Args:
            memory: bytes of the memory that it lies in, which really arrived.
        """
        return min(self.data_bytes, max(memory, self.expanded_bytes))
