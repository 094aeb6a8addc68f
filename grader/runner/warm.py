"""Warm processes that stay between commands: where they are called, which ones fit, and whether this machine has any.

After a command of a student's, its zygote stays for ten minutes. It has PyTorch and read nothing of a course, so the
next command has everything forked from it that a cold one starts: checks are read anew, and workers are confined and
tried anew. Beside it stays a process that has imported what commands import, and neither PyTorch nor anything of a
course: the next command runs in a fork of it (`grader.cli.ready`). One is found by a digest of all that it was made
of; where anything differs, it is not found.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.runner.warm_socket import (
    DESCRIBE,
    READY,
    SWITCH,
    ZYGOTE,
    ask,
    connect,
    connect_and_check,
    folder_of_sockets,
    installation_digest,
    is_switched_off,
    socket_name_of,
)
from grader.sandbox import fork_messages
from grader.sandbox.datagrams import from_tree, send
from grader.sandbox.process import bind_in

IDLE_S = 600.0
"""So long they stay after the last command that used them."""

LEAST_MB = 4096
"""A machine with less memory has none: they take a few hundred MB."""


def why_not_warm() -> str:
    """Return why there cannot be warm processes on this machine; "" if there can be."""
    if is_switched_off():
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
        with tempfile.TemporaryFile(dir=folder_of_sockets()) as file:
            file.write(b" ")
    except OSError as error:
        return str(error)
    return ""


# -- calling them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WarmSocket:
    """The socket of a warm process that fits a command which is started here and now.

    Attributes:
        folder: the folder of all such sockets.
        name: the name of this one, without its suffix.
        kind: the kind of the process: `ZYGOTE` or `READY`.
    """

    folder: str
    name: str
    kind: str

    @classmethod
    def for_this_process(cls, kind: str = ZYGOTE) -> WarmSocket:
        """Return the socket at which a warm process listens that this command may use.

        Such a process has the same version and environment. It may not exist yet.

        Args:
            kind: the kind of the warm process: `ZYGOTE` or `READY`.

        Raises:
            OSError: there is no folder for sockets.
        """
        return cls(folder_of_sockets(), socket_name_of(kind), kind)

    @property
    def log(self) -> Path:
        """Return the path of the file that the warm process prints into."""
        return Path(self.folder, f"{self.name}.log")

    def connect(self) -> socket.socket | None:
        """Connect to the warm process at this socket; return None if there is no process.

        Raises:
            TimeoutError: there is a process, and it does not answer now.
        """
        return connect_and_check(self.folder, f"{self.name}.sock")

    def listen(self) -> tuple[socket.socket, fork_messages.Stay]:
        """Bind the socket at which a new warm process will listen.

        Older warm processes of the same kind and installation are stopped.

        Returns:
            The socket, and the message that makes the new process stay after its command.
        """
        before = f"{self.kind}{installation_digest()}"
        for name in os.listdir(self.folder):
            if name.startswith(before) and name.endswith(".sock"):
                _stop_process(self.folder, name)
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
class WarmProcess:
    """A warm process with its children: what it reports of itself.

    Attributes:
        fits: True if a command that is started here and now would use them.
        pids: their numbers; none of a process of another version, whose answer cannot be read.
        memory_mb: MiB that they have in memory; of a page that they share with others, a part counts.
        idle_s: the seconds for which they stay if no command uses them.
    """

    fits: bool
    pids: tuple[int, ...]
    memory_mb: int
    idle_s: float


def warm_processes() -> Iterator[WarmProcess]:
    """Yield a description of each warm process of this user, as the process reports it.

    Raises:
        OSError: there is no folder for their sockets.
    """
    folder, fitting = folder_of_sockets(), {f"{socket_name_of(kind)}.sock" for kind in (ZYGOTE, READY)}
    for name in _socket_names(folder):
        if (called := connect(folder, name)) is not None:
            with called:
                said = ask(called, DESCRIBE)
            try:
                described = from_tree(said) if said else None
            except ValueError:
                yield WarmProcess(False, (), 0, 0.0)
                continue
            if isinstance(described, fork_messages.Described):
                memory = sum(map(_memory_kib, described.pids)) >> 10
                yield WarmProcess(name in fitting, described.pids, memory, described.idle_s)


def stop_all() -> int:
    """Ask all warm processes of this user to end; return how many there were.

    Each ends after the command that uses it.

    Raises:
        OSError: there is no folder for their sockets, or a process cannot be reached.
    """
    if sys.platform != "linux":
        return 0
    folder = folder_of_sockets()
    return sum(_stop_process(folder, name) for name in _socket_names(folder))


def _socket_names(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".sock"))


def _stop_process(folder: str, name: str) -> bool:
    called = connect(folder, name)
    if called is None:  # left by one that was killed
        with contextlib.suppress(FileNotFoundError):  # another command has removed it
            os.unlink(os.path.join(folder, name))
        return False
    # Where it ends just now, it ends as it is to; one that was stopped by a signal reads this when it goes on.
    with called, contextlib.suppress(ConnectionError, TimeoutError):
        send(called, fork_messages.Stop())
    return True


def _memory_kib(pid: int) -> int:
    """Return the memory of a process in KiB; 0 if it is not known.

    A page that n processes share counts 1/n.
    """
    # It has just ended, or this system shows no such numbers: then it counts for nothing in the sum that is shown.
    gone = FileNotFoundError, ProcessLookupError, PermissionError
    with contextlib.suppress(*gone), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("Pss:")), 0)
    return 0
