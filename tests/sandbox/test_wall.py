"""The wall: each level keeps its promises, honest code still runs behind it, and nothing falls open."""

from __future__ import annotations

import json
import platform
import shutil
import struct
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from sandbox.filters import build, files
from support import COURSES, RIGHT

from grader.connection.connection import Connection
from grader.connection.starting import ForkStarter
from grader.connection.student import Student
from grader.model import Limits, Verdict
from grader.model.endings import WorkerLost
from grader.model.errors import ConfinementError
from grader.model.messages import Level
from grader.runner.confinement import PROMISES, SandboxPlan, findings, reached
from grader.runner.source import FreshInterpreters, WorkerServer
from grader.sandbox import cgroup, landlock, seccomp

WALLS = (Level.REDUCED, Level.FULL)

Call = Callable[..., Any]


class Place:
    """A worker server at one level, and short ways to run a text in a worker of its."""

    def __init__(self, level: Level, folder: Path) -> None:
        self.server = WorkerServer(SandboxPlan(most=level))
        self.reached = self.server.wait_ready()
        self.starter = ForkStarter(self.server.open_lane(0), folder, cgroup.find() if level is Level.FULL else None)

    def connect(self, text: str, **limits: Any) -> Connection:
        files = {"honest.py": textwrap.dedent(text).encode()}
        return Connection(self.starter, "honest", files, Limits(**limits))

    def run(self, text: str, **limits: Any) -> Any:
        """What `main()` of the text returns."""
        connection = self.connect(text, **limits)
        try:
            return Student(connection).main()
        finally:
            connection.close()

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


@pytest.mark.parametrize("level", Level)
def test_each_level_keeps_its_promises(places: Callable[[Level], Place], level: Level) -> None:
    """Probes in a throw-away worker find what the level promises."""
    broken = {row.name: row.why_not for row in places(level).reached.findings if row.why_not}
    assert not {name for name in broken if promise(name).level <= level}
    if level is Level.NONE:  # the probes can find fault
        assert {"read_files", "write_files", "change_packages", "network", "signals", "execute", "processes"} <= set(
            broken
        )
    if level is Level.REDUCED:
        assert set(broken) == {"see_files", "see_processes", "disk"}


def promise(name: str) -> Any:
    return next(promise for promise in PROMISES if promise.name == name)


def test_a_level_needs_all_promises_below_it() -> None:
    """One promise broken is one level less; a probe that says nothing has shown nothing."""
    kept = {promise.name: "" for promise in PROMISES}
    assert reached(findings(kept)) is Level.FULL
    assert reached(findings(kept | {"disk": "it is as large as the disk"})) is Level.REDUCED
    assert reached(findings(kept | {"network": "there is a route"})) is Level.NONE
    assert reached(findings({})) is Level.NONE


def test_fresh_interpreters_are_refused_where_a_level_is_wanted() -> None:
    """They have no sandbox, and nothing is run in them where one is wanted."""
    source = FreshInterpreters(SandboxPlan())
    assert source.wait_ready().level is Level.NONE
    for level in WALLS:
        with pytest.raises(ConfinementError, match=f"level none only, but {level.word} is required"):
            FreshInterpreters(SandboxPlan(least=level))


# -- honest code --------------------------------------------------------------------------------------------------

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
    "parallel operations": """
        torch.set_num_threads(2)
        return bool((torch.ones(600, 600) @ torch.ones(600, 600) == 600).all())""",
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


RANKS = """
    import os, torch, torch.distributed as dist

    def rank(number, count, pipe):
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
        dist.init_process_group("gloo", rank=number, world_size=count)
        x = torch.tensor([float(number)])
        dist.all_reduce(x)
        os.write(pipe, b"%d " % int(x.item()))
        dist.destroy_process_group()

    def main():
        read, write = os.pipe()
        pids = []
        for number in range(3):
            pid = os.fork()
            if pid == 0:
                try:
                    rank(number, 3, write)
                finally:
                    os._exit(0)
            pids.append(pid)
        for pid in pids:
            os.waitpid(pid, 0)
        os.close(write)
        return os.read(read, 100).decode()
"""


