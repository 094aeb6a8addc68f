"""A tree of JSON as one datagram of a Unix socket, with descriptors.

It imports little: a typed command waits for that.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence

MESSAGE_BYTES = 1 << 17
"""A view may name many folders."""

_MOST_DESCRIPTORS = 8


def send_tree(sock: socket.socket, tree: Mapping[str, object], descriptors: Sequence[int] = ()) -> None:
    """Send a tree as one datagram.

    Args:
        sock: a socket of datagrams.
        tree: the tree that is sent.
        descriptors: file descriptors that go with it.
    """
    socket.send_fds(sock, [json.dumps(tree).encode()], descriptors)


def receive_tree(sock: socket.socket) -> tuple[dict[str, dict[str, object]], list[int]]:
    """Receive one tree, with its descriptors; return an empty one if the other end is closed.

    Raises:
        TimeoutError: the socket has a timeout, and nothing came.
    """
    try:
        data, descriptors, _, _ = socket.recv_fds(sock, MESSAGE_BYTES, _MOST_DESCRIPTORS)
    except ConnectionError:
        data, descriptors = b"", []
    return (json.loads(data) if data else {}), list(descriptors)
