"""What can workers do here? Probes try it in throw-away workers, started like all others, with targets of the host's.

Each probe gives "" if its promise (see `grader.runner.source`) holds, else what was possible, or did not work.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib
import json
import mmap
import os
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from grader.sandbox import kernel
from grader.sandbox.levels import Sandbox
from grader.sandbox.messages import TryOut, WorkerLimits

_LATE_MODULES = ("getpass", "xml.dom.minidom", "torch.utils.benchmark")
_MOST_DISK = 1 << 30
_CPU_S = 30
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

    def network(self) -> _Attempts:
        local = ("127.0.0.1", self._targets.port)
        yield "a port of the machine could be reached", partial(socket.create_connection, local, timeout=1)
        # Connecting a datagram socket sends nothing. It asks the kernel for a route, which there must not be.
        for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):  # of no machine
            yield "there is a route to other machines", partial(_connect, family, (address, 9))

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
    """What each probe found, by name; see `grader.runner.source`.

    Args:
        sandbox: how workers are confined.
        wanted: what the probes try to reach.
    """
    read, write = os.pipe()
    try:
        pid = sandbox.fork()
    except OSError as error:  # the system gave a worker when the sandbox was built, and gives none now
        return dict.fromkeys(_NAMES, f"no worker could be started to try it: {error}")
    if pid == 0:
        try:
            sandbox.give_up_rights()
            kernel.close_all_but(write)
            # As for an exercise that allows no process, which is what most of them do.
            sandbox.confine(WorkerLimits(_CPU_S, wanted.memory_mb, _FILE_MB, processes=1), wanted.own_folder)
            os.write(write, json.dumps(_try_all(wanted)).encode())
        finally:
            os._exit(0)
    os.close(write)  # else reading would not end when the worker does
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    results: dict[str, str] = json.loads(said or "{}")
    return results


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
