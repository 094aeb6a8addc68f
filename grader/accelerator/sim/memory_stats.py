"""The numbers of `torch.cuda.memory_stats`: nothing is cached, so each segment is the memory of one storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from typing import NamedTuple

from grader.accelerator.sim.spec import MIB


class Changes(NamedTuple):
    """The effect on a counter of changes one after another.

    A negative change is memory that is freed. The changes 512, -512, 1024 have the effect
    `Changes(highest=1024, total=1024, allocated=1536)`.

    Attributes:
        highest: the largest rise of the counter above its first value; 0 if it never rose.
        total: the sum of the changes.
        allocated: the sum of the positive changes.
    """

    highest: int
    total: int
    allocated: int


def _changes_of_counters(nbytes: Sequence[int], requested: Sequence[int]) -> tuple[Changes, Changes, Changes]:
    """Return how blocks change the counters of bytes, of requested bytes and of blocks.

    A program that allocates 500 bytes gets a block of 512: `[512]` and `[500]` become `(Changes(512, 512, 512),
    Changes(500, 500, 500), Changes(1, 1, 1))`.

    Args:
        nbytes: the bytes of each block, negative for a block that was freed.
        requested: the bytes that the program requested for each block, negative in the same way.
    """
    blocks = [1 if one > 0 else -1 for one in nbytes]
    return _changes_of(nbytes), _changes_of(requested), _changes_of(blocks)


def _changes_of(changes: Sequence[int]) -> Changes:
    sums = [0, *accumulate(changes)]
    return Changes(max(sums), sums[-1], sum([change for change in changes if change > 0]))


@dataclass(slots=True)
class Count:
    """A counter of bytes or of blocks: its value now, its peak, and the sum of what was allocated."""

    current: int = 0
    peak: int = 0
    allocated: int = 0
    before: int = 0
    """The value of `current` when the sums began, at 0."""

    @property
    def freed(self) -> int:
        """The bytes or blocks that were freed since the last call of `reset_accumulated`."""
        return self.before + self.allocated - self.current

    def add(self, changes: Changes) -> None:
        """Update the counter by changes that came one after another."""
        self.peak = max(self.peak, self.current + changes.highest)
        self.current += changes.total
        self.allocated += changes.allocated


class PoolStats:
    """The statistics of all blocks, or of the large or small ones: bytes, requested bytes, and their number."""

    def __init__(self) -> None:
        self.nbytes, self.requested, self.blocks = Count(), Count(), Count()

    def add(self, nbytes: Changes, requested: Changes, blocks: Changes) -> None:
        """Update the counters by blocks that were allocated and freed.

        Args:
            nbytes: the changes of the bytes that blocks take.
            requested: the changes of the bytes that programs asked for.
            blocks: the changes of the number of blocks.
        """
        self.nbytes.add(nbytes)
        self.requested.add(requested)
        self.blocks.add(blocks)


class Statistics:
    """The memory statistics of one device."""

    def __init__(self) -> None:
        # CUDA's allocator keeps blocks below 1 MiB apart.
        self._all, self._large, self._small = PoolStats(), PoolStats(), PoolStats()
        # Each new tensor comes here and few programs ask: changes are kept as they are, and added up many at once.
        self.nbytes: list[int] = []
        """The bytes of blocks that were allocated, and below zero those of blocks that were freed."""
        self.requested: list[int] = []
        """The requested bytes of the same blocks. Not pairs, which Python would have to collect."""
        self.full = 0
        """How often an allocation raised because the device had no room."""
        self.emptied = 0
        """How often the program emptied the cache, for which CUDA's allocator waits for all streams."""

    def add_up(self) -> None:
        """Add the recorded changes to the counters of the pools that they concern.

        A block of 1 MiB or more concerns the pool of large blocks, a smaller one that of small blocks. `nbytes` and
        `requested` are empty afterwards.
        """
        nbytes, self.nbytes = self.nbytes, []
        requested, self.requested = self.requested, []
        of_all = of_small = _changes_of_counters(nbytes, requested)
        self._all.add(*of_all)
        are_large = [not -MIB < change < MIB for change in nbytes]
        if any(are_large):  # many programs have no large blocks
            are_small = [not is_large for is_large in are_large]
            of_large, of_small = (
                _changes_of_counters([*compress(nbytes, chosen)], [*compress(requested, chosen)])
                for chosen in (are_large, are_small)
            )
            self._large.add(*of_large)
        self._small.add(*of_small)

    @property
    def pools(self) -> dict[str, PoolStats]:
        """The pools by the names that `torch.cuda.memory_stats` has for them.

        These are "all", "large_pool" and "small_pool".
        """
        self.add_up()
        return {"all": self._all, "large_pool": self._large, "small_pool": self._small}

    def counts(self) -> Iterator[Count]:
        """Yield every counter of all pools."""
        for pool in self.pools.values():
            yield from (pool.nbytes, pool.requested, pool.blocks)

    def reset_peak(self) -> None:
        """Set each peak to the current value."""
        for count in self.counts():
            count.peak = count.current

    def reset_accumulated(self) -> None:
        """Set the sums of what was allocated and freed to zero."""
        for count in self.counts():
            count.allocated, count.before = 0, count.current
        self.full = self.emptied = 0

    def as_dict(self) -> dict[str, int]:
        """Return the statistics by the names of `torch.cuda.memory_stats`, in its order.

        After one allocation, they begin with `{"active.all.allocated": 1, "active.all.current": 1, ...}`.
        """
        rows: dict[str, int] = {}
        for name, pool in self.pools.items():
            parts = {"allocation": pool.blocks, "segment": pool.blocks, "active": pool.blocks}
            parts |= {"allocated_bytes": pool.nbytes, "reserved_bytes": pool.nbytes, "active_bytes": pool.nbytes}
            # Nothing is split, since nothing is kept that could be.
            parts |= {"requested_bytes": pool.requested, "inactive_split": Count(), "inactive_split_bytes": Count()}
            for part, count in parts.items():
                rows |= _rows_of(f"{part}.{name}", count)
        blocks = self.pools["all"].blocks
        rows |= _rows_of("oversize_allocations", Count()) | _rows_of("oversize_segments", Count())
        rows |= {"max_split_size": -1, "num_alloc_retries": 0, "num_ooms": self.full}
        rows["num_sync_all_streams"] = self.emptied
        rows |= {"num_device_alloc": blocks.allocated, "num_device_free": blocks.freed}
        return dict(sorted(rows.items()))


def _rows_of(name: str, count: Count) -> dict[str, int]:
    return {f"{name}.{part}": getattr(count, part) for part in ("allocated", "current", "freed", "peak")}
