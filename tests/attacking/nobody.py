"""Becomes an unprivileged user, in a mount namespace in which that user can reach our interpreter.

The interpreter, the project or the working folder may lie below a folder that only root may pass. Such a folder is
covered by an empty one that all may pass, and what is needed is bound back into it, read-only for that user by its
owner. User namespaces stay usable: there is no chroot, and what is executed next has that user's identity.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Sequence
from pathlib import Path

NOBODY = 65534

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_PR_SET_DUMPABLE = 4
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000

_LIBC = ctypes.CDLL(None, use_errno=True)


def become_nobody(needed: Sequence[str]) -> None:
    """Go on as an unprivileged user that can read the folders it needs.

    Args:
        needed: folders below which that user must be able to read.
    """
    _ask("unshare", _LIBC.unshare(_CLONE_NEWNS))
    _mount("none", "/", _MS_REC | _MS_PRIVATE)
    closed: dict[str, list[str]] = {}
    for folder in sorted({os.path.realpath(path) for path in needed}):
        if barrier := _barrier(folder):
            closed.setdefault(barrier, []).append(folder)
    for barrier, folders in closed.items():
        _open_up(barrier, folders)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    _ask("prctl", _LIBC.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0))  # or its files in /proc would stay root's


def forbid_namespaces() -> None:
    """Go on where nobody can make namespaces, as in many containers."""
    user, group = os.getuid(), os.getgid()
    _ask("unshare", _LIBC.unshare(_CLONE_NEWUSER))
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    for name in ("user", "pid", "net", "ipc", "mnt", "uts", "cgroup"):
        Path(f"/proc/sys/user/max_{name}_namespaces").write_text("0", encoding="ascii")


def _barrier(folder: str) -> str | None:
    """The topmost folder on the way that others may not pass."""
    for path in [*reversed(Path(folder).parents), Path(folder)]:
        if not path.stat().st_mode & stat.S_IXOTH:
            return str(path)
    return None


def _open_up(barrier: str, folders: Sequence[str]) -> None:
    """Cover a folder by one that all may pass, in which only those are found."""
    kept = {folder: os.open(folder, os.O_PATH | os.O_DIRECTORY) for folder in folders}
    _mount("tmpfs", barrier, 0, "tmpfs", "mode=0755,size=1m")
    for folder, descriptor in kept.items():
        os.makedirs(folder, mode=0o755, exist_ok=True)
        _mount(f"/proc/self/fd/{descriptor}", folder, _MS_BIND | _MS_REC)
        os.close(descriptor)


def _mount(source: str, target: str, flags: int, kind: str = "", options: str = "") -> None:
    names = [text.encode() or None for text in (source, target, kind)]
    _ask(f"mount on {target}", _LIBC.mount(*names, ctypes.c_ulong(flags), options.encode() or None))


def _ask(what: str, answer: int) -> None:
    if answer != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
