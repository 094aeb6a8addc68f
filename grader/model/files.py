"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file in one step, so that a reader finds the old text or the new."""
    # Beside its place, since a file can be put in another's place in one step within a file system only.
    draft = path.with_name(path.name + ".part")
    draft.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
    os.replace(draft, path)
