"""What one message may hold, and the errors of whatever goes beyond. Standard library only.

WireError
├── ProtocolFault    the other side's doing
├── ChannelClosed    the other side is gone
└── Unsupported      a value of ours
"""

from __future__ import annotations

from dataclasses import dataclass


class WireError(Exception):
    """A message could not be sent or received."""


class ProtocolFault(WireError):
    """The other side said something that this protocol has no room for."""


class ChannelClosed(WireError):
    """The other side is gone."""


class Unsupported(WireError):
    """A value of ours cannot be handed over; the message says why."""


@dataclass(frozen=True)
class Caps:
    """What one message may hold at most. Checked before anything is allocated."""

    tree_bytes: int = 16 << 20
    tree_nodes: int = 1_000_000
    data_bytes: int = 1 << 30
    objects: int = 100_000
    depth: int = 64
    expanded: int = 2_000_000
    """Leaves of a tree when shared containers are counted each time they occur."""
    expanded_bytes: int = 64 << 20
    """Of one tensor or array whose elements share memory, by strides of 0 for one; see `most_bytes`."""

    def most_bytes(self, memory: int) -> int:
        """Bytes that the elements of a tensor or an array may come to: whoever compares or copies it makes them all.

        Args:
            memory: bytes that it lies in, which were really sent.
        """
        return min(self.data_bytes, max(memory, self.expanded_bytes))
