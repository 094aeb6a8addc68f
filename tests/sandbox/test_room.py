"""Machines that give few namespaces or none: fewer workers at once, or a sentence that says what to do."""

from __future__ import annotations

import json
import os
import platform
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from support import COURSES, RIGHT, run_grade

from grader.runner.promises import PROMISES
from grader.sandbox import namespace_limits as room

pytestmark = pytest.mark.sandbox

IN_A_SMALL_WORLD = """
import os, sys
from grader.sandbox import kernel
limit, *command = sys.argv[1:]
ready, go = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    kernel.unshare(kernel.CLONE_NEWUSER)
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write(limit)
    os.execv(command[0], command)
os.read(ready[0], 1)
for name in ("uid_map", "gid_map"):
    rows = [line.split() for line in open(f"/proc/self/{name}")]
    with open(f"/proc/{pid}/{name}", "w") as file:
        file.write("".join(f"{row[0]} {row[0]} {row[2]}\\n" for row in rows))
os.write(go[1], b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""

MANY_WORKERS = """
import os, tempfile
from pathlib import Path
from grader.runner.worker_server import WorkerServer
from grader.runner.promises import SandboxPlan
from grader.model import Limits
from grader.model.endings import WorkerLost
from grader.worker_process.fork import ForkStarter

server = WorkerServer(SandboxPlan())
print(server.wait_ready().level.word)
with tempfile.TemporaryDirectory() as folder:
    starter = ForkStarter(server.open_lane(0), Path(folder))
    workers = []
    try:
        while len(workers) < 20:
            workers.append(starter.start_worker(Limits(processes=2)))
    except WorkerLost as lost:
        print(len(workers), lost.verdict.value, lost.message)
    kept = list(workers)
    def make_room():
        kept.pop(0).close()
        return True
    starter.make_room = make_room
    for _ in range(4):
        kept.append(starter.start_worker(Limits(processes=2)))
    print(len(kept), all(worker.cpu_s() is not None for worker in kept))
    for worker in kept:
        worker.close()
    starter.close()
server.close()
"""


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=COURSES / "tiny", capture_output=True, text=True, timeout=200, check=False)


def with_namespaces(limit: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where that many user namespaces can be made, in one of its own: nobody else feels the limit."""
    if os.getuid() != 0:
        pytest.skip("only root can give another user namespace all of its users")
    return run_python(IN_A_SMALL_WORLD, str(limit), sys.executable, *arguments)


UNSHARE = {"x86_64": 272, "aarch64": 97}
LANDLOCK = 444


