"""What the system-call filters of the package refuse; builds them, with pyseccomp (of the extra `dev`).

`python tests/sandbox/filters.py` writes them; a test compares.
"""

from __future__ import annotations

import errno
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

from grader.sandbox.seccomp import FILTERS

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
    timer_create
"""
"""Refused at every level.

The two lines before the last, with `_advice`, are about files that all workers read, such as the packages: who can
drop their pages, ask which are there, or get notice that somebody else reads them, can pass bits on without a file of
his own. The last one could wake up a process that is stopped while others are timed; Python's own timers cannot.
"""

_WITHOUT_A_ROOT = """
    chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes futimesat utimensat
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat
    socket socketpair connect bind listen accept accept4 sendto
    setsid setpgid tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal pidfd_open prlimit64
    sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set
"""
"""Refused where no namespaces keep these to the worker itself. Landlock does not cover them."""

_OF_OTHERS = """
    tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal get_robust_list capget
    setpriority ioprio_set ioprio_get sched_setaffinity
"""
"""Refused where other workers have numbers in the same process namespace: they would be seen, or disturbed.

`kill` and `tgkill` are left to `seccomp.signals_to_itself_only`.
"""

_OF_ITSELF = """
    getpgid getsid prlimit64 sched_getscheduler sched_setscheduler sched_getparam sched_setparam sched_getattr
    sched_setattr sched_rr_get_interval
"""
"""There let through for the process 0 alone, which is the caller."""

_CLOCKS = ("clock_gettime", "clock_getres", "clock_nanosleep")
_CLOCK_OF_A_PROCESS = 0x80000000  # its number is negative
_FUTEX_COMMAND = 0x7F
_FUTEXES_WITH_OWNERS = (6, 8, 11, 12, 13)  # FUTEX_LOCK_PI and its kind name a thread by its number

# The flags of `clone` that make namespaces. In one of its own a process is root, and reaches much more of the kernel.
_NAMESPACES = (0x80, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_CLONE_THREAD = 0x00010000
_FAMILIES = {1, 2, 10, 16}  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: kept to the worker's own network namespace
_LAST_FAMILY = 64
_NETLINK = 16
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_PAGES_OF_FILES = (20, 21, 25)  # MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE; honest allocators ask for none of them
_WATCHES = (1024, 1026)  # F_SETLEASE, F_NOTIFY
_SIGNALS_BY_FILES = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX: the kernel would signal another process for it
_OWNERS_OF_SOCKETS = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP


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
    for command in (*_TERMINAL_INPUT, *_OWNERS_OF_SOCKETS):
        yield errno.EPERM, "ioctl", [(1, "MASKED_EQ", 0xFFFFFFFF, command)]
    for family in set(range(_LAST_FAMILY)) - _FAMILIES:
        yield errno.EAFNOSUPPORT, "socket", [(0, "MASKED_EQ", 0xFFFFFFFF, family)]
    yield errno.EAFNOSUPPORT, "socket", [(0, "GE", _LAST_FAMILY, 0)]
    yield errno.EAFNOSUPPORT, "socket", [(0, "MASKED_EQ", 0xFFFFFFFF, _NETLINK), (2, "NE", 0, 0)]


def _advice() -> Iterator[_Rule]:
    """Rules on calls that honest code needs, though not in this way; see `_OUT_OF_BOUNDS`."""
    for advice in _PAGES_OF_FILES:
        yield errno.EPERM, "madvise", [(2, "MASKED_EQ", 0xFFFFFFFF, advice)]
    for command in (*_WATCHES, *_SIGNALS_BY_FILES):
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
    for name in _OF_OTHERS.split():
        yield errno.EPERM, name, []
    for name in _OF_ITSELF.split():
        yield errno.EPERM, name, [(0, "NE", 0, 0)]
    yield errno.EPERM, "getpriority", [(1, "NE", 0, 0)]
    # Not EPERM: libc asks for each of its own threads, and goes on where there is no such call.
    yield errno.ENOSYS, "sched_getaffinity", [(0, "NE", 0, 0)]
    for name in _CLOCKS:
        yield errno.EINVAL, name, [(0, "MASKED_EQ", _CLOCK_OF_A_PROCESS, _CLOCK_OF_A_PROCESS)]
    for command in _FUTEXES_WITH_OWNERS:
        yield errno.ENOSYS, "futex", [(1, "MASKED_EQ", _FUTEX_COMMAND, command)]


def _rootless() -> Iterator[_Rule]:
    """Rules for a worker without namespaces."""
    for name in _WITHOUT_A_ROOT.split():
        yield errno.EPERM, name, []


_SOCKETS_OF_OTHERS = """
    ptrace process_vm_readv process_vm_writev pidfd_getfd
    io_uring_setup io_uring_enter io_uring_register
    keyctl add_key request_key
