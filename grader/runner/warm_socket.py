"""Where warm processes are called: the address of those that fit a command which is started here and now.

It imports little: a typed command waits for that, before another process does its work.
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
from collections.abc import Mapping

import grader
from grader.sandbox.process import isolated_command, workers_environment
from grader.sandbox.trees import receive_tree, send_tree

SWITCH = "TENSORGRADE_WARM"
"""With this variable at 0 no process stays, and no one that is there is used."""

ZYGOTE, READY = "", "ready-"
"""The two kinds: with what the names of their sockets begin."""

DESCRIBE: Mapping[str, object] = {"Describe": {}}
"""The tree of `fork_messages.Describe`."""

_ANSWERS_S = 3.0
"""One that is warm answers at once. One that takes longer still imports PyTorch, or was stopped."""
_STATUS = ("Uid", "Gid", "Groups", "Umask", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Cpus_allowed")


def is_switched_off() -> bool:
    """Return whether the user has switched warm processes off."""
    return os.environ.get(SWITCH) == "0"


def folder_of_sockets() -> str:
    """Return the folder of the sockets, which only this user can open.

    It is made if it is missing.

    Raises:
        OSError: the folder cannot be made, or others can open it.
    """
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(base) and os.path.isdir(base):
        folder = os.path.join(base, "tensorgrade")
    else:
        temporary = os.environ.get("TMPDIR", "")
        if not os.path.isabs(temporary):
            temporary = "/tmp"  # noqa: S108  in it is a folder of this user alone
        folder = os.path.join(temporary, f"tensorgrade-{os.geteuid()}")
    with contextlib.suppress(FileExistsError):  # whose it is, and what, is seen below
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise OSError(f"{folder} is not a folder that only you can open")
    return folder


def installation_digest() -> str:
    """Return a digest of the paths of the interpreter and of this package: 8 hex digits.

    Warm processes of another installation have another one in the names of their sockets.
    """
    return _digest([sys.executable, os.path.dirname(str(grader.__file__))])[:8]


def socket_name_of(kind: str) -> str:
    """Return the name of the socket of warm processes that fit this command, without suffix.

    For `READY` it is "ready-", the 8 digits of `installation_digest`, "-" and 32 digits. These change with our code,
    the installed packages, the interpreter and the environment, so that no other process is found.

    Args:
        kind: the kind of the warm processes: `ZYGOTE` or `READY`.
    """
    files = [(path, *_file_stamp(path)) for path in _package_files(os.path.dirname(str(grader.__file__)))]
    # An installation of any package changes the folder that it goes into.
    command = isolated_command("")
    places = [(path, *_file_stamp(path)) for path in (*json.loads(command[-3]), sys.executable)]
    made_of = [sys.version, command, files, places, workers_environment(), _inherited_state()]
    return f"{kind}{installation_digest()}-{_digest(made_of)[:32]}"


def _package_files(folder: str) -> list[str]:
    """Return the paths of all files of our package, by which a change of our code is noticed.

    Those that Python has compiled are left out.
    """
    found = []
    for top, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [os.path.join(top, name) for name in names]
    return sorted(found)


def _file_stamp(path: str) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ino


def _inherited_state() -> list[object]:
    """Return what a child inherits from this process.

    That is rights, namespaces, limits, root folder and priority. A command for which they are others must not use it.
    """
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


def connect_and_check(folder: str, name: str) -> socket.socket | None:
    """Connect to the warm process at a socket, and check that it answers.

    The result is None if no process listens.

    Args:
        folder: the folder of the sockets.
        name: the name of the socket.

    Raises:
        TimeoutError: there is a process, and it does not answer now.
        OSError: there may be a process, and it cannot be reached now.
    """
    connection = connect(folder, name)
    if connection is not None and not ask(connection, DESCRIBE):
        connection.close()
        raise TimeoutError
    return connection


def connect(folder: str, name: str) -> socket.socket | None:
    """Connect to the socket of a warm process of this user; return None if no process listens.

    Args:
        folder: the folder of the sockets.
        name: the name of the socket.

    Raises:
        OSError: there may be a process, and it cannot be reached now.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(_ANSWERS_S)
    # A path may be longer than the address of a socket.
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        connection.connect(f"/proc/self/fd/{descriptor}/{name}")
    except (FileNotFoundError, ConnectionRefusedError):  # the socket is gone, or who made it was killed
        connection.close()
        return None
    except OSError:
        connection.close()
        raise
    finally:
        os.close(descriptor)
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", credentials)
    if user != os.geteuid():
        connection.close()
        return None
    return connection


def ask(called: socket.socket, question: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Send a question to a warm process; return the tree of its answer.

    The result is {} if no answer comes in time.

    Args:
        called: the connection to the process.
        question: the tree of the message.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, contextlib.suppress(ConnectionError, TimeoutError):  # it ends just now, or is busy or stopped: None
        ours.settimeout(_ANSWERS_S)
        with theirs:
            send_tree(called, question, [theirs.fileno()])
        return receive_tree(ours)[0]
    return {}
