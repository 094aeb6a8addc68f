"""Clones of students' repositories, as `gh classroom clone student-repos` lays them out."""

from __future__ import annotations

from collections.abc import Sequence

from grader.intake.handed import Handed, Item, Layout, Part, Taken, Unmatched, mostly
from grader.model import Exercise

_SUFFIX = "-submissions"


def _is_clone(item: Item) -> bool:
    return item.is_folder and (item.path / ".git").exists()


def _fits(items: Sequence[Item]) -> bool:
    return mostly(items, _is_clone)


def _read(items: Sequence[Item], exercises: Sequence[Exercise]) -> Taken:
    folders = [item for item in items if item.is_folder]
    slug = _slug(folders)
    handed = []
    for item in folders:
        author = item.name.removeprefix(slug)
        handed.append(Handed(author, (author,), (Part(item.path),)))
    files = [item for item in items if not item.is_folder]
    return handed, [Unmatched(item.name, "", "a file beside the repositories") for item in files]


def _slug(folders: Sequence[Item]) -> str:
    """What the names of repositories begin with: the assignment's, and a hyphen."""
    names = [item.name for item in folders]
    parent = folders[0].path.parent.name if folders else ""
    told = parent.removesuffix(_SUFFIX) + "-" if parent.endswith(_SUFFIX) else ""
    if told and all(name.startswith(told) and name != told for name in names):
        return told
    if len(names) < 2:
        return ""
    # Up to a hyphen, so that no letters of authors' names that are alike go with it.
    ends = (place + 1 for place, letter in enumerate(names[0]) if letter == "-")
    shared = [names[0][:end] for end in ends if all(name.startswith(names[0][:end]) for name in names)]
    return shared[-1] if shared and shared[-1] not in names else ""


CLONES = Layout("clones", "clones of repositories", _fits, _read)
