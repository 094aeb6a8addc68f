"""What the system tells of a process from outside."""

from __future__ import annotations

import mmap
import os
import sys

import pytest

from grader.sandbox import clock


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_first_use_of_memory_is_seen() -> None:
    """Pages that are used for the first time are counted, used again they are not; nothing is told of no process."""
    pages = 500
    before = clock.disturbances(os.getpid())
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        for place in range(0, len(memory), mmap.PAGESIZE):
            memory[place] = 1
        once = clock.disturbances(os.getpid())
        for place in range(0, len(memory), mmap.PAGESIZE):
            memory[place] = 2
        twice = clock.disturbances(os.getpid())
    assert before is not None and once is not None and twice is not None
    assert once.since(before).faults >= pages
    assert twice.since(once).faults < pages // 2
    assert clock.disturbances(2**22 + 1) is None