def test_ranks_of_gloo_inside_one_worker(places: Callable[[Level], Place]) -> None:
    """Where an exercise allows processes, several ranks talk over the worker's own loopback device."""
    assert places(Level.FULL).run(RANKS, processes=4).split() == ["3", "3", "3"]


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
    """A namespace set serves several workers. Each has empty folders, and none has a socket to be remembered by."""
    place = places(Level.FULL)
    clean = place.run(LEAVES)
    assert clean[0][1:] == [["shm", "tmp", "work"], [], []]
    assert clean[1] == "PermissionError"
    assert [place.run(LEAVES) for _ in range(6)] == [clean] * 6


@pytest.mark.parametrize("level", WALLS)
def test_a_process_is_refused_as_an_exception(places: Callable[[Level], Place], level: Level) -> None:
    """Where it does not, starting one raises what the system raises, and the worker lives on."""
    text = """
        import os, subprocess
        def main():
            said = []
            for start in (os.fork, lambda: subprocess.run(["true"])):
                try:
                    start()
                except OSError as error:
                    said.append(type(error).__name__)
            return said
    """
    assert places(level).run(text) == ["BlockingIOError", "BlockingIOError"]


# -- how a worker ends is seen from outside -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("os.abort()", "SIGABRT"),
        ("ctypes.string_at(0)", "SIGSEGV"),
        ("os._exit(0)", "exit status 0"),
        ("os._exit(7)", "exit status 7"),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); ctypes.CDLL(None).abort()", "SIGABRT"),
    ],
)
@pytest.mark.parametrize("level", WALLS)
def test_an_end_is_told_as_what_it_was(places: Callable[[Level], Place], level: Level, body: str, told: str) -> None:
    """The exit status of a worker is known although it lives in namespaces of its own."""
    connection = places(level).connect(f"import ctypes, os, signal\ndef main():\n    {body}\n")
    with pytest.raises(WorkerLost, match=told) as caught:
        Student(connection).main()
    assert caught.value.verdict is Verdict.CRASHED
    connection.close()


@pytest.mark.parametrize("level", [Level.NONE, Level.FULL])
def test_used_up_cpu_time_is_told_as_that(places: Callable[[Level], Place], level: Level) -> None:
    """A worker that the kernel ended for its CPU time did not crash, although its clock is gone with it."""
    connection = places(level).connect("def main():\n    while True:\n        pass\n", call_s=60, exercise_s=2)
    with pytest.raises(WorkerLost, match="used up the CPU time of the whole exercise") as caught:
        Student(connection).main()
    assert caught.value.verdict is Verdict.TIMED_OUT
    connection.close()


def test_a_kill_is_no_lack_of_cpu_time(places: Callable[[Level], Place]) -> None:
    """The same signal, from itself, is a crash while there is CPU time left."""
    connection = places(Level.NONE).connect("import os\ndef main():\n    os.kill(os.getpid(), 9)\n", exercise_s=20)
    with pytest.raises(WorkerLost, match="SIGKILL") as caught:
        Student(connection).main()
    assert caught.value.verdict is Verdict.CRASHED
    connection.close()


# -- nothing falls open -------------------------------------------------------------------------------------------


