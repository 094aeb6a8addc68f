"""What can a process do where workers live? Tried in a throw-away worker, with targets that the host has laid out.

Each probe gives "" if its promise (see `levels`) holds, else what was possible, or did not work.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib
import mmap
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from grader.sandbox.messages import Targets

_LATE_MODULES = ("getpass", "xml.dom.minidom", "torch.utils.benchmark")
_ODD_FAMILIES = (17, 38, 40)  # AF_PACKET, AF_ALG, AF_VSOCK
_NOWHERE = "192.0.2.1"  # reserved for documentation, RFC 5737
_MOST_DISK = 1 << 30
_DAEMON_S = 4.0

_CLONE_NEWUSER = 0x10000000
_PR_GET_SECCOMP = 21
_PR_GET_NO_NEW_PRIVS = 39
_PTRACE_SEIZE = 0x4206


def try_all(targets: Targets) -> dict[str, str]:
    """Run all probes.

    Args:
        targets: what they try to reach.
    """
    return {name: _tried(probe, targets) for name, probe in _PROBES.items()}


def _tried(probe: Callable[[Targets], str], targets: Targets) -> str:
    try:
        return probe(targets)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _imports(targets: Targets) -> str:
    del targets
    for name in _LATE_MODULES:
        importlib.import_module(name)
    return ""


def _private_folder(targets: Targets) -> str:
    del targets
    # Honest code must still work. A wall that stops it is no better than one with a hole.
    for folder in (".", tempfile.gettempdir()):
        path = Path(folder, "probe.txt")
        path.write_text("written", encoding="ascii")
        path.rename(path.with_suffix(".moved"))
        path.with_suffix(".moved").unlink()
    return ""


def _threads(targets: Targets) -> str:
    del targets
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


def _memory(targets: Targets) -> str:
    try:
        mmap.mmap(-1, (targets.memory_mb + 64) << 20).close()
    except (OSError, MemoryError):
        return ""
    return "more memory than allowed could be had"


def _read_files(targets: Targets) -> str:
    with contextlib.suppress(OSError):
        os.listdir(targets.folder)
        return "a folder could be listed"
    with contextlib.suppress(OSError):
        Path(targets.file).read_bytes()
        return "a file could be read"
    return ""


def _see_files(targets: Targets) -> str:
    return "a file could be seen" if os.path.lexists(targets.file) else ""


def _write_files(targets: Targets) -> str:
    with contextlib.suppress(OSError):
        Path(targets.folder, "written").write_bytes(b"")
        return "a file could be made"
    with contextlib.suppress(OSError), open(targets.file, "ab"):
        return "a file could be opened for writing"
    return ""


def _change_packages(targets: Targets) -> str:
    del targets
    for module in ("os", "torch", "grader.sandbox"):
        origin = sys.modules[module].__file__
        assert origin is not None
        with contextlib.suppress(OSError), open(origin, "r+b"):
            return f"{module} could be opened for writing"
        with contextlib.suppress(OSError):
            os.utime(origin, (os.stat(origin).st_atime, os.stat(origin).st_mtime))
            return f"the times of {module} could be changed"
        path = Path(origin).with_name("written_by_a_probe")
        with contextlib.suppress(OSError):
            path.touch()
            path.unlink()
            return f"a file could be made beside {module}"
    return ""


def _network(targets: Targets) -> str:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", targets.port), timeout=1):
        return "a port of the machine could be reached"
    # Connecting a datagram socket sends nothing. It asks the kernel for a route, which there must not be.
    for family, address in ((socket.AF_INET, _NOWHERE), (socket.AF_INET6, "2001:db8::1")):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((address, 9))
            return "there is a route to other machines"
    return ""


def _unix_sockets(targets: Targets) -> str:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.connect("\0" + targets.abstract)
        return "an abstract Unix socket could be reached"
    return ""


def _odd_sockets(targets: Targets) -> str:
    del targets
    for family in _ODD_FAMILIES:
        for kind in (socket.SOCK_STREAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            with contextlib.suppress(OSError), socket.socket(family, kind):
                return f"a socket of family {family} could be made"
    return ""


def _signals(targets: Targets) -> str:
    with contextlib.suppress(OSError):
        os.kill(targets.pid, 0)
        return "the grader's process could be signalled"
    with contextlib.suppress(OSError):
        if os.getppid() > 1:  # 0 is out of sight, 1 is the process of its own box
            os.kill(os.getppid(), 0)
            return "the parent could be signalled"
    return ""


def _tracing(targets: Targets) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(_PTRACE_SEIZE, targets.pid, None, None) == 0:
        return "the grader's process could be traced"
    for name in ("environ", "cmdline", "maps"):
        with contextlib.suppress(OSError):
            Path(f"/proc/{targets.pid}/{name}").read_bytes()
            return f"{name} of the grader's process could be read"
    return ""


def _see_processes(targets: Targets) -> str:
    return "the grader's process could be seen" if os.path.exists(f"/proc/{targets.pid}") else ""


def _execute(targets: Targets) -> str:
    del targets
    libc = ctypes.CDLL(None, use_errno=True)
    # A path that does not exist: where the call is let through, it fails for that reason and not by the filter.
    libc.execve(b"/nowhere/at/all", None, None)
    number = ctypes.get_errno()
    return "" if number in (errno.EPERM, errno.EACCES) else f"execve is let through ({errno.errorcode[number]})"


def _privileges(targets: Targets) -> str:
    del targets
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


def _new_namespaces(targets: Targets) -> str:
    del targets
    return "a user namespace could be made" if ctypes.CDLL(None).unshare(_CLONE_NEWUSER) == 0 else ""


def _ipc(targets: Targets) -> str:
    del targets
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, ctypes.c_size_t(4096), 0o600)
    if segment == -1:
        return ""
    libc.shmctl(segment, 0, None)
    return "shared memory could be made"


def _processes(targets: Targets) -> str:
    del targets
    with contextlib.suppress(OSError):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        return "a process could be started"
    return ""


def _disk(targets: Targets) -> str:
    del targets
    status = os.statvfs(".")
    size, files = status.f_frsize * status.f_blocks, status.f_files
    return "" if size <= _MOST_DISK and 0 < files < 100_000 else "it is as large as the disk"


_PROBES: dict[str, Callable[[Targets], str]] = {
    "imports": _imports,
    "private_folder": _private_folder,
    "threads": _threads,
    "memory": _memory,
    "read_files": _read_files,
    "write_files": _write_files,
    "change_packages": _change_packages,
    "network": _network,
    "unix_sockets": _unix_sockets,
    "odd_sockets": _odd_sockets,
    "signals": _signals,
    "tracing": _tracing,
    "execute": _execute,
    "privileges": _privileges,
    "new_namespaces": _new_namespaces,
    "ipc": _ipc,
    "processes": _processes,
    "see_files": _see_files,
    "see_processes": _see_processes,
    "disk": _disk,
}


def leave_a_daemon() -> None:
    """Start a process that leaves the session and lives on for a while, holding every descriptor; see `daemons`."""
    with contextlib.suppress(OSError):
        # Twice forked and in a session of its own, it has no tie to the worker that a signal could follow.
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                os.setsid()
            if os.fork() == 0:
                time.sleep(_DAEMON_S)
            os._exit(0)
