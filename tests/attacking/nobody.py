"""Becomes an unprivileged user, in a mount namespace in which that user can reach our interpreter.

The interpreter, the project or the working folder may lie below a folder that only root may pass. Such a folder is
covered by an empty one that all may pass, and what is needed is bound back into it, read-only for that user by its
owner. User namespaces stay usable: there is no chroot, and what is executed next has that user's identity.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from grader.sandbox import kernel

NOBODY = 65534


def become_nobody(needed: Sequence[str]) -> None:
    """Go on as an unprivileged user that can read the folders it needs.

    Args:
        needed: folders below which that user must be able to read.
    """
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    closed: dict[str, list[str]] = {}
    for folder in sorted({os.path.realpath(path) for path in needed}):
        if barrier := _barrier(folder):
            closed.setdefault(barrier, []).append(folder)
    for barrier, folders in closed.items():
        _open_up(barrier, folders)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    kernel.take_back_proc_files()  # which would stay root's


def forbid_namespaces() -> None:
    """Go on where nobody can make namespaces, as in many containers."""
    user, group = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER)
    kernel.map_user(os.open("/proc", os.O_RDONLY | os.O_CLOEXEC), user, user, group)
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
    kernel.mount("tmpfs", barrier, "tmpfs", 0, "mode=0755,size=1m")
    for folder, descriptor in kept.items():
        os.makedirs(folder, mode=0o755, exist_ok=True)
        kernel.mount(f"/proc/self/fd/{descriptor}", folder, "", kernel.MS_BIND | kernel.MS_REC)
        os.close(descriptor)
