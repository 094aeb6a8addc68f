"""After a command of a student, processes stay warm for the next, which has the same verdicts."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from support import RIGHT, TOTAL, WarmGrade, written

import grader
from grader.cli import doctor
from grader.grading.runtime import Processes, Runtime
from grader.runner import warm, warm_socket
from grader.runner.warm import LEAST_MB, WarmSocket, why_not_warm
from grader.runner.warm_socket import SWITCH
from grader.runner.zygote_client import WarmZygote, Zygote
from grader.sandbox import fork_messages
from grader.sandbox.datagrams import to_text
from grader.sandbox.process import bind_in
from grader.sandbox.trees import receive_tree, send_tree

pytestmark = pytest.mark.lane

GRADE = f"{shlex.quote(sys.executable)} -m grader"
LOOK = """
import time
from grader.runner.warm import warm_processes
latest = time.monotonic() + 60
while len(found := list(warm_processes())) < 2 and time.monotonic() < latest:  # one may still import
    time.sleep(0.1)
print('pids', *(pid for kind in found for pid in kind.pids))
"""
PIDS = shlex.join([sys.executable, "-c", LOOK])
DOUBLE = "exercises/01_basics/double/double.py"
CHECKS = "exercises/01_basics/double/check_double.py"
WRONG = "def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    return x * 2\n"


@pytest.fixture
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Processes may stay, at a place of this test alone."""
    if sys.platform != "linux":
        pytest.skip("processes stay on Linux alone")
    place = tmp_path / "run"
    place.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    monkeypatch.delenv(SWITCH, raising=False)
    # These tests may be a session of their own, or have begun outside of this container.
    monkeypatch.setattr(os, "getsid", lambda _: os.getppid())
    return place


def typed(cwd: Path, *commands: str) -> str:
    """What commands print that are typed one after another in one session, which ends with the last."""
    command = ["sh", "-c", "\n".join(commands)]
    return subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, text=True, start_new_session=True, check=False
    ).stdout


def report(path: Path) -> Any:
    """A report without what each run has of its own."""
    text = re.sub(r'"(seconds|graded_at)": [^,}]*', r'"\1": 0', path.read_text())
    return json.loads(text)


def gone(pids: set[int]) -> bool:
    """Whether these processes end, sooner or later."""
    latest = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < latest:
        time.sleep(0.05)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def answers(place: WarmSocket) -> bool:
    """Whether somebody answers there, sooner or later: PyTorch may still be imported."""
    latest = time.monotonic() + 120
    while time.monotonic() < latest:
        with suppress(TimeoutError):
            called = place.connect()
            if called is not None:
                called.close()
            return called is not None
    return False


def test_verdicts_are_the_same_warm_and_cold(own_place: Path, home: Path) -> None:
    """So are messages and points; changed checks are read; they end with the session, or when they are told to."""
    written(home, {DOUBLE: WRONG, "exercises/01_basics/total/total.py": TOTAL})
    renamed = f"sed -i 's/by small numbers/by other numbers/; s/def check_small/def check_other/' {CHECKS}"
    lines = typed(
        home,
        f"{SWITCH}=0 {GRADE} --json cold.json > /dev/null",
        f"{GRADE} --json first.json > /dev/null; {PIDS}",
        f"{GRADE} --json warm.json > /dev/null; {PIDS}",
        f"{renamed}; {GRADE} --json changed.json > /dev/null",
        f"{GRADE} stop; {GRADE} stop; {GRADE} --json after.json > /dev/null; {PIDS}; {GRADE} doctor",
    )
    first, again, after = (set(map(int, row.split())) for row in re.findall(r"^pids (.*)$", lines, re.MULTILINE))
    assert (first, len(first), first & after) == (again, 3, set())
    pair, one = re.search(r"processes (\d+ and \d+) stay for", lines), re.search(r"process (\d+) stays for", lines)
    assert pair
    assert one
    assert {*map(int, pair[1].split(" and ")), int(one[1])} == after
    assert "The background processes were stopped." in lines
    assert "There are no background processes." in lines
    cold, *others = (report(home / f"{name}.json") for name in ("cold", "first", "warm", "after", "changed"))
    assert cold["score"]["earned"] < cold["score"]["possible"]
    assert others[:2] == [cold, cold]
    assert others[2] == others[3]
    ids = [{check["id"] for check in one["exercises"][0]["checks"]} for one in (cold, others[3])]
    assert ids[0] ^ ids[1] == {"small", "other"}
    assert gone(first | after)
    assert not list(own_place.rglob("*.sock"))


