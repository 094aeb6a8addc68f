"""What was counted: launches, transfers by direction, waits by reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = "host to device", "device to host", "device to device"


@dataclass(slots=True)
class Tally:
    """The counts of what the program did with simulated devices since the last reset.

    Attributes:
        launches: the number of kernels that were launched.
        transfers: the number of copies, by direction, such as `{"host to device": 2}`.
        transferred: the bytes of these copies, by direction.
        scalars_read: the number of elements that the host read, by `item` and such.
        collectives: the number of collectives of `torch.distributed`.
        syncs: the number of waits of the host, by their reason, such as `{"item": 1}`.
    """

    launches: int = 0
    transfers: dict[str, int] = field(default_factory=dict)
    transferred: dict[str, int] = field(default_factory=dict)
    scalars_read: int = 0
    collectives: int = 0
    syncs: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain numbers and dicts, by the names of the counters.

        For example: `{"launches": 2, "host_to_device": 1, ..., "syncs_for": {"copy": 1}}`.
        """
        counts: dict[str, Any] = {"launches": self.launches}
        for direction in (HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE):
            name = direction.replace(" ", "_")
            counts[name] = self.transfers.get(direction, 0)
            counts[f"{name}_bytes"] = self.transferred.get(direction, 0)
        counts["transfers"] = sum(self.transfers.values())
        counts["transferred_bytes"] = sum(self.transferred.values())
        counts["scalars_read"] = self.scalars_read
        counts["collectives"] = self.collectives
        counts["syncs"] = sum(self.syncs.values())
        counts["syncs_for"] = dict(self.syncs)
        return counts
