"""Listeners of this machine that no worker must reach."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator

from attacking.host import MARKER

PORT = 57911
NAME = f"{MARKER}_listener"


@contextlib.contextmanager
def listening(heard: list[str]) -> Iterator[None]:
    """Listen on local addresses, and note what came in the end. Where another run listens already, it does that."""
    path = os.path.join(tempfile.gettempdir(), NAME)
    addresses = (
        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", PORT)),
        (socket.AF_INET6, socket.SOCK_STREAM, ("::1", PORT)),
        (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", PORT)),
        (socket.AF_INET6, socket.SOCK_DGRAM, ("::1", PORT)),
        (socket.AF_UNIX, socket.SOCK_STREAM, "\0" + NAME),
        (socket.AF_UNIX, socket.SOCK_STREAM, path),
    )
    with contextlib.ExitStack() as stack:
        ends = []
        for family, kind, address in addresses:
            with contextlib.suppress(OSError):
                end = stack.enter_context(socket.socket(family, kind))
                end.bind(address)
                if kind == socket.SOCK_STREAM:
                    end.listen()
                end.setblocking(False)
                ends.append((end, address))
        stack.callback(_remove, path)
        yield
        for end, address in ends:
            with contextlib.suppress(BlockingIOError):
                came = end.recv(100) if end.type == socket.SOCK_DGRAM else end.accept()[1]
                heard.append(f"somebody called {address!r}: {came!r}")


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
