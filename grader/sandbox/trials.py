"""What can workers do here? Probes try it in throw-away workers, started like all others, with targets of the host's.

Each probe gives "" if its promise (see `grader.runner.promises`) holds, else what was possible, or did not work.
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
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from grader.sandbox import kernel
from grader.sandbox.levels import Sandbox
from grader.sandbox.namespace_limits import retry_while_out_of_namespaces
from grader.sandbox.start_messages import TryOut, WorkerLimits

_LATE_MODULES = ("getpass", "xml.dom.minidom")
_LATE_MODULE_OF_TORCH = "torch.utils.file_baton"
_OTHER_FAMILIES = (17, 38, 40)  # AF_PACKET, AF_ALG, AF_VSOCK
_MOST_DISK = 1 << 30
_PROBES_S = 60.0
_DAEMON_S = 15.0
_DAEMON_WAIT_S = 10.0
"""So long a process that was killed may take to go, on a machine where others have all processors; else it stays."""
_PROCESSES = 8
_END_MARK = b"\n"
_GO_MARK = b"."
_CPU_S = 30
_FILE_MB = 16

_PR_GET_SECCOMP = 21
_PR_CAPBSET_DROP = 24
_CAP_SETPCAP = 8
_PR_GET_NO_NEW_PRIVS = 39
_PTRACE_SEIZE = 0x4206


_Attempts = Iterator[tuple[str, Callable[[], object]]]


class _Probes:
    """The probes: each public method is one, by the name of its promise.

    It returns what is wrong, or ""; or it yields attempts that must fail, each with what is wrong if it does not.
    """

    def __init__(self, targets: TryOut, *, starts_processes: bool) -> None:
        self._targets = targets
        self._starts_processes = starts_processes

    def imports(self) -> str:
        for name in (*_LATE_MODULES, *[_LATE_MODULE_OF_TORCH] * _has_torch()):
            importlib.import_module(name)
        return ""

    def private_folder(self) -> str:
        # Honest code must still work. A sandbox that stops it is as bad as one with a hole.
        for folder in (".", tempfile.gettempdir()):
            path = Path(folder, "probe.txt")
            path.write_text("written", encoding="ascii")
            path.rename(path.with_suffix(".moved")).unlink()
        return ""

    def threads(self) -> str:
        """Return "" if this worker can run threads, else why not.

        Threads of PyTorch are tried, too.
        """
        done = threading.Event()
        threading.Thread(target=done.set).start()
        if not done.wait(5):
            return "a thread did not run"
        if not _has_torch():
            return ""
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
        for module in ("os", *["torch"] * _has_torch(), "grader.sandbox"):
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
        name = self._targets.socket
        yield "an abstract Unix socket could be reached", partial(_connect, socket.AF_UNIX, "\0" + name)
        yield "a Unix socket in a folder could be reached", partial(_connect_in, self._targets.folder, name)

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
        if not self._starts_processes:  # else process 1 is its own, and holds its namespaces
            for call in (os.getpgid, os.getsid, os.sched_getaffinity, os.sched_getscheduler, _cpu_clock, _kill):
                yield f"{call.__name__} works on process 1", partial(call, 1)

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
        # Capabilities are not asked for, which a filter refuses: this one is used.
        if libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(_CAP_SETPCAP), *zeros[:3]) == 0:
            return "there are capabilities"
        return ""

    def new_namespaces(self) -> str:
        try:
            kernel.unshare(kernel.CLONE_NEWUSER)
        except OSError as error:
            # A process with threads may not, for another reason than the filter's.
            refused = error.errno in (errno.EPERM, errno.EACCES, errno.ENOSPC)
            return "" if refused else f"unshare is let through ({errno.errorcode[error.errno or 0]})"
        return "a user namespace could be made"

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


def _has_torch() -> bool:
    """Return whether this is a worker with PyTorch."""
    return "torch" in sys.modules


def _connect(family: int, address: tuple[str, int] | str) -> None:
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect(address)


def _connect_in(folder: str, name: str) -> None:
    before = os.getcwd()
    os.chdir(folder)  # the address of a socket has room for few characters
    try:
        _connect(socket.AF_UNIX, name)
    finally:
        os.chdir(before)


def _cpu_clock(pid: int) -> float:
    return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) makes it


def _kill(pid: int) -> None:
    os.kill(pid, 0)


def _trace(pid: int) -> None:
    if ctypes.CDLL(None).ptrace(_PTRACE_SEIZE, pid, None, None) == -1:
        raise OSError("it is refused")


_NAMES = [name for name in vars(_Probes) if not name.startswith("_")]
_DAEMONS = "daemons"
"""A promise that is tried from outside, when the worker has ended."""


def try_out(sandbox: Sandbox, wanted: TryOut) -> dict[str, str]:
    """Try in throw-away workers which promises of the sandbox hold on this machine.

    There is a worker of each kind: one for an exercise that allows no processes, as most do, and one that may start
    processes and open sockets. `grader.runner.promises` lists the promises.

    Args:
        sandbox: the sandbox that confines the workers.
        wanted: the message with the files and processes that the probes try to reach.

    Returns:
        A dict from the name of each promise to why it does not hold, or to "" if it holds, such as
        `{"read_files": "a file could be read", "signals": "", ...}`.
    """
    alone, many = (
        WorkerLimits(_CPU_S, wanted.memory_mb, _FILE_MB, processes=processes) for processes in (1, _PROCESSES)
    )
    allowed = [name for name in _NAMES if name != "processes"]
    folders = wanted.own_folders
    begin_first = partial(
        _start_worker, sandbox, folders[0], alone, lambda: _run_probes(wanted, _NAMES, starts_processes=False)
    )
    begin_second = partial(_start_worker, sandbox, folders[1], many, lambda: _probe_and_leave_daemon(wanted, allowed))
    begun: list[_ThrowAwayWorker] = []
    try:
        begun.append(retry_while_out_of_namespaces(begin_first))
        # The second is made while the first is at work, unless there is no room for both, and goes to work after it:
        # threads of both, on two cores, would wait for each other ten times as long as they work.
        with contextlib.suppress(OSError):
            begun.append(begin_second(waits=True))
        first, _ = _finish_worker(sandbox, begun.pop(0))
        second, left = _finish_worker(sandbox, begun.pop(0) if begun else retry_while_out_of_namespaces(begin_second))
        # A machine short of memory may have killed one, which shows nothing of how workers are confined: once more.
        if not first:
            first, _ = _finish_worker(sandbox, begin_first())
        if not second:
            second, left = _finish_worker(sandbox, begin_second())
    except OSError as error:  # the system gave a worker when the sandbox was built, and gives none now
        for each in begun:
            _finish_worker(sandbox, each)
        return dict.fromkeys((*_NAMES, _DAEMONS), f"no worker could be started to try it: {error}")
    silent = "its probe did not answer"
    found = {name: first.get(name, silent) or second.get(name, silent) for name in allowed}
    daemons = "a process stayed" if left else "" if second else silent
    return found | {"processes": first.get("processes", silent), _DAEMONS: daemons}


class _ThrowAwayWorker(NamedTuple):
    """A throw-away worker, the socket for its answer, and whether it waits until `_GO_MARK` comes from that socket."""

    pid: int
    socket: int
    waits: bool


def _start_worker(
    sandbox: Sandbox, folder: str, limits: WorkerLimits, action: Callable[[], dict[str, str]], *, waits: bool = False
) -> _ThrowAwayWorker:
    """Fork a throw-away worker, confine it, and let it run a function.

    Args:
        sandbox: the sandbox that confines it.
        folder: an empty folder for it.
        limits: the limits of the worker.
        action: the function, whose result the worker sends; then the worker exits.
        waits: True if it runs the function when `_finish_worker` is called, and not at once.

    Raises:
        OSError: the system starts no worker.
    """
    ours, theirs = (end.detach() for end in socket.socketpair())
    try:
        pid = sandbox.fork(starts_processes=limits.processes > 1)
    except OSError:
        os.close(ours)
        os.close(theirs)
        raise
    if pid == 0:
        try:
            sandbox.give_up_rights()
            kernel.close_all_but(theirs)
            sandbox.confine(limits, folder)
            if waits:
                os.read(theirs, len(_GO_MARK))
            os.write(theirs, json.dumps(action()).encode() + _END_MARK)
        finally:
            os._exit(0)
    os.close(theirs)  # else reading would not end when all that hold it have ended
    return _ThrowAwayWorker(pid, ours, waits)


def _finish_worker(sandbox: Sandbox, begun: _ThrowAwayWorker) -> tuple[dict[str, str], bool]:
    """Wait for the result of a throw-away worker, and end the worker.

    A worker that waits runs its function now.

    Returns:
        The result, {} if the function did not return; and True if a process is left after the worker's end.
    """
    if begun.waits:
        with contextlib.suppress(OSError):  # it was killed, and says nothing
            os.write(begun.socket, _GO_MARK)
    said, _ = _read_answer(begun.socket, time.monotonic() + _PROBES_S)
    # Not reaped yet, as in the server: its number could be another's by the time that what it left is ended.
    if said.endswith(_END_MARK):
        os.waitid(os.P_PID, begun.pid, os.WEXITED | os.WNOWAIT)
    sandbox.end(begun.pid)
    os.waitpid(begun.pid, 0)
    _, closed = _read_answer(begun.socket, time.monotonic() + _DAEMON_WAIT_S)
    os.close(begun.socket)
    return (json.loads(said) if said.endswith(_END_MARK) else {}), not closed


def _read_answer(descriptor: int, latest: float) -> tuple[bytes, bool]:
    """Read from a socket up to the end mark or a deadline.

    Args:
        descriptor: the descriptor of the socket.
        latest: the deadline, by the monotonic clock.

    Returns:
        The bytes, and True if the other end was closed.
    """
    said = b""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while not said.endswith(_END_MARK) and poll.poll(max(0.0, latest - time.monotonic()) * 1000):
        try:
            chunk = os.read(descriptor, 1 << 16)
        except ConnectionResetError:  # it was killed before it read the word to go
            chunk = b""
        if not chunk:
            return said, True
        said += chunk
    return said, False


def _probe_and_leave_daemon(targets: TryOut, names: Iterable[str]) -> dict[str, str]:
    """Run probes, and leave a process behind, to see whether it outlives the worker.

    The process has a session of its own. It keeps the socket to the server open as long as it lives.

    Returns:
        The result of `_run_probes`.
    """
    found = _run_probes(targets, names, starts_processes=True)
    try:
        pid = os.fork()
    except OSError:  # the sandbox starts no process, so none can stay
        return found
    if pid == 0:
        try:
            os.setsid()
            # Twice forked and in a session of its own, it has no tie to the worker that a signal could follow.
            if os.fork() == 0:
                time.sleep(_DAEMON_S)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)  # else the worker may end before the daemon exists, which would look as if it had not stayed
    return found


def _run_probes(targets: TryOut, names: Iterable[str], *, starts_processes: bool) -> dict[str, str]:
    """Run the named probes in this process.

    Args:
        targets: the message with the files and processes that the probes try to reach.
        names: the names of the probes.
        starts_processes: True if this worker may start processes.

    Returns:
        A dict from the name of each probe to what it could do, or to "" if its promise holds, such as
        `{"read_files": "a file could be read", "signals": ""}`.
    """
    probes, results = _Probes(targets, starts_processes=starts_processes), {}
    for name in names:
        try:
            answer = getattr(probes, name)()
            results[name] = answer if isinstance(answer, str) else _first_success(answer)
        except Exception as error:  # in honest code, or the probe is wrong: its promise is not shown to hold
            results[name] = f"{type(error).__name__}: {error}"
    return results


def _first_success(attempts: _Attempts) -> str:
    """Try actions until the kernel permits one; return the text of that action.

    The result is "" if the kernel refuses all of them.

    Args:
        attempts: pairs of a text, such as "a file could be read", and a function that tries it.
    """
    for what, attempt in attempts:
        with contextlib.suppress(OSError, MemoryError):
            attempt()
            return what
    return ""
