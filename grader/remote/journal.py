"""What a check asked: its calls, for the lines that reproduce them; its requests, to make objects again elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from grader.remote.sitting import Sitting
from grader.wire.requests import Asked, Load, LoadProbe, parts

_MOST_BYTES = 64 << 20


@dataclass
class Call:
    """One call that a check made, for the lines that reproduce it."""

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class _Entry(NamedTuple):
    """One request."""

    asked: Asked
    data: list[bytes]
    what: str


class Journal:
    """The requests of one check, as they were sent: answered in the same order, objects have the same numbers."""

    def __init__(self, entries: list[_Entry] | None = None) -> None:
        self._entries = entries or []
        self._bytes = 0

    def begin_check(self) -> None:
        """Forget all but the probes, which a worker keeps."""
        self._entries = [entry for entry in self._entries if isinstance(entry.asked.request, LoadProbe)]
        self._bytes = 0

    def take_down(self, asked: Asked, data: list[bytes], what: str) -> None:
        """Keep a request."""
        self._bytes += sum(map(len, data))
        if self.is_whole() and not isinstance(asked.request, Load):
            self._entries.append(_Entry(asked, data, what))

    def is_whole(self) -> bool:
        """Whether all of the check is kept: it may be too much."""
        return self._bytes <= _MOST_BYTES

    def copy(self) -> Journal:
        """The same requests."""
        return Journal(list(self._entries))

    def ask_again(self, sitting: Sitting) -> None:
        """Make the requests in a worker that has loaded the module, and nothing else."""
        for asked, data, what in self._entries:
            sitting.ask(asked, data, sitting.limits.call_s, what)
            for _ in parts(asked.request)[1:]:
                sitting.more(sitting.limits.call_s, what)