def test_who_may_use_them(type_grade: WarmGrade, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a student types in their folder; neither a batch nor a job, nor the grading of somebody else's files."""
    asked: list[bool] = []
    usual = Runtime.processes

    def opened(*, warm: bool, soon: bool) -> Zygote:
        asked.append(warm)
        assert warm or not soon  # a batch forks often enough to prepare for that
        return usual.zygote(warm=False)

    monkeypatch.setattr(Runtime, "processes", Processes(opened, usual.source, usual.lane))
    written(home, {DOUBLE: WRONG})
    written(tmp_path / "class" / "ada", {"double.py": RIGHT})
    one, folder = str(tmp_path / "class" / "ada"), str(tmp_path / "class")
    for words, may in {
        ("double",): True,
        ("double", "--submission", one): False,
        ("ci", "--submission", one, "--course", str(home), "--confinement", "none"): False,
        ("batch", folder, "--out", str(tmp_path / "out"), "--confinement", "none"): False,
    }.items():
        asked.clear()
        type_grade(*words, cwd=home)
        assert set(asked) == {may}, words


@pytest.mark.usefixtures("own_place")
def test_others_are_called_where_anything_is_different(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another environment, umask, installed package, or file of ours: processes of before are not found."""
    (tmp_path / "installed").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    names = {WarmSocket.for_this_process().name}
    assert WarmSocket.for_this_process().name in names
    (tmp_path / "installed" / "package.py").touch()
    names.add(WarmSocket.for_this_process().name)
    monkeypatch.setenv("LC_ALL", "nothing.like.before")
    names.add(WarmSocket.for_this_process().name)
    before = os.umask(0o027)
    try:
        names.add(WarmSocket.for_this_process().name)
    finally:
        os.umask(before)
    ours = shutil.copytree(Path(str(grader.__file__)).parent, tmp_path / "grader")
    monkeypatch.setattr(grader, "__file__", str(ours / "__init__.py"))
    names.add(WarmSocket.for_this_process().name)
    with (ours / "check_process" / "known_errors.txt").open("a") as file:
        file.write("another one\n")
    names.add(WarmSocket.for_this_process().name)
    assert len(names) == 6


def test_without_warm_processes(own_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a small machine, where a variable says so, where no end of a session is seen, where others could open it."""
    with monkeypatch.context() as patch:
        pages = {"SC_PHYS_PAGES": LEAST_MB - 1, "SC_PAGE_SIZE": 1 << 20}
        patch.setattr(os, "sysconf", pages.__getitem__)
        assert f"has {LEAST_MB - 1} MB of memory" in why_not_warm()
    with monkeypatch.context() as patch:
        patch.setenv(SWITCH, "0")
        assert SWITCH in why_not_warm()
    for leader, words in {0: "outside of this container", os.getpid(): "a session of its own"}.items():
        with monkeypatch.context() as patch:
            patch.setattr(os, "getsid", lambda _, leader=leader: leader)
            assert words in why_not_warm()
    folder = own_place / "tensorgrade"
    folder.mkdir()
    folder.chmod(0o755)
    assert "is not a folder that only you can open" in why_not_warm()
    folder.rmdir()
    folder.symlink_to(own_place)
    assert "is not a folder that only you can open" in why_not_warm()


@pytest.mark.usefixtures("own_place")
def test_a_folder_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full or read-only disk nothing stays, and `grade doctor` says why."""

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert list(doctor._background_process_lines()) == ["no background processes: [Errno 28] No space left on device"]


@pytest.mark.usefixtures("own_place")
def test_who_takes_no_calls_is_not_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was stopped keeps its place; the place of one that was killed is cleared."""
    monkeypatch.setattr(warm_socket, "_ANSWERS_S", 0.1)
    place = WarmSocket.for_this_process()
    path = Path(place.folder, f"{place.name}.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stopped, ExitStack() as calls:
        bind_in(place.folder, path.name, stopped)
        stopped.listen(0)
        with pytest.raises(OSError, match=r"unavailable|timed out"):
            for _ in range(9):
                called = warm_socket.connect(place.folder, path.name)
                assert called is not None
                calls.enter_context(called)
        with pytest.raises(OSError, match=r"unavailable|timed out"):
            warm.stop_all()
        assert path.exists()
    assert warm.stop_all() == 0
    assert not path.exists()


@pytest.mark.usefixtures("own_place")
def test_doctor_names_a_process_of_another_version() -> None:
    """Its answer, which this version cannot read, is not an error."""
    place = WarmSocket.for_this_process()

    def answer(listening: socket.socket) -> None:
        with listening.accept()[0] as called:
            _, (reply,) = receive_tree(called)
            with socket.socket(fileno=reply) as sock:
                send_tree(sock, {"Later": {"numbers": [1]}})

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening, ThreadPoolExecutor() as threads:
        bind_in(place.folder, f"{place.name}.sock", listening)
        listening.listen()
        answered = threads.submit(answer, listening)
        said = list(doctor._background_process_lines())
        answered.result()
    assert said == ["a process of another version of the grader stays;  grade stop  ends it"]


CALL = """
import os, socket, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
sock.settimeout(60)
os.chdir(os.path.dirname(sys.argv[1]))
sock.connect(os.path.basename(sys.argv[1]))
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    socket.send_fds(sock, [sys.argv[2].encode()], [theirs.fileno()])
    print(sock.recv(1))
except ConnectionError:
    print(b"")
"""


def test_another_user_gets_no_answer(own_place: Path) -> None:
    """Not even where folder and socket are open to all."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    place = WarmSocket.for_this_process()
    with closing(WarmZygote(place)):
        path = Path(place.folder, f"{place.name}.sock")
        assert answers(place)  # this user
        for each in (path, *path.parents):
            if Path(tempfile.gettempdir()) in each.parents:
                each.chmod(0o777)
        command = [sys.executable, "-c", CALL, str(path), to_text(fork_messages.Describe())]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        assert (ran.stdout, ran.stderr) == ("b''\n", "")
        Path(place.folder).chmod(0o700)
        warm.stop_all()