def in_a_container(*arguments: str, also: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the command where namespaces and other system calls are refused, as Docker's default profile does."""
    numbers = (UNSHARE[platform.machine()], *also)
    rows = [(0x20, 0, 0, 0)]
    rows += [(0x15, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    rows += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]
    program = b"".join(struct.pack("HBBI", *row) for row in rows)
    return run_python(f"""
import os, sys
from grader.sandbox import kernel
kernel.forbid_new_privileges()
kernel.filter_system_calls({program!r})
os.execv(sys.executable, [sys.executable, "-m", "grader", *{arguments!r}])
""")


@pytest.fixture
def batch(tmp_path: Path) -> tuple[str, ...]:
    """The command that grades a class of two into `out`."""
    for author in ("ada", "bob"):
        folder = tmp_path / "in" / author
        folder.mkdir(parents=True)
        (folder / "double.py").write_text(RIGHT)
    return ("batch", str(tmp_path / "in"), "--out", str(tmp_path / "out"))


def test_a_batch_refuses_less_than_full(batch: tuple[str, ...], tmp_path: Path) -> None:
    """Without namespaces and Landlock a batch stops with reason and remedies, and runs nothing; a student's goes on."""
    ran = in_a_container(*batch, also=(LANDLOCK,))
    assert ran.returncode == 2
    assert "this machine can confine student code at level none only, but full is required" in ran.stderr
    assert "unshare: EPERM" in ran.stderr
    assert "what to do: let processes make user namespaces" in ran.stderr
    assert "boot a kernel of version 5.13 or later with Landlock" in ran.stderr
    assert not list((tmp_path / "out").glob("reports/*"))
    own = in_a_container("double", "--submission", str(tmp_path / "in" / "ada"), also=(LANDLOCK,))
    assert "10 / 10 points" in own.stdout, own.stderr


def test_less_can_be_requested_and_is_reported(batch: tuple[str, ...], tmp_path: Path) -> None:
    """`--confinement reduced` grades there, and every report says how student code was confined."""
    ran = in_a_container(*batch, "--confinement", "reduced")
    assert ran.returncode == 0, ran.stderr
    report = json.loads((tmp_path / "out" / "reports" / "ada.json").read_text())
    assert report["environment"]["confinement"] == "reduced"
    assert [row["score"]["earned"] for row in report["exercises"] if row["id"] == "double"] == [10]


def test_too_few_are_reported_with_their_limit(batch: tuple[str, ...], tmp_path: Path) -> None:
    """A batch stops with the limit and the number that is needed, without a traceback; nothing is graded."""
    ran = with_namespaces(3, "-m", "grader", *batch)
    assert ran.returncode == 2, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "full is required" in ran.stderr
    said = " ".join(ran.stderr.split())
    assert "there is room for" in said
    assert f"user.max_user_namespaces is 3; {room.AT_ONCE} workers need {room.ENOUGH}" in said
    assert not list((tmp_path / "out").glob("reports/*"))


def test_doctor_shows_every_probe_and_names_the_limit() -> None:
    """`grade doctor` says what holds on this machine, and does not promise what a batch could not keep."""
    root = os.getuid() == 0
    ran = with_namespaces(room.AT_ONCE, "-m", "grader", "doctor") if root else run_grade("doctor", cwd=COURSES)
    assert ran.returncode == 0, ran.stderr
    assert [item.sentence for item in PROMISES if item.sentence not in ran.stdout] == []
    assert max(len(line) for line in ran.stdout.splitlines()) <= 80
    assert ("Confinement: reduced" if root else "Confinement: ") in ran.stdout
    needed = f"user.max_user_namespaces is {room.AT_ONCE}; {room.AT_ONCE} workers need {room.ENOUGH}"
    assert not root or needed in " ".join(ran.stdout.split())


def test_advice_names_what_is_too_low(tmp_path: Path) -> None:
    """Of all limits those are named that are too low; where none is, that others use them up."""
    (tmp_path / "user").mkdir()
    for kind, most in (("net", 2), ("user", 10_000), ("pid", 0)):
        (tmp_path / f"user/max_{kind}_namespaces").write_text(f"{most}\n")
    told = room.advice("unshare: ENOSPC, No space left on device", str(tmp_path))
    assert told.startswith("; user.max_net_namespaces is 2, user.max_pid_namespaces is 0; ")
    for path in tmp_path.glob("user/*"):
        path.write_text("10000\n")
    assert "others use up" in room.advice("unshare: ENOSPC", str(tmp_path))


def test_advice_names_what_forbids_namespaces(tmp_path: Path) -> None:
    """A switch of Debian's or Ubuntu's that forbids them is named with its value; other refusals are not explained."""
    (tmp_path / "kernel").mkdir()
    refused = "unshare: EPERM, Operation not permitted"
    assert room.advice(refused, str(tmp_path)) == ""
    (tmp_path / "kernel/unprivileged_userns_clone").write_text("1\n")
    (tmp_path / "kernel/apparmor_restrict_unprivileged_userns").write_text("1\n")
    told = room.advice(refused, str(tmp_path))
    assert told == "; kernel.apparmor_restrict_unprivileged_userns is 1; workers need 0"
    assert room.advice("pivot_root: EINVAL, Invalid argument", str(tmp_path)) == ""


def test_where_there_is_just_enough_a_batch_is_graded(batch: tuple[str, ...]) -> None:
    """With room for the workers of one check, all are graded as everywhere."""
    ran = with_namespaces(room.AT_ONCE + 1, "-m", "grader", *batch)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("10 / 15") == 4, ran.stdout


def test_fewer_at_once() -> None:
    """Without room a worker is refused with a sentence, or what is kept for later is ended for it; the server lives."""
    ran = with_namespaces(room.ENOUGH, "-c", MANY_WORKERS)
    assert ran.returncode == 0, ran.stderr
    level, refused, after = ran.stdout.splitlines()
    assert level == "full"
    count, verdict, text = refused.split(" ", 2)
    assert (int(count), verdict) == (room.AT_ONCE + 1, "broken")
    assert "this machine cannot start another worker" in text
    assert "ENOSPC" in text
    assert after == f"{room.AT_ONCE + 1} True"
