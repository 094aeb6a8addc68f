"""The wall: each level keeps its promises, honest code still runs behind it, and nothing falls open."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch
from sandbox.filters import build, files

from grader.connection.connection import Connection
from grader.connection.student import Student
from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.model.errors import ConfinementError
from grader.model.messages import Level
from grader.runner.fresh_interpreters import FreshInterpreters
from grader.runner.promises import PROMISES, SandboxPlan, highest_level, promises_with_findings
from grader.runner.worker_server import WorkerServer
from grader.sandbox import cgroup, landlock, seccomp
from grader.worker_process.fork import ForkStarter

pytestmark = pytest.mark.sandbox

WALLS = (Level.REDUCED, Level.FULL)

Call = Callable[..., Any]


class Place:
    """A worker server at one level, and a short way to run a text in a worker of its."""

    def __init__(self, level: Level, folder: Path) -> None:
        self.server = WorkerServer(SandboxPlan(most=level))
        self.reached = self.server.wait_ready()
        self.starter = ForkStarter(self.server.open_lane(0), folder, cgroup.find() if level is Level.FULL else None)

    def run(self, text: str, **limits: Any) -> Any:
        """What `main()` of the text returns."""
        files = {"honest.py": textwrap.dedent(text).encode()}
        with closing(Connection(self.starter, "honest", files, Limits(**limits))) as connection:
            return Student(connection).main()

    def close(self) -> None:
        self.starter.close()
        self.server.close()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Level], Place]]:
    made: dict[Level, Place] = {}

    def place(level: Level) -> Place:
        if level not in made:
            made[level] = Place(level, tmp_path_factory.mktemp(level.word))
        if made[level].reached.level is not level:
            pytest.skip(f"this machine reaches {made[level].reached.level.word}: {made[level].reached.missing(level)}")
        return made[level]

    yield place
    for item in made.values():
        item.close()


# -- what each level promises -------------------------------------------------------------------------------------


CAN_BE_BROKEN = {row.name for row in PROMISES if row.level > Level.NONE} - {"change_packages", "odd_sockets"}
"""What an ordinary process can do. The rest only root can, or where a kernel has the sockets."""


@pytest.mark.parametrize("level", Level)
def test_each_level_keeps_its_promises(places: Callable[[Level], Place], level: Level) -> None:
    """Probes in a throw-away worker find what the level promises."""
    broken = {row.name for row in places(level).reached.findings if row.why_not and row.level > level}
    assert broken == {row.name for row in places(level).reached.findings if row.why_not}
    if level is Level.NONE:  # the probes can find fault
        assert broken == CAN_BE_BROKEN | ({"change_packages", "odd_sockets"} & broken), broken
    if level is Level.REDUCED:
        assert broken == {"see_files", "see_processes", "disk"}


def test_a_level_needs_all_promises_below_it() -> None:
    """One promise broken is one level less; a probe that says nothing has shown nothing."""
    kept = {promise.name: "" for promise in PROMISES}
    assert highest_level(promises_with_findings(kept)) is Level.FULL
    assert highest_level(promises_with_findings(kept | {"disk": "it is as large as the disk"})) is Level.REDUCED
    assert highest_level(promises_with_findings(kept | {"network": "there is a route"})) is Level.NONE
    assert highest_level(promises_with_findings({})) is Level.NONE


def test_fresh_interpreters_are_refused_where_a_level_is_wanted() -> None:
    """They have no sandbox, and nothing is run in them where one is wanted."""
    source = FreshInterpreters(SandboxPlan())
    assert source.wait_ready().level is Level.NONE
    for level in WALLS:
        with pytest.raises(ConfinementError, match=f"level none only, but {level.word} is required"):
            FreshInterpreters(SandboxPlan(least=level))


# -- honest code --------------------------------------------------------------------------------------------------

HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"  # read by the C library; some forks cost less for it
HUGE_PAGES_HERE = Path(HUGE_PAGES).read_text() if Path(HUGE_PAGES).exists() else ""

HONEST = {
    "lazy imports": "import sqlite3, asyncio, unittest, zoneinfo, http.client, numpy.testing\nreturn True",
    "threads": """
        import threading
        ran = []
        work = lambda: ran.append(torch.ones(50, 50) @ torch.ones(50, 50))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        return len(ran) == 8""",
    "save and load": """
        torch.save({"a": torch.arange(3)}, "kept.pt")
        return bool(torch.equal(torch.load("kept.pt")["a"], torch.arange(3)))""",
    "temporary files": """
        import tempfile
        with tempfile.TemporaryDirectory() as folder, open(folder + "/a", "w+") as file:
            return file.write("text") == 4""",
    "memory maps": """
        import numpy as np
        np.memmap("map.bin", dtype="f4", mode="w+", shape=(10,))[:] = 1
        return torch.from_file("map.bin", size=10).sum().item() == 10""",
    "files read by mapping": """
        import mmap, numpy as np, os
        torch.save(torch.arange(3), "kept.pt")
        np.save("kept.npy", np.arange(3))
        with open("kept.npy", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
            pages.madvise(mmap.MADV_WILLNEED)
            pages.madvise(mmap.MADV_DONTNEED)
            some = bytearray(6)
            read = os.preadv(file.fileno(), [some], 0)
        loaded = torch.load("kept.pt", mmap=True).tolist(), np.load("kept.npy", mmap_mode="r").tolist()
        return loaded == ([0, 1, 2], [0, 1, 2]) and (read, bytes(some)) == (6, b"\\x93NUMPY")""",
    "autograd": """
        w = torch.ones(5, requires_grad=True)
        (w * 2).sum().backward()
        return bool((w.grad == 2).all())""",
    "benchmark": """
        import torch.utils.benchmark as benchmark
        return benchmark.Timer("x + x", globals={"x": torch.ones(3)}).timeit(5).mean > 0""",
    "data loader": """
        from torch.utils.data import DataLoader, TensorDataset
        return len(list(DataLoader(TensorDataset(torch.ones(10)), batch_size=2))) == 5""",
    "who am i": """
        import getpass, os
        return (getpass.getuser(), os.path.expanduser("~") == os.getcwd()) != ("", False)""",
    "random numbers": "import os, secrets\nreturn len(os.urandom(4)) == 4 and len(secrets.token_hex(2)) == 4",
    "processes that are refused": """
        import os, subprocess
        said = []
        for start in (os.fork, lambda: subprocess.run(["true"])):
            try:
                start()
            except BlockingIOError as error:
                said.append(error)
        return len(said) == 2""",
    "huge pages": f"""
        return not {HUGE_PAGES_HERE!r} or open({HUGE_PAGES!r}).read() == {HUGE_PAGES_HERE!r}""",
    "instructions": "return torch.backends.cpu.get_cpu_capability() == EXPECTED",
}


ALL_OF_THEM = """
def main():
    told = {}
    for name, run in WAYS.items():
        try:
            told[name] = run()
        except BaseException as error:
            told[name] = f"{type(error).__name__}: {error}"
    return told
"""


def honest_text() -> str:
    """A module that does all of it, one after the other."""
    text = "import torch\nWAYS = {}\n"
    for number, (name, body) in enumerate(HONEST.items()):
        body = textwrap.dedent(body).strip().replace("EXPECTED", repr(torch.backends.cpu.get_cpu_capability()))
        text += f"def way_{number}():\n{textwrap.indent(body, '    ')}\nWAYS[{name!r}] = way_{number}\n"
    return text + ALL_OF_THEM


@pytest.mark.parametrize("level", WALLS)
def test_honest_code_runs(places: Callable[[Level], Place], level: Level) -> None:
    """What an honest submission may do works behind the wall."""
    assert places(level).run(honest_text()) == dict.fromkeys(HONEST, True)


LEAVES = """
    import os, socket, threading, time

    def look():
        return [sorted(os.listdir(folder)) for folder in (".", "..", "../tmp", "/dev/shm")]

    def main():
        seen = look()
        for folder in (".", "../tmp", "/dev/shm"):
            os.makedirs(f"{folder}/deep/er")
            with open(f"{folder}/left", "w") as file:
                file.write("left by another author")
            os.chmod(f"{folder}/deep", 0)
        threading.Thread(target=time.sleep, args=(60,)).start()
        try:
            socket.socket().bind(("127.0.0.1", 4321))
        except OSError as error:
            return [seen, type(error).__name__]
        return [seen, "a socket"]
"""


def test_nothing_of_a_worker_is_left_for_the_next(places: Callable[[Level], Place]) -> None:
    """Each worker has empty folders of its own, and none has a socket."""
    place = places(Level.FULL)
    clean = place.run(LEAVES)
    assert clean[0][1:] == [["shm", "tmp", "work"], [], []]
    assert clean[1] == "PermissionError"
    assert [place.run(LEAVES) for _ in range(6)] == [clean] * 6


# -- how a worker ends is seen from outside -----------------------------------------------------------------------


ENDS = {
    "os.abort()": "SIGABRT",
    "ctypes.string_at(0)": "SIGSEGV",
    "os._exit(0)": "exit status 0",
    "os._exit(7)": "exit status 7",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); ctypes.CDLL(None).abort()": "SIGABRT",
    "os.kill(os.getpid(), 9)": "SIGKILL",  # as the kernel does when CPU time is used up; a wall refuses it
}


@pytest.mark.parametrize("body", ENDS)
@pytest.mark.parametrize("level", WALLS)
def test_an_end_is_reported_as_what_it_was(places: Callable[[Level], Place], level: Level, body: str) -> None:
    """The exit status of a worker is known although it lives in namespaces of its own."""
    with pytest.raises(WorkerLost, match=ENDS[body]) as caught:
        places(Level.NONE if "os.kill" in body else level).run(
            f"import ctypes, os, signal\ndef main():\n    {body}\n", exercise_s=20
        )
    assert caught.value.verdict is Verdict.CRASHED


@pytest.mark.parametrize("level", WALLS)
def test_an_abort_is_reported_where_processes_are_allowed(places: Callable[[Level], Place], level: Level) -> None:
    """A worker with namespaces of its own is not process 1 of them, which would not get the signal of an abort."""
    with pytest.raises(WorkerLost, match="SIGABRT"):
        places(level).run("import os\ndef main():\n    os.abort()\n", exercise_s=20, processes=4)


NEIGHBOURS = """
    import os, time

    def main():
        here = []
        for pid in {*range(1, 60), os.getpid() - 1, os.getpid() + 1} - {os.getpid()}:
            for call in (os.getpgid, os.getsid, os.sched_getaffinity, os.sched_getscheduler, clock, signal):
                try:
                    call(pid)
                    here.append((call.__name__, pid))
                except ProcessLookupError:
                    here.append((call.__name__, "tells that there is none"))
                except OSError:
                    pass
        return here

    def clock(pid):
        time.clock_gettime((~pid << 3) | 2)

    def signal(pid):
        os.kill(pid, 0)
"""


def test_workers_do_not_see_each_other(places: Callable[[Level], Place]) -> None:
    """Workers that share a process namespace learn of no number in it whether it is a process, and signal nobody."""
    assert places(Level.FULL).run(NEIGHBOURS) == []


@pytest.mark.parametrize("level", [Level.NONE, Level.FULL])
def test_used_up_cpu_time_is_reported_as_that(places: Callable[[Level], Place], level: Level) -> None:
    """A worker that the kernel ended for its CPU time did not crash, although its clock is gone with it."""
    with pytest.raises(WorkerLost, match="used up the CPU time of the whole exercise") as caught:
        places(level).run("def main():\n    while True:\n        pass\n", call_s=60, exercise_s=1)
    assert caught.value.verdict is Verdict.TIMED_OUT


# -- while another is timed ---------------------------------------------------------------------------------------

WAKES_ITSELF = """
    import ctypes, signal, threading

    class Event(ctypes.Structure):
        _fields_ = (("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int),
                    ("pad", ctypes.c_byte * 48))

    def work():
        while True:
            pass

    def main():
        signal.signal(signal.SIGCONT, lambda *_: None)  # a timer whose signal is ignored rests
        libc, made = ctypes.CDLL(None), set()
        for ms in (1, 7, 13, 50, 200):  # whichever is just due when the worker is stopped rests, too
            event, timer = Event(signal=signal.SIGCONT), ctypes.c_void_p()
            made.add(libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer)))
            libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, ms * 1_000_000, 0, ms * 1_000_000), None)
        threading.Thread(target=work, daemon=True).start()
        return made
