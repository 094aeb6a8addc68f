"""Waiting for files to be saved: by the system's events, or by looking again and again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import watchfiles

from grader.model.errors import CourseError

_STEP_MS = 10
"""An editor writes a file in several steps, or renames another: changes count once none came for so long."""
_MOST_MS = 200
_LOOK_MS = 100


def watch_files(folder: Path, *, poll: bool = False, kinds: tuple[str, ...] = (".py",)) -> Iterator[set[Path]]:
    """Yield sets of files that were written, renamed or removed below a folder.

    While nothing changes, empty sets are yielded. Once the first set was yielded, each later save is in one of the
    sets.

    Args:
        folder: the folder.
        poll: True to look again and again instead of waiting for events, which network drives do not send.
        kinds: the endings of the names of reported files.

    Raises:
        CourseError: the folder cannot be watched.
    """
    try:
        for changes in watchfiles.watch(
            folder,
            debounce=_MOST_MS,
            step=_STEP_MS,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            force_polling=poll or None,
            poll_delay_ms=_LOOK_MS,
        ):
            yield {Path(path) for _, path in changes if path.endswith(kinds)}
    except (OSError, RuntimeError) as error:  # the latter from Rust
        raise CourseError(f"{folder} cannot be watched ({error}); try again with --poll") from None
