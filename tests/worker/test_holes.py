"""The worker server's memory before it forks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from grader.process.start import workers_environment

FILLED = """
import ctypes, gc, sys
from grader.worker import holes

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]

def many(size):
    return [bytes(size - 33) for _ in range(8000)], [libc.malloc(size) for _ in range(8000)]

for size in (64, 144, 400):
    items, blocks = many(size)
    del items[::40]
    for block in blocks[::40]:
        libc.free(block)
    kept = items, blocks, globals().get("kept")  # their holes stay
holes.fill_holes()
for size in (64, 144, 400):
    items = [bytes(size - 33) for _ in range(100)]
    blocks = [libc.malloc(size) for _ in range(100)]
    print(len({id(item) >> 14 for item in items}) <= 5, max(blocks) - min(blocks) <= 400 * (size + 16))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="there is a server on Linux alone")
def test_what_is_made_next_lies_together() -> None:
    """Once holes are filled, objects and blocks lie side by side, where they lay between older ones."""
    environment = {**os.environ, **workers_environment()}
    command = [sys.executable, "-c", FILLED]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "True True\n" * 3, done.stdout + done.stderr
