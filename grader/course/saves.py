"""Files that are saved, as they are saved: by the system's events, or by looking again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import watchfiles

from grader.model.errors import CourseError

_STEP_MS = 10
"""An editor writes a file in several steps, or renames another: changes count once none came for so long."""
_MOST_MS = 200
_POLL_MS = 100


@contextmanager
def saves(
    folder: Path, tell: Callable[[set[Path]], None], *, poll: bool = False, kinds: tuple[str, ...] = (".py",)
) -> Iterator[None]:
    """Meanwhile report files below a folder that were written, renamed or removed.

    Args:
        folder: the folder.
        tell: receives the paths, in a thread of its own.
        kinds: how the names of reported files end.
        poll: look again and again instead of waiting for events, which network drives do not send.

    Raises:
        CourseError: the folder cannot be watched.
    """
    stop = threading.Event()
    failed: list[str] = []

    def watch() -> None:
        try:
            for changes in watchfiles.watch(
                folder,
                debounce=_MOST_MS,
                step=_STEP_MS,
                stop_event=stop,
                rust_timeout=_POLL_MS,
                raise_interrupt=False,
                force_polling=poll or None,
                poll_delay_ms=_POLL_MS,
            ):
                if paths := {Path(path) for _, path in changes if path.endswith(kinds)}:
                    tell(paths)
        except OSError as error:
            failed.append(str(error))
            tell(set())

    thread = threading.Thread(target=watch, name="saves", daemon=True)
    thread.start()
    try:
        yield
        if failed:
            raise CourseError(f"{folder} cannot be watched ({failed[0]}); try again with --poll")
    finally:
        stop.set()
        thread.join(1.0)
