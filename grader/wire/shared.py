"""Memory that travels as a descriptor. Standard library only."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Sequence

from grader.wire.bounds import ProtocolFault


def make_shared(data: Sequence[bytes | memoryview]) -> int | None:
    """A descriptor of memory that holds all parts; None where none of that size may be made."""
    descriptor = os.memfd_create("block", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        for part in data:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
    except OSError:  # a file limit: the bytes go through the socket instead
        os.close(descriptor)
        return None
    seal(descriptor, writable=False)
    return descriptor


def make_to_map(name: str, size: int) -> int:
    """A descriptor of memory whose pages are there already, for both ends to write into; the caller owns it."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.posix_fallocate(descriptor, 0, size)
    seal(descriptor, writable=True)
    return descriptor


def seal(descriptor: int, *, writable: bool) -> None:
    """Forbid everybody who holds it to grow or shrink this memory, to write into it, and to add further seals."""
    import fcntl  # not on every system that this module is imported on

    seals = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals if writable else seals | fcntl.F_SEAL_WRITE)


def check_shared(descriptor: int, size: int) -> None:
    """Refuse a descriptor that is not memory of that size: a read of anything else could wait for ever."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size < size:
        raise ProtocolFault("shared memory is shorter than announced, or something else")


def read_shared(descriptor: int, view: memoryview) -> None:
    """Copy shared memory. Read, never mapped: the sender could shorten it under a mapping and kill us."""
    done = 0
    while done < len(view):
        try:
            count = os.preadv(descriptor, [view[done:]], done)
        except OSError as error:
            raise ProtocolFault(f"shared memory cannot be read: {error}") from None
        # It was long enough when it was checked. The sender still holds it, and may have shortened it since.
        if count == 0:
            raise ProtocolFault("shared memory is shorter than announced")
        done += count


def map_shared(descriptor: int, size: int) -> memoryview:
    """Shared memory itself, its pages present already where the system can see to that."""
    if not size:  # which the system refuses to map
        return memoryview(bytearray())
    # Present already, so that a timed call does not pay for the page faults.
    flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
    return memoryview(mmap.mmap(descriptor, size, flags=flags))
