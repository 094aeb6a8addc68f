"""Control groups: where they can be made, that workers are in theirs before they are asked, and that none is left."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader.connection.connection import Connection
from grader.connection.student import Student
from grader.model import Limits
from grader.model.endings import WorkerLost
from grader.model.messages import Level
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.sandbox import cgroup, datagrams
from grader.worker_process import fork
from grader.worker_process.fork import ForkStarter

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def groups() -> cgroup.ControlGroup:
    found = cgroup.find()
    if found is None:
        pytest.skip("no control groups can be made here")
    return found


@pytest.fixture(scope="module")
def starter(groups: cgroup.ControlGroup, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkStarter]:
    with closing(WorkerServer(SandboxPlan(most=Level.FULL))) as server:
        reached = server.wait_ready()
        if reached.level is not Level.FULL:
            pytest.skip(f"this machine reaches {reached.level.word}: {reached.missing(Level.FULL)}")
        with closing(ForkStarter(server.open_lane(0), tmp_path_factory.mktemp("workers"), groups)) as made:
            yield made


def test_groups_are_found_where_they_can_be_written(tmp_path: Path) -> None:
    """Both versions of control groups are understood; what cannot be written is not used."""
    own = tmp_path / "own"
    own.write_text("4:memory:/a/b\n3:cpu,pids:/\n0::/x\n")
    one, two = tmp_path / "one", tmp_path / "two"
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"30 1 0:1 / {one}/memory rw - cgroup cgroup rw,memory\n31 1 0:2 / {one}/pids rw - cgroup cgroup rw,pids\n"
    )
    assert cgroup.find(str(mounts), str(own)) is None
    (one / "memory" / "a" / "b").mkdir(parents=True)
    (one / "pids").mkdir()
    found = cgroup.find(str(mounts), str(own))
    assert found == cgroup.ControlGroup(one / "memory" / "a" / "b", one / "pids", 1)
    mounts.write_text(f"30 1 0:1 / {two} rw - cgroup2 cgroup2 rw,nsdelegate\n")
    two.mkdir()
    assert cgroup.find(str(mounts), str(own)) is None
    (two / "cgroup.subtree_control").write_text("cpu memory pids\n")
    assert cgroup.find(str(mounts), str(own)) == cgroup.ControlGroup(two, two, 2)


MEMORY_OF_MANY = """
    import os, time
    def main():
        for _ in range(6):
            if os.fork() == 0:
                kept = bytearray(b"x") * (200 << 20)
                time.sleep(30)
                os._exit(0)
        os.wait()
        os._exit(1)
"""


def test_memory_of_all_processes_together_is_capped(starter: ForkStarter) -> None:
    """Processes that each keep their limit, and together do not, are ended for it."""
    files = {"honest.py": textwrap.dedent(MEMORY_OF_MANY).encode()}
    connection = Connection(starter, "honest", files, Limits(memory_mb=256, processes=8))
    with pytest.raises(WorkerLost, match="used more than 256 MB of memory"):
        Student(connection).main()
    connection.close()


def test_it_is_counted_where_there_are_no_groups(tmp_path: Path) -> None:
    """Where no group caps it, the server looks at all processes of a worker, those without a parent among them."""
    files = {"honest.py": textwrap.dedent(MEMORY_OF_MANY).encode()}
    with closing(WorkerServer(SandboxPlan())) as server:
        if server.wait_ready().level is not Level.FULL:
            pytest.skip("without namespaces a worker starts no process")
        starter = ForkStarter(server.open_lane(0), tmp_path)
        with (
            closing(starter),
            closing(Connection(starter, "honest", files, Limits(memory_mb=256, processes=8))) as connection,
            pytest.raises(WorkerLost, match="used more than 256 MB of memory"),
        ):
            Student(connection).main()


@pytest.mark.parametrize("entering", [True, False])
def test_a_worker_is_in_its_group_before_its_first_request(
    starter: ForkStarter, groups: cgroup.ControlGroup, monkeypatch: pytest.MonkeyPatch, entering: bool
) -> None:
    """It enters by itself; where that fails, it is put there."""
    if entering and groups.version != 1:
        pytest.skip("nobody enters groups of this version by themselves")
    if entering:
        monkeypatch.setattr(cgroup.ControlGroup, "take_in", lambda *_: None)
    else:
        monkeypatch.setattr(cgroup.ControlGroup, "entry_descriptors", lambda _: [])
    worker = starter.start_worker(Limits())
    group: cgroup.ControlGroup = worker.group  # type: ignore[attr-defined]
    inside = [(folder / "cgroup.procs").read_text().split() for folder in group.folders]
    worker.close()
    assert inside == [[str(worker.pid)]] * len(group.folders)


def made_here(groups: cgroup.ControlGroup) -> set[Path]:
    return {path for folder in (groups.memory, groups.pids) for path in folder.glob(f"*.{os.getpid()}.*")}


IN_ANOTHER_CONTAINER = """
import os, sys
from pathlib import Path
from grader.sandbox import cgroup, kernel
groups = cgroup.ControlGroup(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
if os.geteuid() != 0:
    user, group, proc = os.getuid(), os.getgid(), os.open("/proc", os.O_RDONLY)
    kernel.unshare(kernel.CLONE_NEWUSER)
    kernel.map_user(proc, user, user, group)
kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID)
pid = os.fork()
if pid == 0:
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("proc", "/proc", "proc", 0)
    if sys.argv[1] == "look":
        groups.remove_orphaned_groups()
    else:
        print(groups.make(256, 8).memory.name, flush=True)
    os._exit(0)  # removes nothing, like a grader that is killed
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def in_another_container(what: str, groups: cgroup.ControlGroup) -> str:
    """Make a group, or look for groups that were left, in a process namespace that has the control groups of ours."""
    command = [sys.executable, "-c", IN_ANOTHER_CONTAINER, what, *map(str, (groups.memory, groups.pids))]
    return subprocess.run([*command, str(groups.version)], capture_output=True, text=True, check=True).stdout.strip()


