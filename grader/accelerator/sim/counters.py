"""What was counted: launches, transfers by direction, waits by reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = "host to device", "device to host", "device to device"


@dataclass(slots=True)
class Tally:
    """The counts since the last reset."""

    launches: int = 0
    transfers: dict[str, int] = field(default_factory=dict)
    transferred: dict[str, int] = field(default_factory=dict)
    scalars_read: int = 0
    collectives: int = 0
    syncs: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain numbers and dicts."""
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
