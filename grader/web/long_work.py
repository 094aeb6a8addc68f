"""Work that goes on in a thread while pages show how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from grader.model.errors import GraderError
from grader.model.progress import Cancelled


class LongWork(Protocol):
    """What pages read of work in a thread: whether it goes on, and why it ended, or ""."""

    is_running: bool
    problem: str


@contextmanager
def record_end(work: LongWork, *, stopped: str, failed: str) -> Iterator[None]:
    """Record in `work` that it has ended, and why, when the `with` block ends.

    `Cancelled` and a `GraderError` are recorded, and not raised again.

    Args:
        work: the state of the work.
        stopped: the sentence to record if the work was stopped.
        failed: the sentence to record after any other exception, a fault of ours. That is raised again, so that the
            terminal shows it.
    """
    try:
        yield
    except Cancelled:
        work.problem = stopped
    except GraderError as error:
        work.problem = str(error)
    except Exception:  # of any kind: the page must not wait for what has ended
        work.problem = failed
        raise
    finally:
        work.is_running = False
