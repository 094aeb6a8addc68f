"""The machine before and after: what a run may have left or changed outside its own folders, and what it called."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import site
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

MARKER = "wall_marker"
"""Every name that an attack makes up has this in it."""

_PORT = 57911
_LISTENER = f"{MARKER}_listener"
"""Where this machine listens, and no worker must reach."""

IPC_KEY = 0x57A11
"""Keys of what attacks make of System V IPC begin so."""

_NOT_OURS = ("/containers/", "/docker/", "/snap/", "/run/user/", "/media/")
"""Mounts that come and go on a machine by themselves."""

_STAYS = ("Python's packages", "course", "submissions")
_SHARED = (MARKER, "psm_", "wnsm_", "torch_", "grade", "sem.wall")


def look_at_host(course: Path, school: Path, temp: Path) -> dict[str, dict[str, str]]:
    """What is there now, by kind and name."""
    return {
        "mount": {line: "" for line in _lines("/proc/self/mountinfo") if not any(part in line for part in _NOT_OURS)},
        "shared memory": {path: "" for path in _names("/dev/shm") if any(part in path for part in _SHARED)},
        "System V IPC": {line: "" for kind in ("shm", "msg", "sem") for line in _ipc(kind)},
        "message queue": {"/" + MARKER: ""} if _queue_exists("/" + MARKER) else {},
        "cgroup": dict.fromkeys(_cgroups(), ""),
        "marker": {path: "" for folder in _likely_places() for path in _names(folder) if MARKER in path},
        "temporary file": dict.fromkeys(_names(str(temp)), ""),
        "Python's packages": _signs(_package_folders()),
        "course": _signs([str(course)]),
        "submissions": _signs([str(school)]),
    }


def changes(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> Iterator[str]:
    """What is there now and was not, or is another now; of files that must stay, what is gone."""
    for kind, old in before.items():
        new = after[kind]
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name) and (name in new or kind in _STAYS):
                what = "was left" if name not in old else "is gone" if name not in new else "was changed"
                yield f"{kind} {what}: {name}"


def clean_host() -> None:
    """Remove markers that an attack left, but for those of another user, from a run that was ended."""
    for folder in _likely_places():
        for path in _names(folder):
            if MARKER in path and (os.path.islink(path) or not os.path.isdir(path)):
                with contextlib.suppress(PermissionError):
                    os.unlink(path)


def remove_folder(folder: Path) -> None:
    """Remove a folder with whatever stands in it, too deep or closed for Python's own way."""
    subprocess.run(["chmod", "-R", "u+rwx", str(folder)], capture_output=True, check=False)
    subprocess.run(["rm", "-rf", str(folder)], check=False)


@contextlib.contextmanager
def listening(heard: list[str]) -> Iterator[None]:
    """Listen on local addresses, and note what came in the end. Where another run listens already, it does that."""
    path = os.path.join(tempfile.gettempdir(), _LISTENER)
    addresses = (
        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", _PORT)),
        (socket.AF_INET6, socket.SOCK_STREAM, ("::1", _PORT)),
        (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", _PORT)),
        (socket.AF_INET6, socket.SOCK_DGRAM, ("::1", _PORT)),
        (socket.AF_UNIX, socket.SOCK_STREAM, "\0" + _LISTENER),
        (socket.AF_UNIX, socket.SOCK_STREAM, path),
    )
    with contextlib.ExitStack() as stack:
        ends = []
        for family, kind, address in addresses:
            with contextlib.suppress(OSError):
                end = stack.enter_context(socket.socket(family, kind))
                end.bind(address)
                if kind == socket.SOCK_STREAM:
                    end.listen()
                end.setblocking(False)
                ends.append((end, address))
        yield
        for end, address in ends:
            with contextlib.suppress(BlockingIOError):
                came = end.recv(100) if end.type == socket.SOCK_DGRAM else end.accept()[1]
                heard.append(f"somebody called {address!r}: {came!r}")
    with contextlib.suppress(OSError):
        os.unlink(path)


def _names(folder: str) -> list[str]:
    try:
        return sorted(entry.path for entry in os.scandir(folder))
    except OSError:
        return []


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _ipc(kind: str) -> list[str]:
    rows = [line.split() for line in _lines(f"/proc/sysvipc/{kind}")[1:]]
    return [f"{kind} {int(row[0]) & 0xFFFFFFFF:#x}" for row in rows if int(row[0]) >> 8 == IPC_KEY]


def _queue_exists(name: str) -> bool:
    """Whether a POSIX message queue exists; asked of the C library, since its file system is often not mounted."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mq_open"):
        return False
    queue = library.mq_open(name.encode(), os.O_RDONLY)
    if queue < 0:
        return False
    library.mq_close(queue)
    library.mq_unlink(name.encode())
    return True


def _cgroups() -> list[str]:
    """Control groups of ours whose owner, whose number their names hold, has ended."""
    found = []
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        for name in names:
            owner = re.match(r"tensorgrade\.(\d+)\.", name)
            if "grade" in name and not (owner and os.path.exists(f"/proc/{owner[1]}")):
                found.append(os.path.join(folder, name))
    return sorted(found)


def _package_folders() -> list[str]:
    return sorted({sysconfig.get_paths()[name] for name in ("purelib", "platlib", "stdlib")})


def _likely_places() -> list[str]:
    """Folders in which an attack leaves something for whoever comes next."""
    packages = _package_folders()
    caches = [os.path.join(folder, name) for folder in packages for name in ("__pycache__", "json/__pycache__")]
    torch = [os.path.join(folder, "torch", name) for folder in packages for name in ("", "__pycache__")]
    root = str(Path(__file__).resolve().parents[2])
    own = [os.path.join(root, name) for name in ("", "grader", "grader/worker", "grader/worker/__pycache__", "tests")]
    home = [os.path.expanduser("~"), site.getusersitepackages()]
    return [*packages, *caches, *torch, *own, *home, tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", "/", "/etc"]


def _signs(folders: list[str]) -> dict[str, str]:
    """Size and times of every file, which nobody can set back all of."""
    signs, todo = {}, list(folders)
    while todo:  # without a call for each level: an attack hands in a thousand of them
        folder = todo.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                todo += [entry.path] if entry.name != "site-packages" or folder in folders else []
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            signs[entry.path] = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_mode:o}"
    return signs


def interpreter_prefixes() -> list[str]:
    """Folders that the interpreter needs."""
    return sorted({sys.prefix, sys.base_prefix, *(path for path in sys.path if os.path.isdir(path))})
