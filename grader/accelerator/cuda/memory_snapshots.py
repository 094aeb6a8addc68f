"""`torch.cuda.memory_snapshot` and the history of memory: what is allocated, where, and by which line."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

from grader.accelerator.cuda.pools import pool_of
from grader.accelerator.sim.machine import Machine, the_machine
from grader.accelerator.sim.memory_history import MemoryHistory

_SMALL = 1 << 20

_CHOICES = (
    ("enabled", ("state", "all"), "expected state to be 'state', 'all', or None"),
    ("context", ("state", "alloc", "all"), "expected context to be 'state', 'alloc', 'all', or None"),
    ("stacks", ("python", "all"), "expected stacks to be 'python', or 'all'"),
)
"""The arguments of `_record_memory_history`, their values, and what PyTorch says of others."""


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """Return what is allocated on all devices, as a list of segments.

    A segment is a dict such as `{"device": 0, "total_size": 512, "requested_size": 4, "blocks": [...], ...}`. Its keys
    are those of CUDA. Here each segment has one block.

    Args:
        mempool_id: the key of the pool whose segments are returned; None for the segments of all pools.
        include_traces: not used: segments do not contain traces.
    """
    del include_traces
    segments = _segments(the_machine())
    return [one for one in segments if mempool_id is None or one["segment_pool_id"] == tuple(mempool_id)]


def _record_memory_history(
    enabled: Any = "all",
    context: Any = "all",
    stacks: Any = "all",
    max_entries: int = sys.maxsize,
    device: Any = None,
    clear_history: bool = False,
    **others: Any,
) -> None:
    """Start or stop the recording of the allocations on all devices.

    None or False as `enabled` stops the recording and deletes the records. If `enabled` is True, `context`, `stacks`
    and `max_entries` are not used.

    Args:
        enabled: "all" or True to record each allocation and free; "state" to record the frames of living blocks
            alone; None or False to record nothing.
        context: the records that contain the program's frames: "state" for living blocks, "alloc" for entries of
            allocations, too, "all" for entries of frees, too; None for no records.
        stacks: "python" or "all"; both record the frames of Python alone.
        max_entries: the largest number of entries; the oldest are dropped.
        device: not used, as in PyTorch.
        clear_history: True if earlier entries are dropped.
        others: not used.
    """
    del device, others
    if isinstance(enabled, bool):  # the old form, whose other arguments mean something else
        enabled, context, stacks, max_entries = ("all" if enabled else None), "all", "python", sys.maxsize
    for name, values, text in _CHOICES:
        given = {"enabled": enabled, "context": context, "stacks": stacks}[name]
        if given not in values and (given is not None or name == "stacks"):
            raise RuntimeError(text)
    for place in the_machine().devices:
        before = place.memory.history
        place.memory.history = None
        if enabled is not None:
            history = MemoryHistory(max_entries, context=context, traces=enabled == "all")
            if before is not None and not clear_history:
                history.entries.extend(before.entries)
            place.memory.history = history


def _snapshot(device: Any = None, **others: Any) -> dict[str, Any]:
    """Return the segments and the recorded allocations of all devices, for PyTorch's tools.

    The result is `{"segments": [...], "device_traces": [[...], [...]], ...}`, with a list of the recorded allocations
    and frees for each device. The other keys are those of PyTorch, with default values.

    Args:
        device: not used, as in PyTorch.
        others: not used.
    """
    del device, others
    machine = the_machine()
    histories = [place.memory.history for place in machine.devices]
    return {
        "segments": _segments(machine),
        "device_traces": [list(history.entries) if history is not None else [] for history in histories],
        "allocator_settings": {
            "PYTORCH_CUDA_ALLOC_CONF": "",
            "max_split_size": -1,
            "garbage_collection_threshold": 0.0,
            "expandable_segments": False,
            "roundup_power2_divisions": {},
        },
        "external_annotations": [],
    }


def _dump_snapshot(filename: str = "dump_snapshot.pickle", **others: Any) -> None:
    """Write what `_snapshot` returns to a pickle file, which pytorch.org/memory_viz shows.

    Args:
        filename: the path of the file.
        others: not used.
    """
    Path(filename).write_bytes(pickle.dumps(_snapshot(**others)))


def _segments(machine: Machine) -> list[dict[str, Any]]:
    """Return the `segments` of a snapshot, as in `memory_snapshot`: one for each block in use.

    A block is the memory of one storage. There is no cache, so that a segment has no free blocks.
    """
    alive = [block for block in machine.living_blocks() if block.nbytes]
    segments = []
    for block in sorted(alive, key=lambda block: (block.memory.index, block.address)):
        history, sizes = block.memory.history, {"size": block.nbytes, "requested_size": block.requested}
        frames = history.frames_of(block.address) if history is not None else []
        one = {"address": block.address, **sizes, "state": "active_allocated", "frames": frames}
        segments.append(
            {
                "device": block.memory.index,
                "address": block.address,
                "total_size": block.nbytes,
                "allocated_size": block.nbytes,
                "active_size": block.nbytes,
                "requested_size": block.requested,
                "stream": block.home[1],
                "segment_type": "small" if block.nbytes <= _SMALL else "large",
                "segment_pool_id": pool_of(block),
                "is_expandable": False,
                "frames": frames,
                "blocks": [one],
            }
        )
    return segments


FUNCTIONS = {
    function.__name__: function for function in (memory_snapshot, _record_memory_history, _snapshot, _dump_snapshot)
}
"""The functions of this module, by the names they have in `torch.cuda.memory`."""
