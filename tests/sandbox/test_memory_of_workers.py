"""What is measured of a worker's memory from outside, for root and for an ordinary user."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support import ROOT

from grader.model.messages import Level
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer

pytestmark = pytest.mark.sandbox

MEASURE = """
import os, sys, tempfile
from contextlib import closing
from pathlib import Path
from grader.connection.connection import Connection
from grader.worker_process.fork import ForkStarter
from grader.connection.student import Student
from grader.model import Limits
from grader.model.endings import WorkerLost
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.sandbox import clock

PEAK = b"x = bytearray(300 << 20)\\ndel x\\ndef main(): pass\\n"
MANY = b'''
import os, time
def main():
    for _ in range(6):
        if os.fork() == 0:
            kept = bytearray(b"x") * (200 << 20)
            time.sleep(60)
            os._exit(0)
    os.wait()
    os._exit(1)
'''

def measure(folder):
    with closing(WorkerServer(SandboxPlan())) as server:
        server.wait_ready()
        with closing(ForkStarter(server.open_lane(0), Path(folder))) as starter:
            starter._groups = None  # no control group caps anything
            connection = Connection(starter, "honest", {"honest.py": PEAK}, Limits())
            with closing(connection):
                Student(connection).main()
                worker = connection.live_worker()
                before = clock.memory(worker.pid).peak
                worker.reset_peak()
                print(before - clock.memory(worker.pid).peak > 200 << 20)
            limits = Limits(memory_mb=256, processes=8, call_s=40)
            connection = Connection(starter, "honest", {"honest.py": MANY}, limits)
            with closing(connection):
                try:
                    Student(connection).main()
                except WorkerLost as lost:
                    print(lost)
"""

AS_NOBODY = """
from attacking.nobody import become_nobody
become_nobody([sys.prefix, sys.base_prefix, sys.argv[1]])
os.environ["HOME"] = "/tmp"
"""


@pytest.mark.parametrize("as_nobody", [False, True], ids=["this user", "an ordinary user"])
def test_memory_is_measured_from_outside(as_nobody: bool) -> None:
    """The peak begins anew before a call, and processes of one worker are counted together where no group does it."""
    if sys.platform != "linux":
        pytest.skip("workers are forked on Linux alone")
    if as_nobody and os.getuid() != 0:
        pytest.skip("this is an ordinary user already")
    server = WorkerServer(SandboxPlan())
    level = server.wait_ready().level
    server.close()
    if level is not Level.FULL:
        pytest.skip("without namespaces a worker starts no process")
    program = MEASURE + (AS_NOBODY if as_nobody else "") + "with tempfile.TemporaryDirectory() as t: measure(t)\n"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    ran = subprocess.run(
        [sys.executable, "-c", program, str(ROOT)], env=env, cwd="/", capture_output=True, text=True, check=False
    )
    assert ran.stdout.splitlines()[0:1] == ["True"], ran.stderr
    assert "used more than 256 MB of memory" in ran.stdout
