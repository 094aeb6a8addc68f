"""Landlock rules: read these folders, write those, execute nothing, signal nobody outside. See landlock(7).

A ruleset is built once, ahead, and each worker only applies it, which costs microseconds.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from enum import IntFlag

from grader.sandbox import kernel


class _Files(IntFlag):
    """Rights on files, as `struct landlock_ruleset_attr` numbers them."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15
    RESOLVE_UNIX = 1 << 16


UNIX_SOCKETS_SINCE = 9
"""The version of Landlock, of Linux 7.1, that keeps a process from sockets in folders."""

_SINCE = {_Files.REFER: 2, _Files.TRUNCATE: 3, _Files.IOCTL_DEV: 5, _Files.RESOLVE_UNIX: UNIX_SOCKETS_SINCE}
"""The versions of Landlock that brought a right; the first one has all others."""

_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_SCOPES_SINCE = 6

_READ = _Files.READ_FILE | _Files.READ_DIR
# Device files lead past every other rule, ioctl on a terminal types into it, and a socket in a folder may be that of a
# session bus. Sockets that a process made under these rules stay within its reach.
_NEVER = _Files.EXECUTE | _Files.MAKE_CHAR | _Files.MAKE_BLOCK | _Files.IOCTL_DEV | _Files.RESOLVE_UNIX
_OF_FILES = _Files.READ_FILE | _Files.WRITE_FILE | _Files.TRUNCATE


def abi() -> int:
    """Return the version of Landlock that this kernel has and lets us use; 0 without Landlock.

    Raises:
        OSError: the kernel fails for another reason.
    """
    try:
        return kernel.landlock_version()
    except OSError as error:
        # No such call, switched off at boot, or refused by the filter of a container.
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            return 0
        raise


def make_ruleset(
    readable: Sequence[str],
    writable: Sequence[str],
    listed: Sequence[str] = (),
    left: Sequence[str] = (),
    *,
    scoped: bool = True,
) -> int:
    """Make a Landlock ruleset that allows only these uses of files, and return its descriptor.

    Args:
        readable: folders and files that may be read; those that do not exist any more are left out.
        writable: folders in which all is allowed but to execute files; files that may be written.
        listed: folders of which the names of files may be read.
        left: folders from which empty folders may be removed.
        scoped: True if signals to processes outside, and their abstract sockets, are forbidden, too.

    Raises:
        OSError: the kernel refuses.
        FileNotFoundError: a path other than a readable one does not exist.
    """
    # What this version of Landlock knows is refused unless allowed below; a right that it does not know is an error.
    version = kernel.landlock_version()
    supported = _Files(sum(right for right in _Files if _SINCE.get(right, 1) <= version))
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if scoped and version >= _SCOPES_SINCE else 0
    rules = kernel.landlock_create_ruleset(supported, scopes)
    for paths, access in (
        (readable, _READ),
        (writable, supported & ~_NEVER),
        (listed, _Files.READ_DIR),
        (left, _Files.REMOVE_DIR),
    ):
        for path in paths:
            try:
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                if paths is readable:
                    continue
                raise
            try:
                # The kernel refuses a rule that gives a file rights which only folders have.
                allowed = access if os.path.isdir(path) else access & _OF_FILES
                kernel.landlock_allow_beneath(rules, descriptor, allowed & supported)
            finally:
                os.close(descriptor)
    return rules


def apply(rules: int) -> None:
    """Restrict this process and all its children to a ruleset, for ever.

    New privileges must be forbidden already.

    Args:
        rules: the descriptor of the ruleset, as `make_ruleset` returns it.
    """
    kernel.landlock_restrict_self(rules)
