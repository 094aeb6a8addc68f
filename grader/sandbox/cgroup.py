"""Caps on a whole worker, with all its processes and private files: control groups, where this user may make them.

Version 1 has a folder for each controller; version 2 has one tree. Both are used where they can be written, which is
for root mostly. Without them the limits of `levels` hold for each process, and the private file system is capped by
itself. Version 2 could not be tried where this was written; see docs/security.md.

Who makes a group keeps its folders locked (flock(2)) until it is removed. The kernel releases the locks of a process
that ends, in any way. So a group without a lock has been left. That holds for graders in other containers, too, of
which neither a number nor a name says whether they live.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_MIB = 1 << 20
_CONTROLLERS = ("memory", "pids")
_PREFIX = "tensorgrade"


@dataclass(frozen=True)
class ControlGroup:
    """A control group of one worker, or one in which groups are made: a folder for each controller, or one for both.

    Attributes:
        memory: the folder with the limit on memory.
        pids: the folder with the limit on processes.
        version: 1 or 2.
        locks: descriptors that keep its folders locked; none if this process did not make it.
    """

    memory: Path
    pids: Path
    version: int
    locks: list[int] = field(default_factory=list, compare=False)

    @property
    def folders(self) -> list[Path]:
        """Return the folders of the group: two with version 1, one with version 2."""
        return list(dict.fromkeys((self.memory, self.pids)))

    def remove_orphaned_groups(self) -> None:
        """Remove the groups in this group whose makers have ended.

        A killed grader leaves such groups. A group with processes in it stays.
        """
        for folder in self.folders:
            for left in folder.glob(f"{_PREFIX}.*"):
                with contextlib.suppress(OSError):  # another grader was quicker, or something still lives in it
                    lock = _lock(left)
                    if lock is not None:
                        try:
                            left.rmdir()
                        finally:
                            os.close(lock)

    def make(self, memory_mb: int, tasks: int) -> ControlGroup:
        """Make and return a group inside this one, which limits a worker or a check process.

        Args:
            memory_mb: MiB that all its processes and private files may take together.
            tasks: the number of processes and threads that it may have.

        Raises:
            OSError: the kernel refuses.
        """
        group, size = self._make_locked(), str(memory_mb * _MIB)
        try:
            # Without swap, memory is what was allowed and not a multiple of it.
            limit, with_swap, most = {
                1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", size),
                2: ("memory.max", "memory.swap.max", "0"),
            }[self.version]
            (group.memory / limit).write_text(size)
            with contextlib.suppress(FileNotFoundError):  # swap is not accounted for here
                (group.memory / with_swap).write_text(most)
            (group.pids / "pids.max").write_text(str(tasks))
        except OSError:
            group.remove(0)
            group.release()
            raise
        return group

    def _make_locked(self) -> ControlGroup:
        """Make a group with a new name inside this one, lock its folders, and return it.

        The name has the pid of this process, as in `tensorgrade.4711.9f86d081`. The group has no limits yet.
        """
        while True:
            # The number tells an administrator whose it is. In another container it may be another process's.
            name = f"{_PREFIX}.{os.getpid()}.{secrets.token_hex(4)}"
            group, made = ControlGroup(self.memory / name, self.pids / name, self.version), False
            try:
                made = all(group._make_folder(folder) for folder in group.folders)
            finally:
                if not made:
                    group.remove(0)
                    group.release()
            if made:
                return group

    def _make_folder(self, folder: Path) -> bool:
        """Make and lock a folder of this group; return True if it is locked.

        The result is False if another grader removed the folder before it was locked.
        """
        folder.mkdir()
        lock = _lock(folder)
        if lock is not None:
            self.locks.append(lock)
        return lock is not None

    def entry_descriptors(self) -> list[int]:
        """Open the files through which a process without rights can move itself into the group.

        Returns:
            The descriptors of these files, for `enter`; [] in version 2.
        """
        if self.version != 1:
            return []
        # Opened here: in version 1 the kernel asks what whoever opened it may do, so a worker without rights can enter.
        return [os.open(folder / "tasks", os.O_WRONLY | os.O_CLOEXEC) for folder in self.folders]

    def take_in(self, pid: int) -> None:
        """Move a process into the group, unless it has entered by `enter` already.

        Raises:
            OSError: the kernel refuses; `ProcessLookupError` if the process has ended.
        """
        # Looked at from here: what a worker says of itself is untrusted.
        for folder in self.folders:
            if not self._has_entered(folder, pid):
                # Not at once: the kernel first waits, for milliseconds, until nothing forks or ends anywhere.
                (folder / "cgroup.procs").write_text(str(pid))

    def _has_entered(self, folder: Path, pid: int) -> bool:
        """Return True if a folder of the group lists all threads of a process.

        In version 2 the result is always False.

        Args:
            folder: the path of one of the group's folders.
            pid: the pid of the process.

        Raises:
            ProcessLookupError: the process has ended.
        """
        if self.version != 1:
            return False
        try:
            threads = set(os.listdir(f"/proc/{pid}/task"))
        except FileNotFoundError:
            raise ProcessLookupError(errno.ESRCH, f"process {pid} has ended") from None
        return threads <= set((folder / "tasks").read_text().split())

    def was_killed(self) -> bool:
        """Return True if the kernel killed a process because the group had too much memory."""
        counts = self.memory / ("memory.oom_control" if self.version == 1 else "memory.events")
        rows = dict(line.split() for line in counts.read_text().splitlines())
        return int(rows.get("oom_kill", "0")) > 0

    def remove(self, seconds: float) -> bool:
        """Remove the group once its processes have ended.

        Returns:
            True if the group was removed; False if its processes have not ended within `seconds`.
        """
        deadline = time.monotonic() + seconds
        for folder in self.folders:
            while folder.exists():
                try:
                    folder.rmdir()
                except OSError:  # the last of its processes is just being taken apart
                    if time.monotonic() >= deadline:
                        return False
                    time.sleep(0.002)
        self.release()
        return True

    def release(self) -> None:
        """Unlock the group's folders.

        Any grader may remove them from then on, once no process is left in them.
        """
        while self.locks:
            os.close(self.locks.pop())


def _lock(folder: Path) -> int | None:
    """Lock a folder of a group; return the descriptor that holds the lock.

    The result is None if another process has locked or removed the folder.
    """
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.stat()  # it may have been removed before it was locked
    except (BlockingIOError, FileNotFoundError):
        os.close(lock)
        return None
    except OSError:
        os.close(lock)
        raise
    return lock


def enter(files: Sequence[int]) -> None:
    """Move this process into control groups, if the kernel allows it.

    The process must have one thread. If the kernel refuses, the process that made the groups must move this one.

    Args:
        files: descriptors of a file of each group, `cgroup.procs` or `tasks`, open for writing; they are closed.
    """
    for file in files:
        # A thread that moves itself can neither end nor start others meanwhile, so the kernel (5.14) waits for nobody.
        with contextlib.suppress(OSError):  # it is then moved from outside
            os.write(file, b"0")
        os.close(file)


def find(mounts: str = "/proc/self/mountinfo", own: str = "/proc/self/cgroup") -> ControlGroup | None:
    """Return the control group in which this process may make groups with limits.

    With version 2 mounted at `/sys/fs/cgroup`, it is `ControlGroup(folder, folder, 2)` for this folder. Return None if
    this process may not limit memory and processes in this way.

    Args:
        mounts: a file in the format of proc_pid_mountinfo(5), with the mounts of this process.
        own: a file in the format of cgroups(7), with the groups of this process.
    """
    try:
        mounted = [line.split() for line in Path(mounts).read_text(encoding="utf-8").splitlines()]
        paths = [line.split(":", 2) for line in Path(own).read_text(encoding="utf-8").splitlines()]
    except OSError:
        return None
    folders = {}
    for words in mounted:
        kind, options = words[words.index("-") + 1], words[-1].split(",")
        for name in _CONTROLLERS:
            if kind == "cgroup" and name in options:
                # This process's own group in that tree: new ones are made below it, so that caps around us hold for
                # them.
                path = next((row[2] for row in paths if name in row[1].split(",")), "/")
                folders[name] = Path(words[4] + path.rstrip("/"))
        if kind == "cgroup2":
            folders.setdefault("", Path(words[4]))
    groups = None
    if all(name in folders for name in _CONTROLLERS):
        groups = ControlGroup(folders["memory"], folders["pids"], 1)
    elif "" in folders:
        with contextlib.suppress(OSError):
            if set(_CONTROLLERS) <= set((folders[""] / "cgroup.subtree_control").read_text().split()):
                groups = ControlGroup(folders[""], folders[""], 2)
    return groups if groups and all(os.access(path, os.W_OK) for path in (groups.memory, groups.pids)) else None