"""
"""Refused in a check process: taking over what another process has open, calling the kernel past a filter, keyrings."""

_SOCKET_KIND = 0xF
_DATAGRAMS = (2, 3)  # SOCK_DGRAM, and SOCK_RAW, which is the same to a Unix socket: each message may name its receiver


def _check() -> Iterator[_Rule]:
    """Rules for a check process: it keeps the sockets that the host gave it, and pairs of its own.

    EACCES, which Landlock gives as well: programs that look for a daemon go on without it.
    """
    for name in ("socket", "connect"):
        yield errno.EACCES, name, []
    for kind in _DATAGRAMS:
        yield errno.EACCES, "socketpair", [(1, "MASKED_EQ", _SOCKET_KIND, kind)]
    for name in _SOCKETS_OF_OTHERS.split():
        yield errno.EPERM, name, []


RULES = {"base": _base, "alone": _alone, "rootless": _rootless, "check": _check}

ARCHITECTURES = {"x86_64": "X86_64", "aarch64": "AARCH64"}

NEWEST_CALL = 456
"""Numbers above belong to kernels that are newer than the rules: the filters say that there is no such call."""

UNKNOWN = -1
"""What libseccomp says of a name that it has never heard; of one that this architecture lacks it says less."""

NOT_YET = {"open_tree_attr", "statmount", "listmount", "lsm_set_self_attr", "setxattrat", "removexattrat"}
"""Refused by their numbers alone, which lie above `NEWEST_CALL`; libseccomp may not know them yet."""


def build(name: str, architecture: str) -> bytes:
    """One filter, as an array of `struct sock_filter`. Needs pyseccomp and libseccomp.

    Args:
        name: of `RULES`.
        architecture: of `ARCHITECTURES`.

    Raises:
        ValueError: libseccomp is older than a call that is to be refused.
    """
    import pyseccomp as seccomp

    machine = getattr(seccomp.Arch, ARCHITECTURES[architecture])
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    if machine != seccomp.system_arch():
        rules.add_arch(machine)
        rules.remove_arch(seccomp.system_arch())
    # A processor of 64 bits also takes calls of 32, under other numbers, which these rules do not mean.
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    for number, call, conditions in RULES[name]():
        known = seccomp.resolve_syscall(machine, call)
        if known == UNKNOWN and call not in NOT_YET:  # left out in silence, it would be let through
            raise ValueError(f"this libseccomp does not know {call}; build the filters with a later one")
        if known < 0:  # this architecture has no such call
            continue
        args = [seccomp.Arg(arg, getattr(seccomp, how), *values) for arg, how, *values in conditions]
        rules.add_rule_exactly(seccomp.ERRNO(number), seccomp.resolve_syscall(seccomp.system_arch(), call), *args)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return _refuse_newer_calls() + file.read()


def _refuse_newer_calls() -> bytes:
    def instruction(code: int, if_true: int, if_false: int, value: int) -> bytes:
        return struct.pack("HBBI", code, if_true, if_false, value)

    load_number, jump_if_greater, give = 0x20, 0x25, 0x06
    return (
        instruction(load_number, 0, 0, 0)
        + instruction(jump_if_greater, 0, 1, NEWEST_CALL)
        + instruction(give, 0, 0, 0x00050000 | errno.ENOSYS)
    )


def files() -> dict[Path, tuple[str, str]]:
    """The path of every filter, with what builds it."""
    return {
        FILTERS / f"{name}.{architecture}.bpf": (name, architecture) for name in RULES for architecture in ARCHITECTURES
    }


def main() -> None:
    """Write all filters."""
    FILTERS.mkdir(exist_ok=True)
    for path, what in files().items():
        path.write_bytes(build(*what))


if __name__ == "__main__":
    main()
