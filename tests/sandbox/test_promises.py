"""Every promise of docs/security.md is tried before student code runs, and `grade doctor` names each of them."""

from __future__ import annotations

import json
import os
import platform
import shutil
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sandbox.test_room import LANDLOCK, in_a_container
from support import COURSES, ROOT

from grader.model.messages import Level
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.sandbox import cgroup, landlock, seccomp
from grader.sandbox.check_confinement import reach_of_check_process

pytestmark = pytest.mark.sandbox

OF_EVERY_LEVEL = {"imports", "private_folder", "threads", "memory"}
OF_REDUCED = {
    *("read_files", "write_files", "change_packages", "network", "unix_sockets", "odd_sockets", "signals", "tracing"),
    *("execute", "privileges", "new_namespaces", "ipc", "processes", "daemons"),
}
OF_FULL = {"see_files", "see_processes", "disk"}

AS_NOBODY = """
import os, sys
from attacking.nobody import become_nobody
become_nobody([sys.prefix, sys.base_prefix, sys.argv[1]])
os.chdir(sys.argv[1] + "/tests/courses/tiny")
os.execv(sys.executable, [sys.executable, "-m", "grader", "doctor", "--json"])
"""

UNLUCKY = """
import json, os, signal, sys
from grader.sandbox.levels import Sandbox
from grader.sandbox.start_messages import TryOut
from grader.sandbox.trials import try_out

class Unlucky(Sandbox):
    lost = 0

    def fork(self, *, starts_processes=False):
        pid = super().fork(starts_processes=starts_processes)
        if pid and self.lost < int(sys.argv[2]):
            self.lost += 1
            os.kill(pid, signal.SIGKILL)
        return pid

folders = [os.path.join(sys.argv[1], name) for name in ("first", "second")]
for folder in folders:
    os.mkdir(folder)
print(json.dumps(try_out(Unlucky(), TryOut(__file__, sys.argv[1], os.getpid(), 9, "nobody", 256, tuple(folders)))))
"""


def doctor(*, as_nobody: bool) -> Any:
    """What `grade doctor --json` says to this user, or to an ordinary one."""
    if as_nobody and os.getuid() != 0:
        pytest.skip("this is an ordinary user already")
    command = ["-c", AS_NOBODY, str(ROOT)] if as_nobody else ["-m", "grader", "doctor", "--json"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    folder = COURSES / "tiny"
    ran = subprocess.run([sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("as_nobody", [False, True], ids=["this user", "an ordinary user"])
def test_doctor_tries_every_promise(as_nobody: bool) -> None:
    """All 21 are tried, for root and for an ordinary user, and hold where the level says so."""
    told = doctor(as_nobody=as_nobody)
    assert told["facts"]["user"] == ("nobody" if as_nobody else told["facts"]["user"])
    names = {
        level: {row["name"] for row in told["tried"] if row["level"] == level} for level in ("none", "reduced", "full")
    }
    assert names == {"none": OF_EVERY_LEVEL, "reduced": OF_REDUCED, "full": OF_FULL}
    if told["confinement"] == "full":
        assert [row for row in told["tried"] if not row["holds"]] == []
    remains = told["check_processes"]
    assert set(remains) == {"memory", "network", "files", "processes"}
    assert ("as much as there is" in remains["memory"]) == (as_nobody or cgroup.find() is None)
    if landlock.abi():
        assert remains["files"].startswith("reads the interpreter, its packages, the course")
        assert "writes its own folder" in remains["files"]
    assert remains["network"] == "nothing"


def test_doctor_says_what_a_check_process_keeps_in_a_container() -> None:
    """Where the kernel refuses namespaces and Landlock, it says with the reason what check processes can reach.

    Sockets are refused there as well, by a filter that needs neither.
    """
    ran = in_a_container("doctor", "--json", also=(LANDLOCK,))
    assert ran.returncode == 0, ran.stderr
    remains = json.loads(ran.stdout)["check_processes"]
    assert remains["network"] == "nothing"
    assert remains["files"].startswith("reads every file of this user's; writes every file of this user's")
    assert "no Landlock" in remains["files"]


def test_sockets_that_no_filter_closes_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a filter that refuses nothing, the probe of check processes names the sockets in folders."""
    if landlock.abi() >= landlock.UNIX_SOCKETS_SINCE:
        pytest.skip("Landlock keeps a check process from them here")
    monkeypatch.setattr("grader.sandbox.process._PACKAGE", str(package_without_filters(tmp_path)))
    assert "Unix sockets in folders" in reach_of_check_process()["network"]


@pytest.mark.skipif(not landlock.abi(), reason="Landlock keeps a check process from them")
def test_a_check_process_reads_no_other_process() -> None:
    """Nor does one of root, whose rights would let it read environments in spite of Landlock."""
    assert reach_of_check_process()["processes"] == "sees, signals this user's processes"


def package_without_filters(folder: Path) -> Path:
    """A copy of the package whose system-call filters let everything through."""
    package = Path(shutil.copytree(Path(seccomp.__file__).parents[1], folder / "grader"))
    for path in (package / "sandbox" / "filters").glob(f"*.{platform.machine()}.bpf"):
        path.write_bytes(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    return package


@pytest.mark.parametrize("level", [Level.REDUCED, Level.FULL])
def test_a_promise_without_its_layer_is_found_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    """With filters that refuse nothing, the probes find what a worker can do then, and the level sinks to none."""
    monkeypatch.setattr("grader.sandbox.process._PACKAGE", str(package_without_filters(tmp_path)))
    with closing(WorkerServer(SandboxPlan(most=level))) as server:
        reached = server.wait_ready()
    broken = {row.name for row in reached.findings if row.why_not}
    if reached.refused and level is Level.FULL:
        pytest.skip(f"no namespaces here: {reached.refused}")
    assert reached.level is Level.NONE
    always = {"new_namespaces", "ipc", "processes"}
    assert always | ({"network", "daemons"} if level is Level.REDUCED else set()) <= broken


@pytest.mark.parametrize(("lost", "answers"), [(1, True), (4, False)])
def test_a_worker_that_was_killed_shows_nothing(tmp_path: Path, lost: int, answers: bool) -> None:
    """Probes that say nothing, as a machine short of memory ended their worker, run in another one."""
    script = tmp_path / "unlucky.py"
    script.write_text(UNLUCKY)
    command = [sys.executable, str(script), str(tmp_path), str(lost)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
    assert ("its probe did not answer" not in found.values()) == answers
    assert (found["threads"] == "") == answers
