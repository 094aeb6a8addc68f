"""What a worker gives up before student code runs: the whole of the confinement, on this page.

`Full` needs the root that `launch` built. `Reduced` is for machines where there can be none: it hides what is in files
and forbids the network, new processes and signals, but does not hide that files exist. `Sandbox` itself is the level
`none`: a process with limits. A step that fails raises, and the worker that meets it ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence

from grader.sandbox import kernel, seccomp
from grader.sandbox.clock import memory_of_trees, pid_in_proc
from grader.sandbox.namespaces import Namespaces, fork_into, open_namespaces
from grader.sandbox.start_messages import WorkerLimits
from grader.sandbox.view import DEVICES, PRIVATE_PARENT, WORK

if sys.platform == "linux":
    from grader.sandbox import landlock
if sys.platform != "win32":
    import resource

_OPEN_FILES = 256
_MIB = 1 << 20


class Sandbox:
    """The level `none`: limits, and nothing else. The worker server makes it before it forks any worker."""

    def __init__(self, proc: int | None = None) -> None:
        self._seen_in = proc
        self._memory = address_space_of_self(proc)
        self._tasks = tasks_of_user()

    def fork(self, *, starts_processes: bool = False) -> int:
        """Fork a worker; return its pid in the parent, and 0 in the child.

        The child must call `give_up_rights` next.

        Args:
            starts_processes: True if the worker may start processes.

        Raises:
            OSError: the system refuses a process or namespaces, at the moment.
        """
        del starts_processes
        return os.fork()

    def open_peak_reset(self) -> list[int]:
        """Open, in the child, the file of /proc that resets the child's peak of memory.

        Later an ordinary user could not open it: for the kernel, the process is still what it was when its program was
        started, outside of the namespaces.

        Returns:
            A list with the descriptor; an empty list if the file cannot be opened.
        """
        if sys.platform != "linux":
            return []
        kernel.take_back_proc_files()
        with contextlib.suppress(OSError):  # some containers hide these files
            path = "self/clear_refs" if self._seen_in is not None else "/proc/self/clear_refs"
            return [os.open(path, os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._seen_in)]
        return []

    def give_up_rights(self) -> None:
        """Give up, in the child, the rights that no worker needs.

        The worker's submission and limits are not known at this time.

        At the level `none`: begin a session of its own, which ends with the server.
        """
        if os.name == "posix" and os.getsid(0) != os.getpid():
            os.setsid()
        if sys.platform == "linux":
            kernel.die_with_parent()

    def confine(self, limits: WorkerLimits, folder: str) -> str:
        """Give up, in the child, the rights that remain; return the worker's working folder.

        The worker's limits are known at this time.

        At the level `none`: set the limits, and change to the empty folder `folder`.
        """
        _enter_working_folder(folder)
        limit_resources(limits, self._memory, self._tasks)
        return folder

    def memory_of(self, pid: int, allowed: int) -> int:
        """Return the bytes of memory of a worker, together with the processes it started.

        The result is 0 if they are not known, as at the levels `none` and `reduced`.

        Args:
            pid: the pid of the worker.
            allowed: the bytes that are allowed; the result is exact if it is above them.
        """
        del pid, allowed
        return 0

    def end(self, pid: int) -> None:
        """End a worker and all processes that it started.

        The worker itself may have ended already.

        At the levels `none` and `reduced`: end its session. A process that has left the session goes on.
        """
        # A worker that was just forked may not have made its session yet, so it is also ended by itself.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)


class Reduced(Sandbox):
    """The level `reduced`: Landlock and system-call filters, which need no privilege."""

    def __init__(self, readable: Sequence[str], listed: Sequence[str] = ()) -> None:
        super().__init__()
        self._readable, self._listed = readable, listed
        self._devices = [f"/dev/{name}" for name in DEVICES]
        self._filters = seccomp.load("base", "rootless")
        self._alone = seccomp.load("alone")

    def give_up_rights(self) -> None:
        """Begin a session of its own, and give up capabilities and the means to gain new ones."""
        super().give_up_rights()
        _give_up_privileges()

    def confine(self, limits: WorkerLimits, folder: str) -> str:
        """Set limits, forbid new processes, and limit the usable files; return `folder`.

        Files of the interpreter and those in `folder` stay usable.
        """
        super().confine(limits, folder)
        # Landlock first, the filters last: they hold for every step after them.
        rules = landlock.make_ruleset(self._readable, [folder, *self._devices], self._listed)
        landlock.apply(rules)
        os.close(rules)
        seccomp.apply([*self._filters, *self._alone, seccomp.signals_to_itself_only(os.getpid())])
        return folder


class Full(Sandbox):
    """The level `full`: namespaces, a root of their own, Landlock where the kernel has it, system-call filters.

    Args:
        proc: a descriptor of a proc file system, to measure and to map users with.
    """

    def __init__(self, proc: int) -> None:
        super().__init__(proc)
        self._proc = proc
        self._here = os.pidfd_open(os.getpid())
        self._shared: Namespaces | None = None
        self._namespaces_of: dict[int, Namespaces] = {}
        self._ended: list[int] = []
        self._starts_processes = False
        self._filters = seccomp.load("base")
        self._alone = seccomp.load("alone")
        writable = [PRIVATE_PARENT, *(f"/dev/{name}" for name in DEVICES)]
        # Built once, here; a worker inherits the descriptor and applies it in one call.
        self._rules = landlock.make_ruleset(["/"], writable) if landlock.abi() else None

    def fork(self, *, starts_processes: bool = False) -> int:
        """Fork a worker into shared namespaces, or into its own if it may start processes."""
        self._ended = [pid for pid in self._ended if os.waitpid(pid, os.WNOHANG) == (0, 0)]
        if starts_processes or self._shared is None:
            namespaces = open_namespaces(self._proc, self._here, private=starts_processes)
        else:
            namespaces = self._shared
        if not starts_processes:
            self._shared = namespaces
        try:
            pid = fork_into(namespaces, self._proc, self._here)
        except OSError:
            # Whatever it was: the next one gets new ones, unless other workers are at work in these. With the process
            # that holds them, those have ended, too.
            if starts_processes or _has_ended(namespaces.pidfd):
                self._close(namespaces)
            raise
        self._starts_processes = starts_processes
        if starts_processes:
            self._namespaces_of[pid] = namespaces
        return pid

    def give_up_rights(self) -> None:
        """Begin a session of its own, and give up privileges, files and system calls.

        The files of the interpreter, and the worker's private files, stay usable.
        """
        os.setsid()
        # In its own user namespace it had all rights; no step from here on needs them.
        _give_up_privileges()
        if self._starts_processes:
            # The server counts its memory. Nobody else is in its namespaces, and no filter lets it trace anybody.
            kernel.take_back_proc_files()
        _enter_working_folder(WORK)
        if self._rules is not None:
            landlock.apply(self._rules)
        seccomp.apply(self._filters)

    def confine(self, limits: WorkerLimits, folder: str) -> str:
        """Set limits, and return the working folder.

        If the worker may not start processes, forbid new processes, sockets, and signals to other processes.

        Raises:
            OSError: the kernel refuses, or the worker may start processes and shares its namespaces.
        """
        del folder
        if not self._starts_processes and limits.processes > 1:
            raise OSError("a worker that may start processes needs namespaces of its own")
        limit_resources(limits, self._memory, tasks=1)  # the holder of its namespaces
        if not self._starts_processes:
            seccomp.apply([*self._alone, seccomp.signals_to_itself_only(os.getpid())])
        return WORK

    def memory_of(self, pid: int, allowed: int) -> int:
        """Return the bytes of memory of a worker, together with the processes it started.

        The result is 0 for a worker that may not start processes: its own limit suffices.
        """
        if (namespaces := self._namespaces_of.get(pid)) is None:
            return 0
        roots = [pid_in_proc(self._proc, each) for each in (pid, namespaces.holder)]
        return memory_of_trees(self._proc, roots, allowed)

    def end(self, pid: int) -> None:
        """End a worker and all processes that it started.

        These end with the process that holds the worker's own namespaces, which is killed.
        """
        super().end(pid)
        if namespaces := self._namespaces_of.pop(pid, None):
            self._close(namespaces)

    def _close(self, namespaces: Namespaces) -> None:
        """Kill the process that holds namespaces, and with it all processes in them."""
        os.kill(namespaces.holder, signal.SIGKILL)
        os.close(namespaces.pidfd)
        # Not waited for: it is there until all that it held were reaped, those by this process, too.
        self._ended.append(namespaces.holder)
        if namespaces is self._shared:
            self._shared = None


def _has_ended(pidfd: int) -> bool:
    """Return whether a child of this process has ended; do not reap it."""
    return os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _give_up_privileges() -> None:
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.forbid_tracing()
    kernel.die_with_parent()


def _enter_working_folder(folder: str) -> None:
    os.chdir(folder)
    for name in ("HOME", "TMPDIR", "TEMP", "TMP"):
        os.environ[name] = folder


# -- limits of the kernel on one process, see setrlimit(2) ------------------------------------------------------------


def limit_resources(limits: WorkerLimits, address_space: int = 0, tasks: int = 0) -> None:
    """Set the kernel's limits on this process, for ever.

    Args:
        limits: the limits of the worker.
        address_space: the bytes of address space that an idle worker has already.
        tasks: the number of other threads that the kernel counts together with the worker's.

    Raises:
        OSError: the kernel refuses.
    """
    if sys.platform == "win32":  # no such limits there; the lane's deadlines still hold
        return
    # Soft and hard alike, so that student code cannot raise them again.
    hard = {
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_FSIZE: limits.file_mb * _MIB,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform == "linux":  # macOS does not enforce the first, and does not count for the second as we do
        hard[resource.RLIMIT_AS] = address_space + limits.memory_mb * _MIB
        hard[resource.RLIMIT_NPROC] = tasks + limits.tasks
        hard[resource.RLIMIT_MEMLOCK] = 0
        hard[resource.RLIMIT_MSGQUEUE] = 0
        hard[resource.RLIMIT_RTPRIO] = 0
    # A machine may allow less than this limit; to raise that takes rights that we do not have.
    for what, limit in hard.items():
        _, ceiling = resource.getrlimit(what)
        allowed = limit if ceiling == resource.RLIM_INFINITY else min(limit, ceiling)
        resource.setrlimit(what, (allowed, allowed))


def address_space_of_self(proc: int | None = None) -> int:
    """Return the bytes of address space of this process; 0 if not on Linux.

    A worker's limit is this number and what its exercise allows.

    Args:
        proc: a descriptor of a proc file system's folder; without it, /proc is read.
    """
    try:
        descriptor = os.open("/proc/self/statm" if proc is None else "self/statm", os.O_RDONLY, dir_fd=proc)
    except FileNotFoundError:
        return 0  # not Linux
    with os.fdopen(descriptor, encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def tasks_of_user() -> int:
    """Return the number of threads of this user on the whole machine.

    The kernel limits all of them together. So at the levels `none` and `reduced`, a worker's limit is this number and
    what the worker may start. Processes that /proc hides are not counted.
    """
    count = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdecimal():
            try:
                if os.stat(f"/proc/{name}").st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:  # it ended meanwhile
                continue
    return count
