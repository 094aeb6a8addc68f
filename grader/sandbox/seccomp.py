"""System-call filters: what they refuse, and how they are applied.

The files in `filters/` are built from these rules ahead, so that a worker loads one in microseconds and no machine that
grades needs libseccomp: `python tests/sandbox/filters.py` writes them again, and a test compares. What is
refused gives an error number, not death, so that honest code which merely tries it gets an exception.
"""

from __future__ import annotations

import errno
import platform
from collections.abc import Iterator
from pathlib import Path

from grader.sandbox.kernel import filter_system_calls

FILTERS = Path(__file__).with_name("filters")
_OUT_OF_BOUNDS = """
    ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp
    mount umount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree open_tree_attr
    mount_setattr statmount listmount unshare setns
    execve execveat uselib
    bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register
    keyctl add_key request_key lsm_set_self_attr memfd_secret memfd_create
    kexec_load kexec_file_load init_module finit_module delete_module create_module reboot swapon swapoff acct syslog
    settimeofday stime clock_settime clock_settime64 clock_adjtime clock_adjtime64 adjtimex quotactl quotactl_fd
    iopl ioperm modify_ldt vm86 vm86old personality vhangup sethostname setdomainname lookup_dcookie nfsservctl
    open_by_handle_at name_to_handle_at fanotify_init fanotify_mark mknod mknodat
    shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl ipc
    mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    migrate_pages move_pages mbind set_mempolicy set_mempolicy_home_node
    setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid
    fadvise64 readahead mincore cachestat io_setup io_submit io_getevents io_pgetevents io_cancel io_destroy
    inotify_init inotify_init1 inotify_add_watch
"""
"""Refused at every level.

The last two lines, with `_advice`, are about files that all workers read, such as the packages: who can drop their
pages, ask which are there, or get notice that somebody else reads them, can pass bits on without a file of his own.
"""

_WITHOUT_A_ROOT = """
    chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes futimesat utimensat
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat
    socket socketpair connect bind listen accept accept4 sendto
    setsid setpgid kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal pidfd_open prlimit64
    sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set
"""
"""Refused where no namespaces keep these to the worker itself. Landlock does not cover them."""

# The flags of `clone` that make namespaces. In one of its own a process is root, and reaches much more of the kernel.
_NAMESPACES = (0x80, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_CLONE_THREAD = 0x00010000
_FAMILIES = {1, 2, 10, 16}  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: kept to the worker's own network namespace
_LAST_FAMILY = 64
_NETLINK = 16
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_PAGES_OF_FILES = (20, 21, 25)  # MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE; honest allocators ask for none of them
_WATCHES = (1024, 1026)  # F_SETLEASE, F_NOTIFY


_Rule = tuple[int, str, list[tuple[int, str, int, int]]]
"""Error number, system call, conditions: argument, comparison, two values."""


def _base() -> Iterator[_Rule]:
    """Rules for every worker."""
    for name in _OUT_OF_BOUNDS.split():
        yield errno.EPERM, name, []
    yield errno.ENOSYS, "clone3", []  # its flags lie in memory, where no filter can look; libc falls back to clone
    yield errno.ENOSYS, "openat2", []  # likewise; one flag shows whether a name was looked up before
    for flag in _NAMESPACES:
        yield errno.EPERM, "clone", [(0, "MASKED_EQ", flag, flag)]
    yield from _advice()
    # The kernel looks at the lower half of these arguments. A rule on the whole could be passed by with a bit above.
    for command in _TERMINAL_INPUT:
        yield errno.EPERM, "ioctl", [(1, "MASKED_EQ", 0xFFFFFFFF, command)]
    for family in set(range(_LAST_FAMILY)) - _FAMILIES:
        yield errno.EAFNOSUPPORT, "socket", [(0, "MASKED_EQ", 0xFFFFFFFF, family)]
    yield errno.EAFNOSUPPORT, "socket", [(0, "GE", _LAST_FAMILY, 0)]
    yield errno.EAFNOSUPPORT, "socket", [(0, "MASKED_EQ", 0xFFFFFFFF, _NETLINK), (2, "NE", 0, 0)]


def _advice() -> Iterator[_Rule]:
    """Rules on calls that honest code needs, though not in this way; see `_OUT_OF_BOUNDS`."""
    for advice in _PAGES_OF_FILES:
        yield errno.EPERM, "madvise", [(2, "MASKED_EQ", 0xFFFFFFFF, advice)]
    for command in _WATCHES:
        yield errno.EPERM, "fcntl", [(1, "MASKED_EQ", 0xFFFFFFFF, command)]
    # Python's `os.preadv` comes here with no flag. With one, a read shows whether the pages were there, or drops them.
    for name in ("preadv2", "pwritev2"):
        yield errno.EOPNOTSUPP, name, [(5, "NE", 0, 0)]


def _alone() -> Iterator[_Rule]:
    """Rules for a worker that may have threads, but neither child processes nor sockets, by which these would talk."""
    # EAGAIN, as where a limit on processes is met: Python raises that as an error that programs know.
    for name in ("fork", "vfork"):
        yield errno.EAGAIN, name, []
    yield errno.EAGAIN, "clone", [(0, "MASKED_EQ", _CLONE_THREAD, 0)]
    yield errno.EPERM, "socket", []


def _rootless() -> Iterator[_Rule]:
    """Rules for a worker without namespaces."""
    for name in _WITHOUT_A_ROOT.split():
        yield errno.EPERM, name, []


RULES = {"base": _base, "alone": _alone, "rootless": _rootless}


def load(*names: str) -> list[bytes]:
    """Read filters of this machine's architecture, to be applied later, where files can be read no more.

    Raises:
        OSError: this architecture has no filters.
    """
    return [(FILTERS / f"{name}.{platform.machine()}.bpf").read_bytes() for name in names]


def apply(programs: list[bytes]) -> None:
    """Refuse these system calls in this process and all its children, for ever."""
    # Filters add up: the strictest answer of all counts, so their order does not matter.
    for program in programs:
        filter_system_calls(program)