def test_a_layer_that_fails_stops_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that cannot be confined never loads the submission, and that costs the student nothing."""
    package = Path(shutil.copytree(Path(seccomp.__file__).parents[1], tmp_path / "grader"))
    name = f"alone.{platform.machine()}.bpf"
    (package / "sandbox" / "filters" / name).write_bytes(b"\xff" * 16)  # no instructions that the kernel takes
    monkeypatch.setattr("grader.sandbox.process._PACKAGE", package)
    server = WorkerServer(SandboxPlan())
    try:
        assert server.wait_ready().level is Level.NONE  # no probe could answer
        starter = ForkStarter(server.open_lane(0), tmp_path)
        touched = tmp_path / "touched"
        connection = Connection(starter, "a", {"a.py": f"open({str(touched)!r}, 'w')\n".encode()}, Limits())
        with pytest.raises(WorkerLost, match="before it was confined") as caught:
            connection.names()
        assert caught.value.verdict is Verdict.BROKEN
        assert not touched.exists()
        starter.close()
    finally:
        server.close()


def refuse(*numbers: int) -> bytes:
    """A filter that refuses these system calls with EPERM, as container runtimes do."""
    rows = [(0x20, 0, 0, 0)]
    rows += [(0x15, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    rows += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]
    return b"".join(struct.pack("HBBI", *row) for row in rows)


UNSHARE = {"x86_64": 272, "aarch64": 97}
LANDLOCK = 444


def grade_in_a_container(folder: Path, *arguments: str, also: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the command where namespaces are refused, as Docker's default profile does."""
    program = refuse(UNSHARE[platform.machine()], *also)
    code = f"""
import os, sys
from grader.sandbox import kernel
kernel.forbid_new_privileges()
kernel.filter_system_calls({program!r})
os.execv(sys.executable, [sys.executable, "-m", "grader", *{arguments!r}])
"""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=200, check=False
    )


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    author = tmp_path / "in" / "ada"
    author.mkdir(parents=True)
    (author / "double.py").write_text(RIGHT)
    return tmp_path / "in"


def test_a_batch_refuses_less_than_full(submissions: Path, tmp_path: Path) -> None:
    """Where there are no namespaces, a batch stops with the reason and the remedy, and nothing is run or written."""
    out = tmp_path / "out"
    ran = grade_in_a_container(COURSES / "tiny", "batch", str(submissions), "--out", str(out))
    assert ran.returncode == 2
    assert "this machine can confine student code at level reduced only, but full is required" in ran.stderr
    assert "unshare: EPERM" in ran.stderr
    assert "what to do: let processes make user namespaces" in ran.stderr
    assert not list(out.glob("reports/*"))


def test_less_can_be_asked_for_and_is_told(submissions: Path, tmp_path: Path) -> None:
    """`--confinement reduced` grades there, and every report says how student code was confined."""
    out = tmp_path / "out"
    arguments = ("batch", str(submissions), "--out", str(out), "--confinement", "reduced")
    ran = grade_in_a_container(COURSES / "tiny", *arguments)
    assert ran.returncode == 0, ran.stderr
    report = json.loads((out / "reports" / "ada.json").read_text())
    assert report["environment"]["confinement"] == "reduced"
    assert [row["score"]["earned"] for row in report["exercises"] if row["id"] == "double"] == [10]


def test_without_landlock_too(submissions: Path, tmp_path: Path) -> None:
    """Where files cannot be hidden at all, a batch refuses `reduced` as well; a student's own `grade` goes on."""
    arguments = ("batch", str(submissions), "--out", str(tmp_path / "out"), "--confinement", "reduced")
    ran = grade_in_a_container(COURSES / "tiny", *arguments, also=(LANDLOCK,))
    assert ran.returncode == 2
    assert "boot a kernel of version 5.13 or later with Landlock" in ran.stderr
    own = grade_in_a_container(COURSES / "tiny", "double", "--submission", str(submissions / "ada"), also=(LANDLOCK,))
    assert "10 / 10 points" in own.stdout, own.stderr


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


HUGE_PAGES = """
    def main():
        with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
            return file.read()
"""


def test_the_c_library_learns_of_huge_pages(places: Callable[[Level], Place]) -> None:
    """Behind the wall the file that it asks says what it says outside; there are forks that cost less for it."""
    outside = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not outside.exists():
        pytest.skip("this kernel has no huge pages")
    assert places(Level.FULL).run(HUGE_PAGES) == outside.read_text()


@pytest.mark.parametrize("level", Level)
def test_a_worker_takes_small_pages(places: Callable[[Level], Place], level: Level) -> None:
    """What it has inherited may lie in huge ones; it gets no more, as one may take long to be had."""
    worker = places(level).starter.start_worker(Limits())
    rows = Path(f"/proc/{worker.pid}/status").read_text().splitlines()
    worker.close()
    assert "THP_enabled:\t1" not in rows
