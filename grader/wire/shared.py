"""Memory that both ends of a connection share, for timed calls. Standard library only."""

from __future__ import annotations

import mmap
import os


def make_to_map(name: str, size: int) -> int:
    """A descriptor of memory whose pages are there already, for both ends to write into; the caller owns it."""
    import fcntl  # not on every system that this module is imported on

    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.posix_fallocate(descriptor, 0, size)
    # No holder may grow or shrink it, or add further seals.
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    return descriptor


def map_shared(descriptor: int, size: int) -> memoryview:
    """Shared memory from a process that we trust."""
    if not size:  # the system refuses to map it
        return memoryview(bytearray())
    # Its pages are there already, so that a timed call does not pay for page faults.
    return memoryview(mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)))
