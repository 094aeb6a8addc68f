"""The life of a forked worker, from its first statement."""

from __future__ import annotations

import os
import signal
import socket
import sys

from grader.sandbox import cgroup, kernel
from grader.sandbox.messages import Message, StartWorker, from_text
from grader.sandbox.wall import Wall
from grader.wire.frames import Channel
from grader.wire.transport import SocketTransport
from grader.worker.spawned import live

_MESSAGE_BYTES = 1 << 16
_MOST_DESCRIPTORS = 8


def be_born(birth: socket.socket, wall: Wall) -> None:
    """Wait for what this worker is for, then be it; does not come back.

    Args:
        birth: on which it is told, once.
        wall: what confines it.
    """
    # Still the server's: a signal here would write into its socket, or into whatever has that number next.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if sys.platform == "linux":
        # They make a fork cheaper. Under load one takes its time to be had, and that is student code's time.
        kernel.take_small_pages()
    # In this order: the wall still needs descriptors of the server's. From the next line on there is one left, so that
    # no worker holds a lane's socket or another worker's.
    wall.give_up_rights()
    kernel.close_all_but(birth.fileno())
    message, descriptors = receive(birth)
    if not isinstance(message, StartWorker):  # the server is gone
        os._exit(0)
    channel_fd, output_fd, *doors = descriptors
    cgroup.enter(doors)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    channel = socket.socket(fileno=os.dup2(channel_fd, 3) if channel_fd != 3 else 3)
    kernel.close_all_but(3)
    # Its descriptor is closed by now. Were the object collected later, it would close the number's next owner.
    birth.detach()
    live(Channel(SocketTransport(channel), trusts=True), wall, message)


def receive(sock: socket.socket) -> tuple[Message | None, list[int]]:
    """One message of the host's or a lane's, with its descriptors; None if the other end is closed."""
    try:
        data, descriptors, _, _ = socket.recv_fds(sock, _MESSAGE_BYTES, _MOST_DESCRIPTORS)
    except ConnectionError:
        data, descriptors = b"", []
    return (from_text(data) if data else None), list(descriptors)
