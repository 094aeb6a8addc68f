"""The system calls that Python 3.11 has no name for, each with its error checked. Linux only."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import sys
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

OF_A_WORKER = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
"""What a worker enters, besides the process namespace, in which it must be started."""

SHARED = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
"""What of that it can share with others, if it may neither start processes nor open sockets."""

CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_KILL = 0, 1, 2, 3, 5
CAP_SYS_ADMIN = 21

MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

MOUNT_ATTR_RDONLY = 0x1
MOUNT_ATTR_NOSUID = 0x2
MOUNT_ATTR_NODEV = 0x4

_MNT_DETACH = 2
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_SYS_MOUNT_SETATTR = 442  # these are the same on every architecture
_SYS_LANDLOCK_CREATE_RULESET = 444
_SYS_LANDLOCK_ADD_RULE = 445
_SYS_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_VERSION = 1
_LANDLOCK_PATH_BENEATH = 1
_HUGE_PAGE = 2 << 20
_MADV_COLLAPSE = 25  # Linux 6.1
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_KEEPCAPS = 8
_PR_SET_SECCOMP = 22
_PR_SET_THP_DISABLE = 41
_PR_SET_NAME = 15
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
_MOST_DESCRIPTORS = 1 << 16

# Imported on every system, for its names; nothing is called elsewhere than on Linux.
_LIBC: Any = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns_fd"))


class _Ruleset(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("handled_access_fs", "handled_access_net", "scoped"))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def unshare(flags: int) -> None:
    """Enter new namespaces; see man 2 unshare.

    Raises:
        OSError: the kernel refuses.
    """
    _raise_if_failed(_LIBC.unshare(flags), "unshare")


def setns(descriptor: int, flags: int) -> None:
    """Enter namespaces of a process, by a descriptor from `os.pidfd_open`; see man 2 setns."""
    _raise_if_failed(_LIBC.setns(descriptor, flags), "setns")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system, or a folder in another place; see man 2 mount.

    Args:
        source: a device or a folder; "" for none.
        target: the folder where it appears.
        kind: the kind of the file system; "" for none.
        flags: the MS_* flags of the kernel.
        options: the options of the file system.
    """
    text = [part.encode() or None for part in (source, target, kind)]
    _raise_if_failed(_LIBC.mount(*text, ctypes.c_ulong(flags), options.encode()), f"mount {target}")


def set_mount_flags(target: str, flags: int, *, recursive: bool) -> None:
    """Add flags to a mount, keeping those that it has; see mount_setattr(2), Linux 5.12.

    Args:
        target: the folder where it is mounted.
        flags: the MOUNT_ATTR_* flags of the kernel.
        recursive: True if mounts below it get them, too.
    """
    attributes = _MountAttributes(set=flags)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    at = _AT_RECURSIVE if recursive else 0
    done = _LIBC.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, target.encode(), at, ctypes.byref(attributes), size)
    _raise_if_failed(done, f"mount_setattr {target}")


def enter_root(folder: str) -> None:
    """Make a mounted folder the root of this mount namespace; see pivot_root(2).

    The old root is unmounted.
    """
    os.chdir(folder)
    # Onto itself: the old root then lies above the new one, and can be taken off without a folder to put it in.
    _raise_if_failed(_LIBC.pivot_root(b".", b"."), "pivot_root")
    _raise_if_failed(_LIBC.umount2(b".", _MNT_DETACH), "umount2")
    os.chdir("/")


