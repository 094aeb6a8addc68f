"""Warm processes that stay between commands: where they are called, which ones fit, and whether this machine has any.

After a command of a student's, its zygote stays for ten minutes. It has PyTorch and read nothing of a course, so the
next command has everything forked from it that a cold one starts: checks are read anew, and workers are confined and
tried anew. Beside it stays a process that has imported what commands import, and neither PyTorch nor anything of a
course: the next command runs in a fork of it (`grader.cli.ready`). One is found by a digest of all that it was made
of; where anything differs, it is not found.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grader
from grader.sandbox import fork_messages
from grader.sandbox.datagrams import Message, receive, send
from grader.sandbox.process import bind_in, isolated, workers_environment

IDLE_S = 600.0
"""So long they stay after the last command that used them."""

LEAST_MB = 4096
"""A machine with less memory has none: they take a few hundred MB."""

SWITCH = "TENSORGRADE_WARM"
"""With this variable at 0 no process stays, and no one that is there is used."""

ZYGOTE, READY = "", "ready-"
"""The two kinds: with what the names of their sockets begin."""

_ANSWERS_S = 3.0
"""One that is warm answers at once. One that takes longer still imports PyTorch, or was stopped."""
_STATUS = ("Uid", "Gid", "Groups", "Umask", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Cpus_allowed")


def is_off() -> bool:
    """Return whether the user wants no warm processes."""
    return os.environ.get(SWITCH) == "0"


def why_none() -> str:
    """Say why there are no warm processes here; "" if there can be some."""
    if is_off():
        return f"{SWITCH} is 0"
    if sys.platform != "linux":
        return "processes cannot be forked safely on this system"
    if (megabytes := os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20) < LEAST_MB:
        return f"this machine has {megabytes} MB of memory, and they need one with {LEAST_MB}"
    if (leader := os.getsid(0)) == 0:
        return "the session of this command began outside of this container, which does not see when it ends"
    if leader == os.getpid():
        return "this command is a session of its own, with which they would end"
    import tempfile

    try:
        # A socket and what they say are written there: a disk may be full, or not be written to.
        with tempfile.TemporaryFile(dir=_folder()) as file:
            file.write(b" ")
    except OSError as error:
        return str(error)
    return ""


def _folder() -> str:
    """Return the folder of the sockets, which is this user's alone.

    Raises:
        OSError: it cannot be made, or is somebody else's.
    """
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(base) and os.path.isdir(base):
        folder = os.path.join(base, "tensorgrade")
    else:
        import tempfile  # here and above, as a typed command waits for the imports of this module

        folder = os.path.join(tempfile.gettempdir(), f"tensorgrade-{os.geteuid()}")
    with contextlib.suppress(FileExistsError):  # whose it is, and what, is seen below
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise OSError(f"{folder} is not a folder that only you can open")
    return folder


def _installation() -> str:
    """Return a digest of where this is installed."""
    return _digest([sys.executable, os.path.dirname(str(grader.__file__))])[:8]


def _name(kind: str) -> str:
    """Return the name of the socket of warm processes of a kind.

    It changes with our code, the installed packages, the interpreter and the environment, so that only processes that
    fit this command are found.
    """
    package = os.path.dirname(str(grader.__file__))
    modules = [os.path.join(top, name) for top, _, names in os.walk(package) for name in names if name.endswith(".py")]
    files = [(path, *_stamp(path)) for path in sorted(modules)]
    # An installation of any package changes the folder that it goes into.
    command = isolated("")
    places = [(path, *_stamp(path)) for path in (*json.loads(command[-3]), sys.executable)]
    made_of = [sys.version, command, files, places, workers_environment(), _circumstances()]
    return f"{kind}{_installation()}-{_digest(made_of)[:32]}"


def _stamp(path: str) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ino


def _circumstances() -> list[Any]:
    """Return what a process inherits besides its environment."""
    import resource

    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        rows = [line.split() for line in file]
    status = [row for row in rows if row and row[0].rstrip(":") in _STATUS]
    spaces = [os.readlink(f"/proc/self/ns/{name}") for name in sorted(os.listdir("/proc/self/ns"))]
    limits = [
        resource.getrlimit(which)
        for which in sorted({value for name, value in vars(resource).items() if name.startswith("RLIMIT_")})
    ]
    return [status, spaces, limits, os.readlink("/proc/self/root"), os.getpriority(os.PRIO_PROCESS, 0)]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


# -- calling them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The address of warm processes that fit a command which is started here and now.

    Attributes:
        folder: of all such places.
        name: of this one.
        kind: of the processes.
    """

    folder: str
    name: str
    kind: str

    @classmethod
    def here(cls, kind: str = ZYGOTE) -> Place:
        """Return the place for this process.

        Raises:
            OSError: there can be none.
        """
        return cls(_folder(), _name(kind), kind)

    @property
    def log(self) -> Path:
        """Return the file that has what the processes print."""
        return Path(self.folder, f"{self.name}.log")

    def call(self) -> socket.socket | None:
        """Connect to the process that stays there; return None if there is no such process.

        Raises:
            TimeoutError: there is one, and it does not answer now.
        """
        called = _connected(self.folder, f"{self.name}.sock")
        if called is not None and _ask(called, fork_messages.Describe()) is None:
            called.close()
            raise TimeoutError
        return called

    def listen(self) -> tuple[socket.socket, fork_messages.Stay]:
        """Open a socket at which a new process is called, and return it with the order to stay."""
        before = f"{self.kind}{_installation()}"
        for name in os.listdir(self.folder):
            if name.startswith(before) and name.endswith(".sock"):
                _stop(self.folder, name)
            elif name.startswith(before):
                Path(self.folder, name).unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        unnamed = os.urandom(16).hex()
        bind_in(self.folder, unnamed, listening)
        listening.listen()
        path = os.path.join(self.folder, f"{self.name}.sock")
        os.rename(os.path.join(self.folder, unnamed), path)
        return listening, fork_messages.Stay(listening.fileno(), path, os.getsid(0), IDLE_S)


