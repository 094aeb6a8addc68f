"""What can workers do here? Probes try it in throw-away workers, started like all others, with targets of the host's.

Each probe gives "" if its promise (see `grader.runner.confinement`) holds, else what was possible, or did not work.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib
import json
import mmap
import os
import select
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from grader.sandbox import kernel
from grader.sandbox.levels import Sandbox
from grader.sandbox.limits import WorkerLimits
from grader.sandbox.messages import TryOut

_LATE_MODULES = ("getpass", "xml.dom.minidom", "torch.utils.benchmark")
_OTHER_FAMILIES = (17, 38, 40)  # AF_PACKET, AF_ALG, AF_VSOCK
_MOST_DISK = 1 << 30
_DAEMON_S = 4.0
_DAEMON_WAIT_S = 0.5
_PROBES_S = 60.0
_CPU_S = 30
_LEFT = b"left"
_FILE_MB = 16

_PR_GET_SECCOMP = 21
_PR_GET_NO_NEW_PRIVS = 39
_PTRACE_SEIZE = 0x4206


_Attempts = Iterator[tuple[str, Callable[[], object]]]


class _Probes:
    """Each public method is a probe, by the name of its promise.

    It returns what is wrong, or ""; or it yields attempts that must fail, each with what is wrong if it does not.
    """

    def __init__(self, targets: TryOut) -> None:
        self._targets = targets

    def imports(self) -> str:
        for name in _LATE_MODULES:
            importlib.import_module(name)
        return ""

    def private_folder(self) -> str:
        # Honest code must still work. A sandbox that stops it is no better than one with a hole.
        for folder in (".", tempfile.gettempdir()):
            path = Path(folder, "probe.txt")
            path.write_text("written", encoding="ascii")
            path.rename(path.with_suffix(".moved")).unlink()
        return ""

    def threads(self) -> str:
        done = threading.Event()
        threading.Thread(target=done.set).start()
        if not done.wait(5):
            return "a thread did not run"
        # By name: this package does not import torch, and the worker has it already.
        torch = importlib.import_module("torch")
        before = torch.get_num_threads()
        torch.set_num_threads(2)
        total = (torch.ones(300, 300) @ torch.ones(300, 300)).sum().item()
        torch.set_num_threads(before)
        return "" if total == 300**3 else "a parallel operation gave a wrong value"

    def memory(self) -> _Attempts:
        yield "more memory than allowed could be had", partial(mmap.mmap, -1, (self._targets.memory_mb + 64) << 20)

    def read_files(self) -> _Attempts:
        yield "a folder could be listed", partial(os.listdir, self._targets.folder)
        yield "a file could be read", Path(self._targets.file).read_bytes

    def see_files(self) -> _Attempts:
        yield "a file could be seen", partial(os.lstat, self._targets.file)

    def write_files(self) -> _Attempts:
        yield "a file could be made", Path(self._targets.folder, "written").touch
        yield "a file could be opened for writing", partial(open, self._targets.file, "ab")

    def change_packages(self) -> _Attempts:
        for module in ("os", "torch", "grader.sandbox"):
            origin = Path(str(sys.modules[module].__file__))
            as_before = (origin.stat().st_atime_ns, origin.stat().st_mtime_ns)
            yield f"{module} could be opened for writing", partial(open, origin, "r+b")
            yield f"the times of {module} could be changed", partial(os.utime, origin, ns=as_before)
            yield f"a file could be made beside {module}", partial(tempfile.NamedTemporaryFile, dir=origin.parent)

    def network(self) -> _Attempts:
        local = ("127.0.0.1", self._targets.port)
        yield "a port of the machine could be reached", partial(socket.create_connection, local, timeout=1)
        # Connecting a datagram socket sends nothing. It asks the kernel for a route, which there must not be.
        for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):  # of no machine
            yield "there is a route to other machines", partial(_connect, family, (address, 9))

    def unix_sockets(self) -> _Attempts:
        where = "\0" + self._targets.abstract
        yield "an abstract Unix socket could be reached", partial(_connect, socket.AF_UNIX, where)

    def odd_sockets(self) -> _Attempts:
        for family in _OTHER_FAMILIES:
            for kind in (socket.SOCK_STREAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
                yield f"a socket of family {family} could be made", partial(socket.socket, family, kind)

    def signals(self) -> _Attempts:
        yield "the grader's process could be signalled", partial(os.kill, self._targets.pid, 0)
        if os.getppid() > 1:  # 0 is out of sight
            yield "the parent could be signalled", partial(os.kill, os.getppid(), 0)

    def tracing(self) -> _Attempts:
        pid = self._targets.pid
        yield "the grader's process could be traced", partial(_trace, pid)
        for name in ("environ", "cmdline", "maps"):
            yield f"{name} of the grader's process could be read", Path(f"/proc/{pid}/{name}").read_bytes

    def see_processes(self) -> _Attempts:
        yield "the grader's process could be seen", partial(os.stat, f"/proc/{self._targets.pid}")

    def execute(self) -> str:
        libc = ctypes.CDLL(None, use_errno=True)
        # A path that does not exist: where the call is let through, it fails for that reason and not by the filter.
        libc.execve(b"/nowhere/at/all", None, None)
        number = ctypes.get_errno()
        return "" if number in (errno.EPERM, errno.EACCES) else f"execve is let through ({errno.errorcode[number]})"

    def privileges(self) -> str:
        libc = ctypes.CDLL(None, use_errno=True)
        zeros = [ctypes.c_ulong(0)] * 4
        if libc.prctl(_PR_GET_NO_NEW_PRIVS, *zeros) != 1:
            return "programs can give new privileges"
        if libc.prctl(_PR_GET_SECCOMP, *zeros) != 2:
            return "system calls are not filtered"
        header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        if libc.capget(ctypes.byref(header), ctypes.byref(sets)) != 0 or any(sets):
            return "there are capabilities"
        return ""

    def new_namespaces(self) -> _Attempts:
        yield "a user namespace could be made", partial(kernel.unshare, kernel.CLONE_NEWUSER)

    def ipc(self) -> str:
        libc = ctypes.CDLL(None)
        segment = libc.shmget(0, ctypes.c_size_t(4096), 0o600)
        if segment == -1:
            return ""
        libc.shmctl(segment, 0, None)
        return "shared memory could be made"

    def processes(self) -> str:
        with contextlib.suppress(OSError):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
            return "a process could be started"
        return ""

    def disk(self) -> str:
        status = os.statvfs(".")
        size, files = status.f_frsize * status.f_blocks, status.f_files
        return "" if size <= _MOST_DISK and 0 < files < 100_000 else "it is as large as the disk"


def _connect(family: int, address: tuple[str, int] | str) -> None:
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect(address)


def _trace(pid: int) -> None:
    if ctypes.CDLL(None).ptrace(_PTRACE_SEIZE, pid, None, None) == -1:
        raise OSError("it is refused")


_NAMES = [name for name in vars(_Probes) if not name.startswith("_")]


def try_out(sandbox: Sandbox, wanted: TryOut) -> dict[str, str]:
    """What each probe found, by name; see `grader.runner.confinement`.

    Args:
        sandbox: how workers are confined.
        wanted: what the probes try to reach.
    """
    first, second = wanted.own_folders
    limits = partial(WorkerLimits, _CPU_S, wanted.memory_mb, _FILE_MB)
    try:
        # As for an exercise that allows no process, which is what most of them do.
        said = _in_a_worker(sandbox, first, limits(1), lambda: json.dumps(_try_all(wanted)).encode())
        results: dict[str, str] = json.loads(said) if said else {}
        # With processes allowed, where a sandbox allows any: else no daemon could be left, and the probe would show
        # nothing.
        left = _in_a_worker(sandbox, second, limits(8), _leave_a_daemon, leaves=True)
    except OSError as error:  # the system gave a worker when the sandbox was built, and gives none now
        return dict.fromkeys((*_NAMES, "daemons"), f"no worker could be started to try it: {error}")
    if left is None:
        return {**results, "daemons": "a process stayed"}
    return {**results, "daemons": "" if left == _LEFT else "its probe did not answer"}


def _in_a_worker(
    sandbox: Sandbox, folder: str, limits: WorkerLimits, action: Callable[[], bytes], *, leaves: bool = False
) -> bytes | None:
    """What an action gives in a throw-away worker; None if something of the worker still holds its pipe.

    Args:
        sandbox: confines it.
        folder: an empty one.
        limits: of the worker.
        action: what it does.
        leaves: whether it leaves something behind and goes by itself, as a student's code would.
    """
    read, write = os.pipe()
    pid = sandbox.fork()
    if pid == 0:
        try:
            sandbox.give_up_rights()
            kernel.close_all_but(write)
            sandbox.confine(limits, folder)
            os.write(write, action())
        finally:
            os._exit(0)
    # With our own end open, reading would not end when the worker does.
    os.close(write)
    said = None
    if leaves:
        # Not reaped yet, as in the server: its number could be another's by the time that what it left is ended.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    else:
        said = _read_all(read, _PROBES_S)
    sandbox.end(pid)
    os.waitpid(pid, 0)
    if leaves:
        said = _read_all(read, _DAEMON_WAIT_S)
    os.close(read)
    return said


def _read_all(descriptor: int, seconds: float) -> bytes | None:
    """What comes until the other end is closed everywhere, or None if it is still open after a while."""
    said = b""
    until = time.monotonic() + seconds
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while poll.poll(max(0.0, until - time.monotonic()) * 1000):
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            return said
        said += chunk
    return None


def _try_all(targets: TryOut) -> dict[str, str]:
    """What each probe found, by name."""
    probes, results = _Probes(targets), {}
    for name in _NAMES:
        try:
            answer = getattr(probes, name)()
            results[name] = answer if isinstance(answer, str) else _succeeded(answer)
        except Exception as error:  # in honest code, or the probe is wrong: its promise is not shown to hold
            results[name] = f"{type(error).__name__}: {error}"
    return results


def _succeeded(attempts: _Attempts) -> str:
    """What is wrong with the first attempt that does not fail as the kernel makes it fail; "" if all do."""
    for what, attempt in attempts:
        with contextlib.suppress(OSError, MemoryError):
            attempt()
            return what
    return ""


def _leave_a_daemon() -> bytes:
    """Start a process that leaves the session and lives on for a while, holding every descriptor; see `daemons`."""
    with contextlib.suppress(OSError):
        # Twice forked and in a session of its own, it has no tie to the worker that a signal could follow.
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                os.setsid()
            if os.fork() == 0:
                time.sleep(_DAEMON_S)
            os._exit(0)
    return _LEFT
