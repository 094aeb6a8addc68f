"""System-call filters, and how they are applied.

What they refuse stands in `tests/sandbox/filters.py`, which builds the files in `filters/` from it ahead, so that a
worker loads one in microseconds and no machine that grades needs libseccomp; a test compares. `base` is for every
worker, `alone` for one that may start no processes and has others beside it, `rootless` for one without namespaces;
`check` is for a check process.
What is refused gives an error number, not death, so that honest code which merely tries it gets an exception.
"""

from __future__ import annotations

import errno
import platform
import struct
from pathlib import Path

from grader.sandbox.kernel import filter_system_calls

FILTERS = Path(__file__).with_name("filters")

_KILL_AND_TGKILL = {"x86_64": (62, 234), "aarch64": (129, 131)}


def load(*names: str) -> list[bytes]:
    """Return the named filters of system calls for this architecture.

    On x86-64, `load("base")` returns the content of `filters/base.x86_64.bpf`. Filters are read before they are
    applied, as workers cannot read files later.

    Raises:
        OSError: this architecture has no filters.
    """
    return [(FILTERS / f"{name}.{platform.machine()}.bpf").read_bytes() for name in names]


def apply(programs: list[bytes]) -> None:
    """Apply filters to the system calls of this process and all its children, for ever."""
    # Filters add up: the strictest answer of all counts, so their order does not matter.
    for program in programs:
        filter_system_calls(program)


def signals_to_itself_only(pid: int) -> bytes:
    """Return a filter that allows a process to send signals to itself alone.

    `abort` of the C library does so. The filter is written by hand, as the pid is a part of it; the filters in the
    package are built ahead.

    Args:
        pid: the pid of the process.
    """
    kill, tgkill = _KILL_AND_TGKILL[platform.machine()]
    rows = (
        (0x20, 0, 0, 0),  # load the number of the call
        (0x15, 1, 0, kill),
        (0x15, 0, 3, tgkill),
        (0x20, 0, 0, 16),  # load the first argument
        (0x15, 1, 0, pid),
        (0x06, 0, 0, 0x00050000 | errno.EPERM),
        (0x06, 0, 0, 0x7FFF0000),  # allow
    )
    return b"".join(struct.pack("HBBI", *row) for row in rows)