@dataclass(frozen=True)
class Warm:
    """Processes that stay.

    Attributes:
        fits: whether a command that is started here and now would use them.
        pids: their numbers.
        memory_mb: what they have in memory, of what they share with others their part.
        idle_s: how long they stay if no command uses them.
    """

    fits: bool
    pids: tuple[int, ...]
    memory_mb: int
    idle_s: float


def warm_processes() -> Iterator[Warm]:
    """Yield the warm processes of this user.

    Raises:
        OSError: there is no folder for them.
    """
    folder, fitting = _folder(), {f"{_name(kind)}.sock" for kind in (ZYGOTE, READY)}
    for name in _names(folder):
        if (called := _connected(folder, name)) is not None:
            with called:
                said = _ask(called, fork_messages.Describe())
            if isinstance(said, fork_messages.Described):
                memory = sum(map(_memory, said.pids)) >> 10
                yield Warm(name in fitting, said.pids, memory, said.idle_s)


def stop() -> int:
    """End those of this user, each when the command that uses it has ended; how many there were.

    Raises:
        OSError: there is no folder for them, or they cannot be called.
    """
    if sys.platform != "linux":
        return 0
    folder = _folder()
    return sum(_stop(folder, name) for name in _names(folder))


def _names(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".sock"))


def _stop(folder: str, name: str) -> bool:
    called = _connected(folder, name)
    if called is None:  # left by one that was killed
        with contextlib.suppress(FileNotFoundError):  # another command has removed it
            os.unlink(os.path.join(folder, name))
        return False
    # Where it ends just now, it ends as it is to; one that was stopped by a signal reads this when it goes on.
    with called, contextlib.suppress(ConnectionError, TimeoutError):
        send(called, fork_messages.Stop())
    return True


def _connected(folder: str, name: str) -> socket.socket | None:
    """Connect to who answers there, if that is this user; return None if nobody does.

    Raises:
        OSError: somebody may be there, and cannot be called now.
    """
    called = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    called.settimeout(_ANSWERS_S)
    # A path may be longer than the address of a socket.
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        called.connect(f"/proc/self/fd/{descriptor}/{name}")
    except (FileNotFoundError, ConnectionRefusedError):  # the socket is gone, or who made it was killed
        called.close()
        return None
    except OSError:
        called.close()
        raise
    finally:
        os.close(descriptor)
    _, user, _ = struct.unpack("3i", called.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    if user != os.geteuid():
        called.close()
        return None
    return called


def _ask(called: socket.socket, question: Message) -> Message | None:
    """Send a question, and return its answer; None if none comes in time."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, contextlib.suppress(ConnectionError, TimeoutError):  # it ends just now, or is busy or stopped: None
        ours.settimeout(_ANSWERS_S)
        with theirs:
            send(called, question, [theirs.fileno()])
        return receive(ours)[0]
    return None


def _memory(pid: int) -> int:
    """Return the KiB of memory of a process, with its part of what it shares with others."""
    # It has just ended, or this system shows no such numbers: then it counts for nothing in the sum that is shown.
    gone = FileNotFoundError, ProcessLookupError, PermissionError
    with contextlib.suppress(*gone), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("Pss:")), 0)
    return 0
