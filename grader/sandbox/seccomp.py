"""System-call filters, and how they are applied.

What they refuse stands in `tests/sandbox/filters.py`, which builds the files in `filters/` from it ahead, so that a
worker loads one in microseconds and no machine that grades needs libseccomp; a test compares. `base` is for every
worker, `alone` for one that may start no processes, `rootless` for one without namespaces. What is refused gives an
error number, not death, so that honest code which merely tries it gets an exception.
"""

from __future__ import annotations

import platform
from pathlib import Path

from grader.sandbox.kernel import filter_system_calls

FILTERS = Path(__file__).with_name("filters")


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
