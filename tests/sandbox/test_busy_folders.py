"""The wall stands where folders that workers may read change while it is built."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from grader.connection.connection import Connection
from grader.connection.student import Student
from grader.model import Limits
from grader.model.messages import Level
from grader.runner.lane import Lane
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.worker_process.fork import ForkStarter

pytestmark = pytest.mark.sandbox

HONEST = b"def main():\n    import stays\n    return stays.VALUE\n"


@contextmanager
def files_that_come_and_go(folder: Path) -> Iterator[None]:
    """Meanwhile files are made and removed there; none of them is left."""
    files = [folder / f"goes{number}.py" for number in range(200)]
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            for file in files:
                file.touch()
            for file in files:
                file.unlink()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_what_goes_takes_no_wall_along(fork_lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder on the search path with a hidden one in it is shown file by file, and a file may be gone by then."""
    quiet = fork_lane.reached
    if quiet.level is Level.NONE:
        pytest.skip(f"this machine reaches none: {quiet.missing(Level.REDUCED)}")
    busy = tmp_path / "busy"
    (busy / "hidden").mkdir(parents=True)
    (busy / "stays.py").write_text("VALUE = 3\n")
    (tmp_path / "workers").mkdir()
    monkeypatch.syspath_prepend(str(busy))
    with files_that_come_and_go(busy):
        server = WorkerServer(SandboxPlan(hidden=(busy / "hidden",)))
        found = server.wait_ready()
    with closing(server), closing(ForkStarter(server.open_lane(0), tmp_path / "workers")) as starter:
        assert (found.level, found.refused) == (quiet.level, quiet.refused)
        with closing(Connection(starter, "honest", {"honest.py": HONEST}, Limits())) as connection:
            assert Student(connection).main() == 3
