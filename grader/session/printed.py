"""What a student printed, as far as it may be shown."""

from __future__ import annotations

from collections.abc import Iterable

from grader.connection.connection import Connection
from grader.sandbox.view import WORK


class Printed:
    """What the student printed before the first hidden check, across the workers of all connections.

    It is read before a hidden input can be known, so that none can be printed into a student's report.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._closed = False
        self._lives: dict[tuple[int, int], str] = {}

    def note(self, connections: Iterable[Connection]) -> None:
        """Read the output so far; called after each check, since a worker that is lost takes its output along.

        Args:
            connections: the same ones in the same order each time; new ones come last.
        """
        if not self._closed:
            for place, connection in enumerate(connections):
                # Each worker's output is read whole each time, from its beginning; so a later reading replaces an
                # earlier one.
                self._lives.update({(place, life): text for life, text in connection.outputs().items()})

    def close(self, connections: Iterable[Connection]) -> None:
        """Read it a last time."""
        self.note(connections)
        self._closed = True

    @property
    def text(self) -> str:
        """All of it, cut at the limit; files by the names that the student knows, as a warning names one."""
        text = "".join(self._lives[life] for life in sorted(self._lives)).replace(f"{WORK}/", "")
        return text if len(text) <= self._limit else text[: self._limit] + "\n... (more was printed and is not kept)\n"
