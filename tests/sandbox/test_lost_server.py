"""The worker server is lost in the middle of a run: nobody who is graded pays for it."""

from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support import FORK, RIGHT, grader_of, open_lane, verdicts

from grader.connection.connection import Connection
from grader.connection.student import Student
from grader.model import Course, Limits, Verdict
from grader.model.endings import WorkerLost
from grader.model.messages import Level
from grader.runner.lane import JobResult, Lane
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.worker_process.fork import ForkStarter

pytestmark = pytest.mark.sandbox

SLOW = "import time\ntime.sleep(1)\n" + RIGHT


def server_of(source: Any) -> int:
    """The process that workers are forked from, which is below the one that was started."""
    pid = source._process.pid
    while Path(f"/proc/{pid}/comm").read_text() != "grade-server\n":
        pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    return int(pid)


@pytest.mark.usefixtures("own_server")
def test_what_was_running_is_repeated(tiny: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exercise in hand is graded with another server; a second loss is told `broken`, which costs no point."""
    with open_lane(tiny.exercises, FORK) as lane:

        def lose() -> None:
            os.kill(server_of(lane._source), signal.SIGKILL)

        grade = grader_of(tiny, lane, tmp_path)
        right = verdicts(grade(RIGHT))
        before = server_of(lane._source)
        killer = threading.Timer(0.2, lose)
        killer.start()
        assert verdicts(grade(SLOW)) == right
        killer.join()
        assert server_of(lane._source) != before
        receive = Lane._receive_outcomes

        def receive_and_lose(*arguments: Any) -> JobResult:
            killer = threading.Timer(0.2, lose)
            killer.start()
            try:
                return receive(*arguments)
            finally:
                killer.join()

        with monkeypatch.context() as patch:
            patch.setattr(Lane, "_receive_outcomes", receive_and_lose)
            assert set(verdicts(grade(SLOW)).values()) == {"broken"}
        assert verdicts(grade(RIGHT)) == right


def test_a_worker_that_ends_with_its_server_is_nobodys_fault(tmp_path: Path) -> None:
    """Its loss is `broken`, and not a crash of the code that ran in it."""
    with closing(WorkerServer(SandboxPlan(most=Level.NONE))) as source:
        source.wait_ready()
        starter = ForkStarter(source.open_lane(0), tmp_path)
        connection = Connection(starter, "work", {"work.py": b"import time\ndef nap(): time.sleep(60)\n"}, Limits())
        connection.names()
        killer = threading.Timer(0.3, os.kill, (server_of(source), signal.SIGKILL))
        killer.start()
        with pytest.raises(WorkerLost) as caught:
            Student(connection).nap()
        killer.join()
        connection.close()
        starter.close()
    assert (caught.value.verdict, caught.value.message) == (Verdict.BROKEN, "the worker server is gone")


def test_lanes_of_a_new_server_are_not_kept_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it ends just now is asked of one that refuses a lane, and then there is another."""
    asked: list[int] = []
    with closing(WorkerServer(SandboxPlan())) as source:

        def was_lost(generation: int) -> bool:
            asked.append(generation)
            return WorkerServer.was_lost(source, generation)

        monkeypatch.setattr(source, "was_lost", was_lost)
        supplies = [source.supply(number) for number in range(2)]
        source._socket.shutdown(socket.SHUT_RDWR)  # it refuses lanes from now on
        source._process.kill()
        supplies.append(source.supply(2))
    for supply in supplies:
        assert supply.server is not None
        supply.server.close()
    assert ([supply.generation for supply in supplies], asked) == ([0, 0, 1], [0])


def test_plain_workers_outlive_the_thread_that_started_them() -> None:
    """A lane or a notebook may start their server in a thread that ends before they are needed."""
    opened: list[WorkerServer] = []

    def start() -> None:
        opened.append(WorkerServer(SandboxPlan(most=Level.NONE), is_plain=True))
        opened[0].wait_ready()

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    with closing(opened[0]) as server:
        assert not server.was_lost(server.generation)
        server.open_lane(0).close()


@pytest.mark.parametrize("which", ["check process", "worker server"])
def test_what_is_killed_while_it_starts_is_started_again(tiny: Course, which: str) -> None:
    """A machine short of memory kills one of our processes before it has said anything: the batch goes on."""
    with closing(WorkerServer(SandboxPlan())) as source, closing(Lane(tiny.exercises, source)) as lane:
        process = lane._process if which == "check process" else source._process
        assert process is not None
        process.kill()
        assert lane.collected.checks
        assert not lane.collected.problems
        assert lane.reached.level >= Level.NONE
