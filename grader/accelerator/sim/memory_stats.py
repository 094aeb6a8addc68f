"""What `torch.cuda.memory_stats` tells: nothing is cached, so that each block is a segment, and some storage's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from grader.accelerator.sim.spec import MIB


@dataclass(slots=True)
class Count:
    """One number over time."""

    current: int = 0
    peak: int = 0
    allocated: int = 0
    freed: int = 0

    def add(self, amount: int) -> None:
        """It grows, or shrinks by a negative amount."""
        self.current += amount
        self.peak = max(self.peak, self.current)
        if amount > 0:
            self.allocated += amount
        else:
            self.freed -= amount


@dataclass(slots=True)
class Pool:
    """Blocks of a kind: their bytes, the requested bytes, and their number."""

    nbytes: Count = field(default_factory=Count)
    requested: Count = field(default_factory=Count)
    blocks: Count = field(default_factory=Count)

    def add(self, nbytes: int, requested: int, blocks: int) -> None:
        """A block comes, or goes, with negative numbers."""
        self.nbytes.add(nbytes)
        self.requested.add(requested)
        self.blocks.add(blocks)


class Statistics:
    """All of one device."""

    def __init__(self) -> None:
        # CUDA's allocator keeps blocks below 1 MiB apart.
        self.pools = {"all": Pool(), "large_pool": Pool(), "small_pool": Pool()}
        self.full = 0
        """How often there was no room."""

    def add(self, nbytes: int, requested: int, sign: int) -> None:
        """A block comes (1) or goes (-1)."""
        for name in ("all", "small_pool" if nbytes < MIB else "large_pool"):
            self.pools[name].add(sign * nbytes, sign * requested, sign)

    def counts(self) -> Iterator[Count]:
        """Every number."""
        for pool in self.pools.values():
            yield from (pool.nbytes, pool.requested, pool.blocks)

    def reset_peak(self) -> None:
        """Peaks start at what is there."""
        for count in self.counts():
            count.peak = count.current

    def reset_accumulated(self) -> None:
        """Nothing was allocated or freed so far."""
        for count in self.counts():
            count.allocated = count.freed = 0
        self.full = 0

    def by_name(self) -> dict[str, int]:
        """The names and order of `torch.cuda.memory_stats`."""
        rows: dict[str, int] = {}
        for name, pool in self.pools.items():
            parts = {"allocation": pool.blocks, "segment": pool.blocks, "active": pool.blocks}
            parts |= {"allocated_bytes": pool.nbytes, "reserved_bytes": pool.nbytes, "active_bytes": pool.nbytes}
            # Nothing is split, since nothing is kept that could be.
            parts |= {"requested_bytes": pool.requested, "inactive_split": Count(), "inactive_split_bytes": Count()}
            for part, count in parts.items():
                rows |= _told(f"{part}.{name}", count)
        blocks = self.pools["all"].blocks
        rows |= _told("oversize_allocations", Count()) | _told("oversize_segments", Count())
        rows |= {"max_split_size": -1, "num_alloc_retries": 0, "num_ooms": self.full, "num_sync_all_streams": 0}
        rows |= {"num_device_alloc": blocks.allocated, "num_device_free": blocks.freed}
        return dict(sorted(rows.items()))


def _told(name: str, count: Count) -> dict[str, int]:
    return {f"{name}.{part}": getattr(count, part) for part in ("allocated", "current", "freed", "peak")}