def map_user(proc: int, inside: int, outside: int, group_outside: int) -> None:
    """Map a user and a group from outside into the user namespace of this process.

    After `map_user(proc, 1000, 0, 0)`, root of the namespace around it is user 1000 inside.

    Args:
        proc: a descriptor of a proc file system's folder, as our own root may lack /proc.
        inside: the number of both the user and the group inside the namespace.
        outside: the number of the user in the namespace around it.
        group_outside: the number of the group in the namespace around it.
    """
    # An unprivileged process must give up `setgroups` before it may map a group.
    maps = {"uid_map": f"{inside} {outside} 1", "gid_map": f"{inside} {group_outside} 1"}
    for name, text in {"setgroups": "deny", **maps}.items():
        descriptor = os.open(f"self/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
        try:
            os.write(descriptor, text.encode())
        except OSError as error:  # root without CAP_SETFCAP cannot map itself, for one; see man 7 user_namespaces
            raise OSError(error.errno, f"writing {text!r} to {name}: {error.strerror}") from None
        finally:
            os.close(descriptor)


def collapse_pages(proc: int | None) -> None:
    """Move the memory that was written so far into huge pages.

    A fork then copies fewer entries of page tables.

    Args:
        proc: a descriptor of a proc file system's folder; without it, /proc is read.
    """
    maps = os.open("self/maps" if proc is not None else "/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    with open(maps, encoding="ascii", errors="replace") as file:
        rows = [line.split() for line in file]
    for place, rights, *_, last in rows:
        if rights == "rw-p" and (last == "0" or last == "[heap]"):  # no file's: then its inode is the last word
            start, end = (int(text, 16) for text in place.split("-"))
            # Page by page: what cannot be had (an older kernel, no memory in one piece) stays as it is.
            for at in range(-(-start // _HUGE_PAGE) * _HUGE_PAGE, end - _HUGE_PAGE + 1, _HUGE_PAGE):
                _LIBC.madvise(ctypes.c_void_p(at), ctypes.c_size_t(_HUGE_PAGE), _MADV_COLLAPSE)


def disable_huge_pages() -> None:
    """Disable new huge pages, so that a write after a fork does not copy 2 MB.

    Inherited huge pages stay. See PR_SET_THP_DISABLE in prctl(2).
    """
    with contextlib.suppress(OSError):  # a kernel without huge pages
        _prctl(_PR_SET_THP_DISABLE, 1)


def set_name(name: str) -> None:
    """Set the name under which `ps` lists this process, of at most 15 letters."""
    buffer = ctypes.create_string_buffer(name.encode("ascii"))
    _prctl(_PR_SET_NAME, ctypes.addressof(buffer))


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends.

    A change of user undoes this.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def forbid_new_privileges() -> None:
    """Ensure that no program that is executed gains privileges."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def forbid_tracing() -> None:
    """Forbid core files of this process, and tracing without privileges.

    Without privileges, no other process can then read its memory.
    """
    _prctl(_PR_SET_DUMPABLE, 0)


def change_user(user: int) -> None:
    """Change from root to another user and group.

    Only the right to make namespaces (CAP_SYS_ADMIN) is kept.
    """
    _prctl(_PR_SET_KEEPCAPS, 1)
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _set_capabilities(1 << CAP_SYS_ADMIN)
    take_back_proc_files()


def take_back_proc_files() -> None:
    """Make this process the owner of its files in /proc again.

    After a change of user, the process does not own them. The user map is one of them.
    """
    _prctl(_PR_SET_DUMPABLE, 1)


def drop_capabilities() -> None:
    """Give up all capabilities, for ever; see capset(2)."""
    _set_capabilities(0)


def keep_capabilities(*kept: int) -> None:
    """Give up all capabilities of this process except `kept`, for ever; see capset(2)."""
    header, words = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    _raise_if_failed(_LIBC.capget(ctypes.byref(header), ctypes.byref(words)), "capget")
    bits = sum(1 << number for number in kept)
    for at in range(len(words)):  # effective, permitted and inheritable ones: 32 of each, then 32 more
        words[at] &= bits >> 32 * (at // 3) & 0xFFFFFFFF
    _raise_if_failed(_LIBC.capset(ctypes.byref(header), ctypes.byref(words)), "capset")


def _set_capabilities(bits: int) -> None:
    header, effective_and_permitted = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)(bits, bits)
    _raise_if_failed(_LIBC.capset(ctypes.byref(header), ctypes.byref(effective_and_permitted)), "capset")


def filter_system_calls(program: bytes) -> None:
    """Load a seccomp filter, given as an array of `struct sock_filter`; see seccomp(2)."""
    loaded = _FilterProgram(len(program) // 8, program)
    _raise_if_failed(_LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(loaded)), "prctl PR_SET_SECCOMP")


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has; see landlock_create_ruleset(2).

    Raises:
        OSError: the kernel does not have Landlock, or refuses.
    """
    version: int = _LIBC.syscall(_SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    _raise_if_failed(version, "landlock_create_ruleset")
    return version


def landlock_create_ruleset(files: int, scopes: int) -> int:
    """Make a Landlock ruleset without a rule, and return its descriptor.

    Args:
        files: the LANDLOCK_ACCESS_FS_* flags of the rights that are refused unless a rule allows them.
        scopes: the LANDLOCK_SCOPE_* flags of the kernel.
    """
    # Zeros at the end are what an older kernel, which knows fewer fields, takes for their absence.
    attributes = _Ruleset(handled_access_fs=files, scoped=scopes)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    descriptor: int = _LIBC.syscall(_SYS_LANDLOCK_CREATE_RULESET, ctypes.byref(attributes), size, 0)
    _raise_if_failed(descriptor, "landlock_create_ruleset")
    return descriptor


def landlock_allow_beneath(ruleset: int, descriptor: int, rights: int) -> None:
    """Allow rights on a file, or beneath a folder, in a ruleset; see landlock_add_rule(2).

    Args:
        ruleset: the descriptor of the ruleset.
        descriptor: the descriptor of the file or the folder.
        rights: the LANDLOCK_ACCESS_FS_* flags of the kernel.
    """
    rule = _PathBeneath(allowed_access=rights, parent_fd=descriptor)
    done = _LIBC.syscall(_SYS_LANDLOCK_ADD_RULE, ruleset, _LANDLOCK_PATH_BENEATH, ctypes.byref(rule), 0)
    _raise_if_failed(done, "landlock_add_rule")


def landlock_restrict_self(ruleset: int) -> None:
    """Restrict this thread, and what it starts, to what a ruleset allows, for ever."""
    _raise_if_failed(_LIBC.syscall(_SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")


def close_all_but(*wanted: int) -> None:
    """Close every descriptor from 3 on, except those in `wanted`."""
    # The gaps between those that are kept; 0, 1 and 2 are each caller's own affair.
    start = 3
    for descriptor in sorted(wanted):
        os.closerange(start, descriptor)
        start = max(start, descriptor + 1)
    os.closerange(start, _MOST_DESCRIPTORS)


def _prctl(option: int, value: int) -> None:
    # As longs, all of them: the kernel looks at the whole of each, and refuses what is not 0 where it knows no meaning.
    rest = (ctypes.c_ulong(number) for number in (value, 0, 0, 0))
    _raise_if_failed(_LIBC.prctl(option, *rest), f"prctl {option}")


def _raise_if_failed(returned: int, what: str) -> None:
    if returned == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {errno.errorcode.get(number, number)}, {os.strerror(number)}")
