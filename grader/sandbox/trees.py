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
    """Send a dict of JSON values as one datagram.

    Args:
        sock: a socket of datagrams.
        tree: the dict that is sent, such as `{"Refused": {"why": "no memory"}}`.
        descriptors: file descriptors that go with it.
    """
    socket.send_fds(sock, [json.dumps(tree).encode()], descriptors)


def receive_tree(sock: socket.socket) -> tuple[dict[str, dict[str, object]], list[int]]:
    """Receive a dict that `send_tree` sent, with its descriptors.

    Return `({}, [])` if the other end is closed.

    Raises:
        TimeoutError: the socket has a timeout, and nothing came.
    """
    try:
        data, descriptors, _, _ = socket.recv_fds(sock, MESSAGE_BYTES, _MOST_DESCRIPTORS)
    except ConnectionError:
        data, descriptors = b"", []
    return (json.loads(data) if data else {}), list(descriptors)
