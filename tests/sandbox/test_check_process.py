"""What a check process cannot do: open a socket, use the network, read other files, take all memory."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from pathlib import Path

import pytest
from check_process.courses import course_with
from support import FORK, RIGHT, grader_of, open_lane

from grader.sandbox import cgroup, landlock
from grader.sandbox.check_confinement import MEMORY_MB

pytestmark = pytest.mark.sandbox

CURIOUS = '''
import socket
from pathlib import Path

import torch

from grader.check import check


@check("C1")
def check_files(student):
    """Reads what is not the course's"""
    assert Path(__file__).read_text() and list(Path("COURSE").iterdir())
    for path in ("OTHER/submission.py", "OTHER"):
        try:
            Path(path).read_text() if path.endswith("py") else list(Path(path).iterdir())
        except PermissionError:
            continue
        raise RuntimeError(f"read {path}")


@check("C1")
def check_network(student):
    """Connects to a port of this machine"""
    try:
        socket.create_connection(("127.0.0.1", PORT), timeout=5)
    except OSError:
        return
    raise RuntimeError("connected")


@check("C1")
def check_sockets(student):
    """Reaches a socket in a folder, in each way that there is"""
    pairs = [socket.socketpair(socket.AF_UNIX, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)]
    for ours, theirs in pairs:  # as the kernel gives them; they go on working, and lead nowhere else
        ours.sendall(b"x")
        assert theirs.recv(1) == b"x"
    ways = [lambda: ours.connect("SOCKET"), lambda: pairs[0][0].sendto(b"pair", "SOCKET")]
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        ways += [lambda kind=kind: socket.socket(socket.AF_UNIX, kind).connect("SOCKET")]
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC):
        ways += [lambda kind=kind: socket.socketpair(socket.AF_UNIX, kind)[0].sendto(b"pair", "SOCKET")]
    for number, way in enumerate(ways):
        try:
            way()
        except OSError:
            continue
        raise RuntimeError(f"way {number}")


@check("C1")
def check_group(student):
    """Is in a control group of its own"""
    names = [line.rpartition("/")[2] for line in Path("/proc/self/cgroup").read_text().split()]
    if GROUPS and not any(name.startswith("tensorgrade.") for name in names):
        raise RuntimeError(str(names))
'''


@pytest.mark.usefixtures("own_server")
def test_what_a_check_process_cannot_do(tmp_path: Path) -> None:
    """A check reads its own course, and neither another folder nor the network; it is in a group of its own."""
    if not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    other = tmp_path / "other"
    other.mkdir()
    (other / "submission.py").write_text("x = 1\n")
    folder = tempfile.mkdtemp(prefix="s-")  # the address of a socket has room for few characters
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bus:
        bus.bind(f"{folder}/bus")
        os.chmod(f"{folder}/bus", 0o777)
        text = CURIOUS.replace("SOCKET", f"{folder}/bus")
        text = text.replace("COURSE", str(tmp_path / "course/solutions")).replace("OTHER", str(other))
        text = text.replace("PORT", str(server.getsockname()[1])).replace("GROUPS", str(cgroup.find() is not None))
        course = course_with(tmp_path, hidden=text)
        with open_lane(course.exercises, FORK) as lane:
            graded = grader_of(course, lane, tmp_path)(RIGHT)
            told = {row.check.id: (row.outcome.verdict.value, row.outcome.detail) for row in graded.checks}
            assert {told[id] for id in ("files", "network", "sockets", "group")} == {("passed", "")}, told
            bus.setblocking(False)
            with pytest.raises(BlockingIOError):
                bus.recv(100)
            assert lane._process is not None
            if groups := cgroup.find():
                name = "memory.limit_in_bytes" if groups.version == 1 else "memory.max"
                limits = groups.memory.glob(f"tensorgrade.{lane._process.pid}.*/{name}")  # workers have their own, too
                assert MEMORY_MB << 20 in [int(limit.read_text()) for limit in limits]
    shutil.rmtree(folder)
