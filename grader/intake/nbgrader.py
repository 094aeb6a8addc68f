"""nbgrader: `submitted/<author>/<assignment>/`, with the time of each in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from grader.intake.handed import Handed, Item, Layout, Part, Taken, Unmatched
from grader.model import Exercise

SUBMITTED = "submitted"
_TIME = "timestamp.txt"


def _fits(items: Sequence[Item]) -> bool:
    return any(item.is_folder and any(item.path.glob(f"*/{_TIME}")) for item in items)


def _read(items: Sequence[Item], exercises: Sequence[Exercise]) -> Taken:
    handed = []
    for item in items:
        if item.is_folder:
            inner = sorted(path for path in item.path.iterdir() if path.is_dir() and not path.is_symlink())
            parts = tuple(Part(path, PurePosixPath(path.name)) for path in inner)
            handed.append(Handed(item.name, (item.name,), parts))
    unmatched = [Unmatched(item.name, "", "a file beside the authors' folders") for item in items if not item.is_folder]
    return handed, unmatched


NBGRADER = Layout("nbgrader", "nbgrader's submitted folder", _fits, _read)
