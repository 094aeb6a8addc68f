"""Landlock rules: read these folders, write those, execute nothing, signal nobody outside. A thin use of py-landlock.

Its high-level class builds and applies a ruleset in one go; here the ruleset is built once, ahead, and each worker only
applies it, which costs microseconds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from py_landlock import landlock_sys as system
from py_landlock.abi import get_supported_fs, get_supported_scope
from py_landlock.errors import LandlockError
from py_landlock.flags import AccessFs, Scope

_READ = AccessFs.READ_FILE | AccessFs.READ_DIR
# Device files lead past every other rule, and ioctl on a terminal types into it.
_NEVER = AccessFs.EXECUTE | AccessFs.MAKE_CHAR | AccessFs.MAKE_BLOCK | AccessFs.IOCTL_DEV
_OF_FILES = AccessFs.READ_FILE | AccessFs.WRITE_FILE | AccessFs.TRUNCATE


def abi() -> int:
    """The version of Landlock that this kernel has and lets us use, or 0."""
    try:
        return system.get_abi_version()
    except LandlockError:
        return 0


def make_ruleset(
    readable: Sequence[str],
    writable: Sequence[str],
    listed: Sequence[str] = (),
    left: Sequence[str] = (),
    *,
    scoped: bool = True,
) -> int:
    """A descriptor of rules that allow nothing but this.

    Args:
        readable: folders and files that may be read; those that are gone by now are left out.
        writable: folders in which everything may be done but executing; files that may be written.
        listed: folders of which the names of files may be read.
        left: folders from which empty folders may be removed.
        scoped: whether signals and abstract sockets reach nobody outside, either.

    Raises:
        RulesetError: the kernel refuses.
        FileNotFoundError: there is nothing of that name to write to.
    """
    # What this version of Landlock knows is refused unless allowed below; a right that it does not know is an error.
    version = system.get_abi_version()
    supported = get_supported_fs(version)
    scope = get_supported_scope(version) if scoped else Scope(0)
    rules = system.create_ruleset(system.RulesetAttr(handled_access_fs=supported, scoped=scope))
    for paths, access in (
        (readable, _READ),
        (writable, supported & ~_NEVER),
        (listed, AccessFs.READ_DIR),
        (left, AccessFs.REMOVE_DIR),
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
                system.add_rule(rules, system.PathBeneathAttr(allowed_access=allowed, parent_fd=descriptor))
            finally:
                os.close(descriptor)
    return rules


def apply(rules: int) -> None:
    """Hold this process and all its children to the rules, for ever. New privileges must be forbidden already."""
    system.restrict_self(system.RulesetFd(rules), None)