"""


@pytest.mark.parametrize(("level", "lives"), [(Level.NONE, False), (Level.FULL, True)])
def test_who_runs_while_others_are_timed_is_ended(places: Callable[[Level], Place], level: Level, lives: bool) -> None:
    """A timer that would wake a worker up cannot be had; where there is no filter, the worker is ended for it."""
    place = places(level)
    files = {"wakes.py": textwrap.dedent(WAKES_ITSELF).encode()}
    with closing(Connection(place.starter, "wakes", files, Limits(exercise_s=60))) as connection:
        assert Student(connection).main() == ({-1} if lives else {0})
        worker = connection.live_worker()
        place.starter.students = {worker}
        try:
            with place.starter.pause_others(None):
                before = time.monotonic()
                while time.monotonic() < before + 1:  # no less than it takes to be noticed
                    time.sleep(0.05)
        finally:
            place.starter.students = set()
        ended = worker._receive_end(0 if lives else 20)  # type: ignore[attr-defined]
        assert (ended is None) == lives


# -- nothing falls open -------------------------------------------------------------------------------------------


def test_a_layer_that_fails_stops_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that cannot be confined never loads the submission, and that costs the student nothing."""
    package = Path(shutil.copytree(Path(seccomp.__file__).parents[1], tmp_path / "grader"))
    name = f"alone.{platform.machine()}.bpf"
    (package / "sandbox" / "filters" / name).write_bytes(b"\xff" * 16)  # no instructions that the kernel takes
    monkeypatch.setattr("grader.sandbox.process._PACKAGE", str(package))
    touched = tmp_path / "touched"
    files = {"a.py": f"open({str(touched)!r}, 'w')\n".encode()}
    with closing(WorkerServer(SandboxPlan())) as server:
        assert server.wait_ready().level is Level.NONE  # no probe could answer
        starter = ForkStarter(server.open_lane(0), tmp_path)
        with closing(starter), pytest.raises(WorkerLost, match="before it was confined") as caught:
            Connection(starter, "a", files, Limits()).names()
    assert (caught.value.verdict, touched.exists()) == (Verdict.BROKEN, False)