def test_another_container_leaves_groups_of_ours_alone(
    starter: ForkStarter, groups: cgroup.ControlGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grader that cannot see our processes removes no group of ours, not even before a worker is in it."""
    new_folder_and_output = starter.new_folder_and_output

    def meanwhile() -> tuple[Path, Path]:
        in_another_container("look", groups)
        return new_folder_and_output()

    monkeypatch.setattr(starter, "new_folder_and_output", meanwhile)
    worker = starter.start_worker(Limits())
    group: cgroup.ControlGroup = worker.group  # type: ignore[attr-defined]
    assert all((folder / "cgroup.procs").read_text().split() == [str(worker.pid)] for folder in group.folders)
    worker.close()


@pytest.fixture
def own_groups(groups: cgroup.ControlGroup) -> Iterator[cgroup.ControlGroup]:
    """Groups of this test alone: the graders of other tests remove what is left in those of all."""
    name = f"test.{os.getpid()}"
    own = cgroup.ControlGroup(groups.memory / name, groups.pids / name, groups.version)
    for folder in own.folders:
        folder.mkdir()
        if own.version == 2:
            (folder / "cgroup.subtree_control").write_text("+memory +pids")
    yield own
    for folder in own.folders:
        folder.rmdir()


@pytest.mark.usefixtures("starter")
def test_groups_of_a_killed_grader_are_removed(own_groups: cgroup.ControlGroup) -> None:
    """By any grader, also where the process number in the name is that of another process here."""
    name = in_another_container("make", own_groups)
    left = [folder / name for folder in own_groups.folders]
    assert name and all(folder.exists() for folder in left)
    own_groups.remove_orphaned_groups()
    assert not any(folder.exists() for folder in left)


def test_workers_that_die_at_birth_leave_no_groups(starter: ForkStarter, groups: cgroup.ControlGroup) -> None:
    """They are lost as ever, and what was made for them is removed."""
    before = made_here(groups)
    for _ in range(3):
        with pytest.raises(WorkerLost, match="before it was confined"):
            starter.start_worker(Limits(exercise_s=1e30))  # more than the kernel accepts
    assert len({folder.name for folder in made_here(groups) - before}) <= 1


def test_a_server_that_is_lost_leaves_no_group(
    groups: cgroup.ControlGroup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is gone when it is asked, or before it answers, what was made for the worker is removed."""
    before = made_here(groups)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    starter = ForkStarter(ours, tmp_path, groups)
    receive = datagrams.receive

    def hang_up(status: socket.socket) -> Any:
        theirs.close()
        return receive(status)

    monkeypatch.setattr(fork, "receive", hang_up)
    for _ in range(2):
        with pytest.raises(WorkerLost, match="server is gone"):
            starter.start_worker(Limits())
    assert made_here(groups) <= before
    ours.close()
