"""The simulated machine: its devices, their memory, queues and generators, what was counted, and the clock."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader.accelerator.sim.capture import Capture
from grader.accelerator.sim.clock import Clock, Queue
from grader.accelerator.sim.counters import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, Tally
from grader.accelerator.sim.cuda_errors import invalid_ordinal_error, is_launch_blocking
from grader.accelerator.sim.device_asserts import Fault
from grader.accelerator.sim.generator import SimGenerator
from grader.accelerator.sim.memory import DeviceMemory
from grader.accelerator.sim.races import Block, Races
from grader.accelerator.sim.spec import Spec
from grader.accelerator.sim.stream_history import StreamHistory
from grader.accelerator.sim.sync_debug import report_wait
from grader.accelerator.sim.visible_devices import visible_count

INNER = "sim"
"""The name under which PyTorch knows the device. In mode cuda, Python code sees the other name."""


_Device = torch.device
"""Kept before it is replaced by a class that asks in Python whether something is an instance of it."""


_STAGED_AT_ONCE = 1 << 16
"""Bytes of pageable memory that CUDA sets aside before it returns; it waits for the device with more."""


class ThreadState(threading.local):
    """The current device of a thread, and its current stream on each.

    Attributes:
        switch_streams: a function that makes the streams of backward's current node current; None without a backward.
        history: the streams that were current when the thread made the nodes of its autograd graphs.
    """

    def __init__(self) -> None:
        self.device = 0
        self.streams: dict[int, int] = {}
        self.switch_streams: Callable[[], None] | None = None
        self.history = StreamHistory()


class Device:
    """One simulated device: its memory, generator, current stream, and the fault that stopped it."""

    def __init__(self, kind: str, index: int, spec: Spec, here: ThreadState) -> None:
        self._here = here
        self.index = index
        self.inner = torch.device(INNER, index)
        self.public = torch.device(kind, index)
        self.memory = DeviceMemory(index, kind, spec.memory, spec.granularity)
        self.generator = SimGenerator(self.public)
        self._default: Queue = (index, 0)
        self._has_streams = False  # whether another stream than the default one ever was current on it
        self.fault: Fault | None = None
        self.fault_is_reported = False

    @property
    def stream(self) -> int:
        """The number of the stream that is current on this device in this thread."""
        if self._here.switch_streams is not None:
            self._here.switch_streams()
        return self._here.streams.get(self.index, 0)

    @stream.setter
    def stream(self, number: int) -> None:
        here = self._here
        if here.switch_streams is not None:
            here.switch_streams()
        here.streams[self.index] = number
        self._has_streams |= number != 0
        here.history.record(here.streams)

    @property
    def queue(self) -> Queue:
        """The queue of the stream that is current on this device in this thread."""
        if not self._has_streams:
            return self._default
        here = self._here
        if here.switch_streams is not None:
            here.switch_streams()
        stream = here.streams.get(self.index)
        return self._default if stream is None else (self.index, stream)


class Machine:
    """All simulated devices, the virtual clock and the counts. A process has one; `the_machine` returns it.

    Args:
        kind: the device's public name, "sim" or "cuda".
        indices: the number of devices.
        spec: the speed and the size of each.
    """

    def __init__(self, kind: str, indices: int, spec: Spec) -> None:
        self.kind = kind
        self.spec = spec
        self.here = ThreadState()
        self.devices = [Device(kind, index, spec, self.here) for index in range(indices)]
        self.streams: dict[int, int] = {}  # how many the program made on each device
        # Weak: a storage is freed with the last tensor that looks at it, and nobody else may hold its block.
        self.blocks: dict[int, weakref.ref[Block]] = {}
        self.clock = Clock()
        self.races = Races()
        self.has_collectives = False  # whether there is memory that a collective fills
        self.has_complex = False  # whether there ever was a complex tensor, or a view that is negated when it is read
        self.capture: Capture | None = None  # while a graph is recorded
        self.tally = Tally()
        self.blocking = kind == "cuda" and is_launch_blocking()
        # 1 warns of each wait, 2 forbids it.
        self.sync_debug = 0
        self.shrunk = False
        """Whether a storage was ever made smaller: then each kernel checks that tensors are within their storages."""
        self.used = False
        self.reached_driver = False
        """Whether a call reached the driver, to count devices or pin memory: a process forked later has no device."""
        self._settled = kind != "cuda"
        self._indices: dict[str, int | None] = {}
        """A cache of indices by the text of a device, such as "cuda:1": parsing it takes longer than all else."""

    # -- devices

    @property
    def current(self) -> int:
        """The index of the device that is current in this thread."""
        return self.here.device

    @current.setter
    def current(self, index: int) -> None:
        self.here.device = index

    def device(self, index: int) -> Device:
        """Return the device that has this index.

        An index that no device has raises PyTorch's error for an invalid device ordinal.
        """
        if not self.used:
            self.apply_visible_devices()
        if not 0 <= index < len(self.devices):
            raise invalid_ordinal_error(self.kind)
        return self.devices[index]

    def apply_visible_devices(self, *, use: bool = True) -> None:
        """Remove the devices that CUDA_VISIBLE_DEVICES hides.

        Only the first call removes devices. Each call raises `RuntimeError` if no device is left.

        Args:
            use: True if the machine counts as used from now on; a call that only counts devices does not use it.
        """
        if not self._settled:
            self._settled = True
            self.devices[:] = self.devices[: visible_count(len(self.devices))]
        if not self.devices:
            raise RuntimeError("No CUDA GPUs are available")
        if use and not self.used:
            self.used = True
            # Checkpoints save the state of the device's generator only if this says that there is one.
            getattr(torch, self.kind)._initialized = True

    def index_of(self, device: Any = None) -> int:
        """Return the index of the device that a device argument names.

        It is 1 for `1`, `"cuda:1"` and `torch.device("cuda:1")`. For `"cuda"`, for -1 and for None, it is that of the
        current device.

        Args:
            device: an index, a string, a `torch.device` or a context `torch.cuda.device`; None for the current device.
        """
        if not self.used:
            self.apply_visible_devices()
        if device is None:
            return self.current
        if isinstance(device, _Device):
            return self._index_of_device(device)
        if isinstance(device, int):
            # As in `torch.cuda`, a negative index means the current device.
            return self.device(device).index if device >= 0 else self.current
        text = device
        if isinstance(text, str) and text in self._indices:
            index = self._indices[text]
            return self.current if index is None else self.device(index).index
        if isinstance(index := getattr(device, "idx", None), int):
            return index  # of a context `torch.cuda.device`
        # A program's `TorchFunctionMode` sees what the program calls, and this call is ours.
        with torch._C.DisableTorchFunction():
            device = torch.device(device)
        index = self._index_of_device(device)
        if isinstance(text, str):
            self._indices[text] = device.index
        return index

    def _index_of_device(self, device: torch.device) -> int:
        # Python code knows the public name; the inner one comes from C++.
        if device.type not in (self.kind, INNER):
            raise ValueError(f"Expected a {self.kind} device, but got: {device}")
        index = device.index
        return self.current if index is None else self.device(index).index

    def required_index(self, device: Any) -> int:
        """Return the index of a device argument that must have an index.

        `1` and `"cuda:1"` return 1; `"cuda"` raises, as in PyTorch's `_get_device_index`.

        Raises:
            ValueError: the argument is None, or a device without an index.
        """
        index = self.index_of(device)
        if not isinstance(device, int) and (device is None or torch.device(device).index is None):
            raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
        return index

    def is_simulated(self, device: Any) -> bool:
        """Return whether a device argument, string or `torch.device`, means a simulated device.

        In mode cuda, `"cuda:1"` and `"sim:1"` do, `"cpu"` does not.
        """
        if isinstance(device, _Device):
            return device.type in (self.kind, INNER)
        return isinstance(device, str) and device.partition(":")[0] in (self.kind, INNER)

    def to_inner_device(self, device: Any) -> Any:
        """Return a simulated device as C++ takes it, by its inner name.

        `"cuda:1"` becomes `torch.device("sim:1")`. Any other device argument is returned unchanged.
        """
        return self.inner_device(device) if self.is_simulated(device) else device

    def inner_device(self, device: Any) -> torch.device:
        """Return a simulated device by the inner name that C++ knows, such as `sim:0`.

        Args:
            device: the device as a program names it: None, an index, a string or a `torch.device`.
        """
        return self.devices[self.index_of(device)].inner

    def public_device(self, device: torch.device) -> torch.device:
        """Return a simulated device with its public name, such as `cuda:0`.

        Any other device is returned unchanged.
        """
        return self.devices[device.index].public if device.type == INNER else device

    # -- memory

    def known_block(self, storage: torch.UntypedStorage) -> Block | None:
        """Return the block of a storage: the memory that it takes on its device.

        None if it takes no memory on a device yet.
        """
        # The address of a storage is a good key: a block holds its storage, so the address is not used again meanwhile.
        known = self.blocks.get(storage._cdata)
        return known() if known is not None else None

    def living_blocks(self) -> list[Block]:
        """Return the blocks of all devices whose storages still exist."""
        return [block for known in list(self.blocks.values()) if (block := known()) is not None]

    def new_block(self, storage: torch.UntypedStorage, index: int) -> Block:
        """Allocate memory for a storage on the device `index`, and return its block."""
        place = self.devices[index]
        if place.fault is not None:
            self.check_fault(index)
        return Block(storage, place.memory, self.blocks, self.races, place.queue)

    def block_of(self, inner: torch.Tensor, index: int) -> Block:
        """Return the block that the storage of a CPU tensor has on the device `index`.

        A storage without a block gets a new one.

        Raises:
            ValueError: the storage has a block on another device.
        """
        storage = inner.untyped_storage()
        block = self.known_block(storage)
        if block is None:
            return self.new_block(storage, index)
        if block.memory.index != index:
            raise ValueError(f"this memory is on index {block.memory.index} already, it cannot be on {index} too")
        return block

    # -- streams

    def make_queue_wait(self, queue: Queue, other: Queue) -> None:
        """Let later work of `queue` wait for the work that is in `other` now."""
        ready = self.clock.ready
        ready[queue] = max(ready.get(queue, 0.0), ready.get(other, 0.0))
        self.races.record_wait(queue, self.races.vector_clock_of(other))
        if self.capture is not None:
            event, is_captured = object(), other in self.capture.queues
            if is_captured:
                self.capture.record_event(other, event)
            self.capture.record_wait(queue, event, from_this_capture=is_captured)

    # -- what costs

    def capture_on(self, index: int) -> Capture | None:
        """Return the graph capture that the current stream of device `index` is part of, or None."""
        capture = self.capture
        return capture if capture is not None and self.devices[index].queue in capture.queues else None

    def record_use(
        self, place: Device, name: str, reads: Sequence[Block], writes: Sequence[Block], callers: int = 0
    ) -> None:
        """Record that a kernel on a device's current stream uses memory.

        Races are reported. If a collective fills the memory, the stream waits for it.

        Args:
            place: the device.
            name: the name of the operator.
            reads: blocks that it reads.
            writes: blocks that it writes to.
            callers: the number of the caller's callers that are code of this package for certain.
        """
        queue = place.queue
        self.races.record_use(queue, name, reads, writes, callers)
        if self.has_collectives:
            # A program waits for a collective before it uses what it fills, and then its stream does.
            ready = self.clock.ready
            arrives = max((block.arrives for block in (*reads, *writes)), default=0.0)
            ready[queue] = max(ready.get(queue, 0.0), arrives)
        if self.capture is not None and (capture := self.capture_on(place.index)):
            capture.record_accesses(reads, writes)

    def launch(
        self, name: str, place: Device, flops: float, nbytes: float, shapes: Sequence[tuple[int, ...]] = ()
    ) -> None:
        """Count the launch of a kernel on a device's current stream.

        The time of the kernel is added to the virtual clock. While the stream captures a graph, the launch is only
        recorded in the capture.

        Args:
            name: the name of the operator.
            place: the device.
            flops: the number of float32 operations that take as long as the kernel's arithmetic.
            nbytes: the bytes that the kernel reads from and writes to the device's memory.
            shapes: the shapes of the arguments, for the timeline.
        """
        if place.fault is not None:
            self.check_fault(place.index)
        spec, queue = self.spec, place.queue
        busy = spec.busy_seconds(flops, nbytes)
        seconds = max(spec.kernel, busy)
        if self.capture is not None and (capture := self.capture_on(place.index)):
            capture.add_work(name, queue, seconds, "kernels", busy, (int(nbytes), shapes))
            return
        self.tally.launches += 1
        self.clock.add_work(name, [queue], spec.launch, seconds, "kernels", busy, (int(nbytes), shapes))
        if self.blocking:
            self.clock.wait(name, [queue])
            self.races.record_host_wait([queue])

    def record_device_assert(self, index: int, text: str) -> None:
        """Mark a device as stopped by a device-side assert of its last kernel.

        Calls on the host raise as soon as the host's clock has reached the end of that kernel.

        Args:
            index: the index of the device.
            text: the text that the kernel prints.

        Raises:
            RuntimeError: the host's clock has already reached the end of the kernel.
        """
        place = self.devices[index]
        place.fault = place.fault or Fault(self.clock.ready.get(place.queue, 0.0), text)
        self.check_fault(index)

    def clear_device_asserts(self) -> int:
        """Clear the device-side assert of each device that has one.

        These devices are usable again, and their number is returned. CUDA cannot do this. Devices that fail because the
        process was forked still fail.
        """
        failed = [place for place in self.devices if type(place.fault) is Fault]
        for place in failed:
            place.fault, place.fault_is_reported = None, False
        return len(failed)

    def check_fault(self, index: int) -> None:
        """Raise the error of a device that has failed.

        Nothing is raised before the host's clock reaches the moment of the failure.
        """
        place = self.devices[index]
        if place.fault is not None and self.clock.host >= place.fault.moment:
            is_reported, place.fault_is_reported = place.fault_is_reported, True
            raise place.fault.error(print_text=not is_reported)

    def transfer(
        self,
        direction: str,
        index: int,
        nbytes: int,
        *,
        source: int | None = None,
        pinned: bool = False,
        host_waits: bool = True,
    ) -> None:
        """Count a copy between host and device, or between two devices.

        The time of the copy is added to the virtual clock. While the stream captures a graph, the copy is only recorded
        in the capture.

        Args:
            direction: `HOST_TO_DEVICE`, `DEVICE_TO_HOST` or `DEVICE_TO_DEVICE`.
            index: the index of the device, for a copy between two devices that of the destination.
            nbytes: the number of bytes.
            source: the index of the device that the bytes come from, for a copy between two devices; the current
                streams of both run the copy.
            pinned: True if the host's memory is pinned.
            host_waits: True if the host waits for the copy.
        """
        place = self.devices[index]
        if place.fault is not None:
            self.check_fault(index)
        tally, spec = self.tally, self.spec
        # Devices copy to each other over a way of their own, past the host's memory.
        peer = direction == DEVICE_TO_DEVICE
        queues = [place.queue]
        if source is not None and source != index:
            queues.append(self.devices[source].queue)
        busy = spec.bus_seconds(nbytes, pinned=pinned, peer=peer)
        seconds = spec.latency + busy
        if self.capture is not None and (capture := self.capture_on(index)):
            capture.check_copy(pinned=pinned or peer, host_waits=host_waits)
            capture.add_work(direction, queues[0], seconds, direction, busy, (nbytes, ()))
            return
        tally.transfers[direction] = tally.transfers.get(direction, 0) + 1
        tally.transferred[direction] = tally.transferred.get(direction, 0) + nbytes
        self.clock.add_work(direction, queues, spec.launch, seconds, direction, busy, (nbytes, ()))
        if len(queues) > 1:
            self.races.record_mutual_wait(*queues)
        if host_waits:
            self.wait("copy", queues)
        elif direction == HOST_TO_DEVICE and not pinned and nbytes > _STAGED_AT_ONCE:
            self.clock.wait("staging", queues)  # part by part through pinned memory, each when the device comes to it
        elif direction == HOST_TO_DEVICE and not pinned:
            self.clock.pass_time(seconds, "staging")  # the host copies pageable memory aside before it goes on

    def read_scalar(self, reason: str, index: int) -> None:
        """Count one element that the host reads from a device.

        The host waits for the device's current stream.

        Args:
            reason: the function that reads, such as "item", by which the wait is counted.
            index: the index of the device.

        Raises:
            RuntimeError: the stream captures a graph, or a kernel of the device has failed.
        """
        self.check_fault(index)
        if capture := self.capture_on(index):
            raise capture.invalidate("Unsupported")
        self.tally.scalars_read += 1
        queue = self.devices[index].queue
        # Reading a number is queued like any other work: it comes after all that its queue was given before.
        self.clock.add_work("scalar to host", [queue], self.spec.launch, self.spec.latency, DEVICE_TO_HOST, 0.0)
        self.wait(reason, [queue])

    def wait(self, reason: str, queues: list[Queue], *, warns: bool = True) -> None:
        """Count a wait of the host, and advance its clock until the queues are empty.

        Args:
            reason: the name by which the wait is counted, such as "copy" or "synchronize".
            queues: the queues that must be empty.
            warns: True if `set_sync_debug_mode` reports it.
        """
        if capture := self.capture:
            if capture.queues.intersection(queues):
                raise capture.invalidate("Unsupported")
            if reason == "synchronize":
                capture.check_unsafe_call()
        if self.sync_debug and warns:
            report_wait(self.sync_debug)
        self.tally.syncs[reason] = self.tally.syncs.get(reason, 0) + 1
        self.clock.wait(reason, queues)
        self.races.record_host_wait(queues)
        for index, _ in queues:
            if self.devices[index].fault is not None:
                self.check_fault(index)

    def synchronize(self, device: Any = None) -> None:
        """Let the host wait until all streams of a device are empty."""
        if self.capture is not None:
            raise self.capture.invalidate("Unsupported")  # in every mode and every thread
        # The program says itself that it waits for a device, so `set_sync_debug_mode` must not report it.
        self.wait("synchronize", self.clock.queues(self.index_of(device)), warns=False)

    # -- counters

    def counters(self) -> dict[str, Any]:
        """Return what was counted since the last reset, as plain numbers, dicts and lists.

        The function `counters` of this module explains the keys.
        """
        counts: dict[str, Any] = self.tally.as_dict()
        counts["allocated_bytes"] = [device.memory.total for device in self.devices]
        counts["current_bytes"] = [device.memory.current for device in self.devices]
        counts["peak_bytes"] = [device.memory.peak for device in self.devices]
        counts["host_seconds"] = self.clock.host
        counts["device_seconds"] = [self.clock.idle_at(device.index) for device in self.devices]
        return counts

    def reset(self) -> None:
        """Set all counts and the virtual clock to zero.

        Each peak becomes the number of bytes that are allocated now.
        """
        self.tally = Tally()
        self.clock = Clock(most=self.clock.most, on_span=self.clock.on_span)
        for device in self.devices:
            # What tensors take stays taken; only the counts begin anew.
            device.memory.total = 0
            device.memory.peak = device.memory.current


# A list, so that the one machine can be put in once without a global statement.
_made: list[Machine] = []


def the_machine() -> Machine:
    """Return the machine of this process; raise `RuntimeError` before `enable`."""
    if not _made:
        raise RuntimeError("there is no simulated accelerator in this process; call grader.accelerator.enable() first")
    return _made[0]


def machine_or_none() -> Machine | None:
    """Return the machine of this process, or None before `enable`."""
    return _made[0] if _made else None


def set_machine(machine: Machine) -> None:
    """Make this the machine that `the_machine` returns.

    Call this once in a process.
    """
    _made.append(machine)


def cuda_is_simulated() -> bool:
    """Return whether `torch.cuda` of this process is the simulated device and not a real GPU."""
    return bool(_made) and _made[0].kind == "cuda"


def counters() -> dict[str, Any]:
    """Return what was counted since the last reset, by the names of the counters.

    Numbers for all devices together: `launches`, `collectives`, `syncs`, and `scalars_read` by `item`, `bool` and such.
    Copies: `transfers` and `transferred_bytes` are the sums; `host_to_device`, `device_to_host` and
    `device_to_device` count each direction, and the same names with `_bytes` have the bytes.
    A dict: `syncs_for`, the number of waits by their reason.
    Lists with an item for each device: `allocated_bytes`, `current_bytes`, `peak_bytes` and `device_seconds`.
    The host's virtual clock: `host_seconds`.

    After `(torch.ones(3, device="cuda") + 1)[0].item()` they are `{"launches": 2, "scalars_read": 1, "syncs": 1,
    "syncs_for": {"item": 1}, "allocated_bytes": [1024, 0], ...}`.
    """
    return the_machine().counters()


def reset_counters() -> None:
    """Set all counts and the virtual clock to zero.

    Each peak becomes the number of bytes that are allocated now.
    """
    the_machine().reset()
