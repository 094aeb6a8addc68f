"""One class graded by several processes, each a shard of it: each has a journal of its own until the next whole run.

A shard begins with what the whole journal has of its submissions. It has that journal for this moment only, and so
have the others; a batch of the whole class keeps it, and takes in what shards have left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.batch.files import MISTAKES_FILE, Out
from grader.batch.journal import FILE, Journal, open_journal
from grader.batch.order import Order, Shard

_OTHERS_S = 10.0
"""So long a shard waits for others that begin at the same time."""

_OF_A_SHARD = re.compile(r"journal-(\d+)-of-(\d+)\.sqlite")


@contextmanager
def open_journal_of(place: Out, order: Order, told: str, authors: Sequence[str]) -> Iterator[tuple[Journal, bytes]]:
    """The journal that a run writes, which has begun, and the secret of the batch.

    Args:
        place: where results go.
        order: what is graded.
        told: what the journal says of this run.
        authors: the names of the submissions that are graded.

    Raises:
        CourseError: another process has it.
    """
    out, shard = place.path, order.shard
    with open_journal(out, file=_file(shard)) as journal:
        journal.begin(told)
        if shard is None:
            _take_in(out, journal)
            secret = place.secret()
        else:
            with open_journal(out, wait_s=_OTHERS_S) as whole:
                journal.take_over(whole, authors)
                secret = place.secret()
        yield journal, secret


def mistakes_of(out: Path, shard: Shard | None) -> Path:
    """Where it is kept how wrong answers behave."""
    return out / (MISTAKES_FILE if shard is None else f"mistakes-{shard}.json")


def waiting_shards(out: Path) -> list[Shard]:
    """The shards whose outcomes no batch of the whole class has taken in yet."""
    found = (_OF_A_SHARD.fullmatch(path.name) for path in out.iterdir())
    return sorted((Shard(int(match[1]), int(match[2])) for match in found if match), key=lambda shard: shard.number)


def _take_in(out: Path, whole: Journal) -> None:
    """Take in what shards have written, and remove it. Killed on the way, the next run takes in the rest."""
    for shard in waiting_shards(out):
        with open_journal(out, file=_file(shard)) as journal:
            whole.take_over(journal)
            # While it is locked: whoever opens it now is refused, as the whole journal is locked, too.
            for end in ("", "-wal", "-shm"):
                (out / f"{_file(shard)}{end}").unlink(missing_ok=True)
        mistakes_of(out, shard).unlink(missing_ok=True)


def _file(shard: Shard | None) -> str:
    return FILE if shard is None else f"journal-{shard}.sqlite"
