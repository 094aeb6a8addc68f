"""Files and sockets of the host that really exist, for probes that try what a confined process can reach."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from grader.sandbox.process import bind_in


class ProbeTargets(NamedTuple):
    """What a probe tries to reach.

    Attributes:
        folder: a folder that only this user may open.
        file: a file in it.
        port: the port of 127.0.0.1 on which a socket of this process listens.
        socket: the name of two Unix sockets of this process: an abstract one, and one in `folder`.
        scratch: an empty folder beside `folder`, for what else the probes need.
    """

    folder: str
    file: str
    port: int
    socket: str
    scratch: str


@contextlib.contextmanager
def open_probe_targets() -> Iterator[ProbeTargets]:
    """Open sockets and make files that probes try to reach; yield their names.

    They are closed and removed at the end.
    """
    name = f"grade-{secrets.token_hex(8)}"
    with (
        tempfile.TemporaryDirectory(prefix="grade-probes-") as root,
        # A port on which nobody listens would refuse a process that nothing confines, too, and so prove nothing.
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as abstract,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as named,
    ):
        folder, scratch = os.path.join(root, "targets"), os.path.join(root, "scratch")
        for path in (folder, scratch):
            os.mkdir(path, mode=0o700)
        abstract.bind("\0" + name)
        bind_in(folder, name, named)
        file = Path(folder, "file.txt")
        file.write_text("a file of the user's", encoding="ascii")
        yield ProbeTargets(folder, str(file), server.getsockname()[1], name, scratch)
