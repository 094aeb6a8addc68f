"""What a check process cannot do: use the network, read other files, take all memory."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from session.courses import course_with
from support import FORK, RIGHT, grader_of, open_lane

from grader.sandbox import cgroup, landlock
from grader.sandbox.check_process import MEMORY_MB

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
def check_group(student):
    """Is in a control group of its own"""
    names = [line.rpartition("/")[2] for line in Path("/proc/self/cgroup").read_text().split()]
    if GROUPS and not any(name.startswith("tensorgrade-") for name in names):
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
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = CURIOUS.replace("COURSE", str(tmp_path / "course/solutions")).replace("OTHER", str(other))
        text = text.replace("PORT", str(server.getsockname()[1])).replace("GROUPS", str(cgroup.find() is not None))
        course = course_with(tmp_path, hidden=text)
        with open_lane(course.exercises, FORK) as lane:
            graded = grader_of(course, lane, tmp_path)(RIGHT)
            told = {row.check.id: (row.outcome.verdict.value, row.outcome.detail) for row in graded.checks}
            assert {told[id] for id in ("files", "network", "group")} == {("passed", "")}, told
            assert lane._process is not None
            if groups := cgroup.find():
                name = "memory.limit_in_bytes" if groups.version == 1 else "memory.max"
                limits = groups.memory.glob(f"tensorgrade-{lane._process.pid}-*/{name}")  # workers have theirs, too
                assert MEMORY_MB << 20 in [int(limit.read_text()) for limit in limits]
