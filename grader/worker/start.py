"""How a worker starts: forked by the worker server, or as a fresh interpreter. Then it is confined, and serves.

A fresh interpreter is for systems where fork is missing, or unsafe once torch is imported. Its channel is its standard
input and output, and its output goes where standard error goes. It warms up first and says so, so that one can be ready
ahead of need.
"""

from __future__ import annotations

import os
import socket
import sys

from grader.sandbox import kernel
from grader.sandbox.levels import Sandbox
from grader.sandbox.messages import StartWorker, from_tree, receive
from grader.wire.frames import Channel
from grader.wire.transport import SocketTransport, standard_streams
from grader.worker import surroundings
from grader.worker.serve import serve


def spawned() -> None:
    """Serve over the standard streams until they close."""
    # The channel moves out of the way: what student code prints must not be read as frames.
    channel, sandbox = Channel(standard_streams(), trusts=True), Sandbox()
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115  lives as long as the process
    surroundings.preload()
    channel.send(0, {})
    sandbox.give_up_rights()
    wanted = from_tree(channel.receive().tree)
    assert isinstance(wanted, StartWorker)
    _live(channel, sandbox, wanted)


def forked(orders: socket.socket, sandbox: Sandbox) -> None:
    """Wait for what this worker is for, then be it; does not come back.

    Args:
        orders: on which that arrives, once.
        sandbox: what confines it.
    """
    if sys.platform == "linux":
        # They make a fork cheaper. Under load one takes its time to be had, and that is student code's time.
        kernel.take_small_pages()
    # In this order: the sandbox still needs descriptors of the server's. After the next line there is one left, so that
    # no worker holds a lane's socket or another worker's.
    sandbox.give_up_rights()
    kernel.close_all_but(orders.fileno())
    message, descriptors = receive(orders)
    if not isinstance(message, StartWorker):  # the server is gone
        os._exit(0)
    channel_fd, output_fd = descriptors
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    channel = socket.socket(fileno=os.dup2(channel_fd, 3) if channel_fd != 3 else 3)
    kernel.close_all_but(3)
    # Its descriptor is closed by now. Were the object collected later, it would close the number's next owner.
    orders.detach()
    _live(Channel(SocketTransport(channel), trusts=True), sandbox, message)


def _live(channel: Channel, sandbox: Sandbox, wanted: StartWorker) -> None:
    """Be confined, serve until the channel closes, and end."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    folder = sandbox.confine(wanted.limits, wanted.folder)
    channel.send(0, {})  # the last layer holds: no submission is sent before
    serve(channel, folder)
    # Nothing of the student's is waited for or run any more: no thread, no function left with `atexit`.
    os._exit(0)
