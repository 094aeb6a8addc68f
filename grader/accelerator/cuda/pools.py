"""Pools of memory: `torch.cuda.MemPool` and `use_mem_pool`. A pool knows what is allocated in it, and nothing else."""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Iterator
from typing import Any

from grader.accelerator.refusals import refusal
from grader.accelerator.sim.machine import the_machine
from grader.accelerator.sim.races import Block

PoolId = tuple[int, int]

_numbers = itertools.count(1)

_pools: weakref.WeakKeyDictionary[Block, PoolId] = weakref.WeakKeyDictionary()
"""The pool of each block that is in one."""


def graph_pool_handle() -> PoolId:
    """Return a new key of a memory pool, such as `(0, 1)`.

    Graphs with the same key share no memory here, unlike on CUDA.
    """
    return (0, next(_numbers))


def pool_of(block: Block) -> PoolId:
    """Return the key of a block's `MemPool`; (0, 0) for a block without a pool."""
    return _pools.get(block, (0, 0))


class MemPool:
    """A pool of memory, from which allocations within `use_mem_pool` are made.

    The device keeps nothing in reserve, so a pool neither splits segments nor returns any when memory is full.
    """

    def __init__(self, allocator: Any = None, use_on_oom: bool = False, no_split: bool = False) -> None:
        del use_on_oom, no_split
        if allocator is not None:
            raise refusal("torch.cuda.MemPool with an allocator of its own is not supported on the simulated device")
        self._id = graph_pool_handle()
        self._uses = 1

    @property
    def id(self) -> PoolId:
        """The key of the pool."""
        return self._id

    @property
    def allocator(self) -> None:
        """None: the pool has no allocator of its own."""
        return

    def use_count(self) -> int:
        """Return the number of references to the pool.

        This object is one; each `use_mem_pool` that is entered now is another.
        """
        return self._uses

    def snapshot(self, include_traces: bool = True) -> list[dict[str, Any]]:
        """Return what is allocated in the pool, as `torch.cuda.memory_snapshot` does.

        Args:
            include_traces: not used: segments do not contain traces.
        """
        from grader.accelerator.cuda.memory_snapshots import memory_snapshot  # which needs `pool_of`

        return memory_snapshot(self._id, include_traces)


@contextlib.contextmanager
def use_mem_pool(pool: MemPool, device: Any = None) -> Iterator[None]:
    """Allocate from a pool what the program allocates on a device in the `with` block.

    Args:
        pool: the pool.
        device: the device; the current one by default.
    """
    machine = the_machine()
    index = machine.index_of(device)
    before = weakref.WeakSet(machine.living_blocks())
    pool._uses += 1
    try:
        yield
    finally:
        pool._uses -= 1
        for block in machine.living_blocks():
            if block not in before and block.memory.index == index:
                _pools[block] = pool.id