# -- the parts ----------------------------------------------------------------------------------------------------


def test_filters_are_built_from_the_rules() -> None:
    """The filters in the package are what pyseccomp makes of the rules."""
    try:
        import pyseccomp  # noqa: F401
    except (ImportError, RuntimeError):  # the latter where the C library is missing
        pytest.skip("pyseccomp is not usable here")
    for path, what in files().items():
        assert path.read_bytes() == build(*what), f"{path.name}: run python tests/sandbox/filters.py"


def test_landlock_refuses_by_itself(tmp_path: Path) -> None:
    """The rules hold without any other layer, tried with plain system calls: the library under them is young."""
    if not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "file").write_text("text")
    code = f"""
import os, sys
from grader.sandbox import kernel, landlock
kernel.forbid_new_privileges()
landlock.apply(landlock.make_ruleset([sys.prefix, sys.base_prefix, "/usr", "/lib"], [{str(inside)!r}]))
def refused(action):
    try:
        action()
    except PermissionError:
        return True
    return False
print([
    refused(lambda: open({str(inside / "file")!r}, "r+").close()),
    refused(lambda: os.mkdir({str(inside / "new")!r})),
    refused(lambda: open({str(outside / "file")!r}).close()),
    refused(lambda: os.listdir({str(outside)!r})),
    refused(lambda: os.truncate({str(outside / "file")!r}, 0)),
    refused(lambda: os.unlink({str(outside / "file")!r})),
    refused(lambda: os.symlink("a", {str(outside / "link")!r})),
    refused(lambda: os.kill(os.getppid(), 0)),
    refused(lambda: os.execv("/bin/true", ["true"])),
])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str([False, False] + [True] * 7), ran.stderr


@pytest.mark.parametrize("level", Level)
def test_a_worker_takes_small_pages(places: Callable[[Level], Place], level: Level) -> None:
    """What it has inherited may lie in huge ones; it gets no more, as one may take long to be had."""
    worker = places(level).starter.start_worker(Limits())
    rows = Path(f"/proc/{worker.pid}/status").read_text().splitlines()
    worker.close()
    assert "THP_enabled:\t1" not in rows
