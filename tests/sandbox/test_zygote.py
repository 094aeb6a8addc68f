"""PyTorch is imported once, by a process that reads nothing of a course; all others of a run are forked from it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support import FORK, RIGHT, grader_of, open_lane, verdicts

from grader.connection.connection import Connection
from grader.connection.student import Student
from grader.grading.runtime import Processes, Runtime
from grader.model import Course, Limits
from grader.runner.promises import SandboxPlan
from grader.runner.warm import WarmSocket, stop_all, warm_processes
from grader.runner.worker_server import WorkerServer
from grader.runner.zygote_client import WarmZygote, Zygote
from grader.worker_process.fork import ForkStarter

pytestmark = pytest.mark.sandbox

WORDS = (b"SREKRAM TERCES", b"secirtam modnar selbuoD", b"sregetni sregetni speeK")
"""Words that stand in checks and references of the pretend course alone, from their end to their beginning."""


def names_and_commands(pid: int) -> dict[int, tuple[str, bytes]]:
    """A process and all below it that do not end meanwhile, as workers that were used do."""
    found = {}
    for each in below(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            command = Path(f"/proc/{each}/cmdline").read_bytes()
            if command:  # one that has ended has none
                found[each] = Path(f"/proc/{each}/comm").read_text().strip(), command
    return found


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def below(pid: int) -> list[int]:
    """A process and all below it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return []
    return [pid, *(each for child in children for each in below(int(child)))]


def found_in(pid: int) -> list[bytes]:
    """The words that are in the memory of a process."""
    found = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, rights, _, _, _, *name = line.split()
            if not rights.startswith("rw") or (name and name[0] not in ("[heap]", "[stack]")):
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            memory.seek(start)
            data = memory.read(end - start)
            found += [word for word in WORDS if re.search(word[::-1], data)]
    return found


@pytest.fixture
def zygote(monkeypatch: pytest.MonkeyPatch) -> list[Zygote]:
    """The zygotes that runtimes of this test start for themselves, as those of a command do."""
    started: list[Zygote] = []

    def opened(**_: object) -> Zygote:
        started.append(Zygote())
        return started[-1]

    monkeypatch.setattr(Runtime, "processes", Processes(opened))
    return started


def test_all_are_forked_from_one_that_reads_no_course(tiny: Course, tmp_path: Path, zygote: list[Zygote]) -> None:
    """No other program is started; checks and references are in no process that others are forked from."""
    with Runtime(tiny.exercises, FORK, 2) as runtime:
        lanes = [runtime.open_lane(), runtime.open_lane()]
        for lane in lanes:
            assert set(verdicts(grader_of(tiny, lane, tmp_path)(RIGHT)).values()) == {"passed"}
        (one,) = zygote
        assert one._process is not None
        pid = one._process.pid
        found = names_and_commands(pid)
        family = {each: name for each, (name, _) in found.items()}
        assert {command for _, command in found.values()} == {Path(f"/proc/{pid}/cmdline").read_bytes()}
        (template,) = [each for each, name in family.items() if name == "grade-template"]
        checks = [each for each, name in family.items() if name == "grade-check"]
        assert (family[pid], parent_of(template), len(checks)) == ("grade-zygote", pid, 2)
        assert {parent_of(check) for check in checks} == {template}
        assert found_in(pid) == found_in(template) == []
        assert all(found_in(check) for check in checks)
        for lane in lanes:
            lane.close()
    assert not Path(f"/proc/{pid}").exists()


KNOWS = b"""
import gc
import sys


def knows(numbers):
    gc.unfreeze()
    frame, found = sys._getframe(1), []
    while frame is not None:
        found += frame.f_locals.values()
        frame = frame.f_back
    for each in gc.get_objects():
        if str(type(each).__module__).startswith(("grader.", "__main__")):
            found += getattr(each, "__dict__", {}).values()
            found += each if isinstance(each, tuple) else []
        if type(each).__name__ == "frame" and "/grader/" in each.f_code.co_filename:
            found += each.f_locals.values()
    found = [value for value in found if type(value) is int]
    return [number for number in numbers if number in found], sys.orig_argv
"""


@pytest.mark.parametrize("soon", [False, True], ids=["prepared", "prepared when the first command had ended"])
def test_workers_know_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, soon: bool) -> None:
    """Neither frames nor objects that a worker inherits have numbers of our processes, nor the command the socket."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    # These tests may be a session of their own, or have begun outside of this container.
    monkeypatch.setattr(os, "getsid", lambda _: os.getppid())
    zygote = WarmZygote(WarmSocket.for_this_process(), soon=soon)
    if soon:
        first = WorkerServer(SandboxPlan(), zygote)
        first.wait_ready()
        (started,) = warm_processes()
        first.close()
        zygote.close()
        zygote = WarmZygote(WarmSocket.for_this_process())
        assert [each.pids for each in warm_processes()] == [started.pids]
    try:
        server = WorkerServer(SandboxPlan(), zygote)
        server.wait_ready()
        starter = ForkStarter(server.open_lane(0), tmp_path)
        connection = Connection(starter, "small", {"small.py": KNOWS}, Limits())
        (warm,) = warm_processes()
        # A small number, as in a container, stands for other things, too.
        numbers = [number for number in (os.getpid(), *warm.pids) if number > 1000]
        known, command = Student(connection).knows(numbers)
        assert known == []
        assert not [word for word in command if ".sock" in word]
        connection.close()
        starter.close()
        server.close()
    finally:
        stop_all()
        zygote.close()


def test_one_that_is_lost_gets_a_successor(tiny: Course, tmp_path: Path, zygote: list[Zygote]) -> None:
    """With it its worker server and template end; the next exercise is graded as before."""
    with open_lane(tiny.exercises, FORK) as lane:
        grade = grader_of(tiny, lane, tmp_path)
        right = verdicts(grade(RIGHT))
        assert zygote[0]._process is not None
        os.kill(zygote[0]._process.pid, signal.SIGKILL)
        assert verdicts(grade(RIGHT)) == right
        assert verdicts(grade(RIGHT)) == right


def test_nothing_stays_when_the_host_is_killed(tiny: Course) -> None:
    """Whether it is still importing PyTorch, or has forked all."""
    code = f"""
import sys, time
from pathlib import Path
from grader.course.load import load_course
from grader.grading.runtime import Processes, Runtime
from grader.model.messages import Setup, Start
with Runtime(load_course(Path({str(tiny.root)!r})).exercises, Setup(Start.FORK)) as runtime:
    runtime.source
    if sys.argv[1] == "late":
        runtime.collected()
    print("ready", flush=True)
    time.sleep(600)
"""
    for when in ("early", "late"):
        with subprocess.Popen([sys.executable, "-c", code, when], stdout=subprocess.PIPE) as host:
            assert host.stdout is not None
            host.stdout.readline()
            family = below(host.pid)[1:]
            assert len(family) > (3 if when == "late" else 0)
            host.kill()
        latest = time.monotonic() + 60
        while (left := [pid for pid in family if Path(f"/proc/{pid}").exists()]) and time.monotonic() < latest:
            time.sleep(0.05)
        assert left == []
