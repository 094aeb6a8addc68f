"""A folder made by hand: for each author a folder, a zip or a single file; or the files of one author alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from grader.course.suffixes import ZIP
from grader.intake.handed import Handed, Item, Layout, Part, Taken, Unmatched, grouped
from grader.intake.match import CODE, attempt_of, named, owner_in, without_downloads
from grader.model import Exercise

_LEAST_OWNED = 4
"""So many authors' files of one exercise for each file that does not say whose it is."""


def _fits(items: Sequence[Item]) -> bool:
    return True


def _read(items: Sequence[Item], exercises: Sequence[Exercise]) -> Taken:
    one = _of_one_author(items, exercises)
    if one is not None:
        return [one], []
    found, unmatched = [], []
    for item in items:
        suffix = item.path.suffix.lower()
        if item.is_folder:
            found.append((item.name, Part(item.path), ""))
        elif suffix == ZIP:
            found.append((without_downloads(item.path.stem), Part(item.path, PurePosixPath(item.name)), ""))
        elif suffix not in CODE:
            unmatched.append(Unmatched(item.name, "", "neither a folder nor a zip, nor Python, nor a notebook"))
        elif owner := owner_in(item.path.stem, exercises):  # ada_double.py
            found.append((owner, Part(item.path, PurePosixPath(item.name)), ""))
        elif named(item.name, exercises):
            unmatched.append(Unmatched(item.name, "", "it is named like an exercise, and does not say whose it is"))
        else:  # ada.py: what it is of, its contents say
            found.append((without_downloads(item.path.stem), Part(item.path, PurePosixPath(item.name)), ""))
    return grouped(found), unmatched


def _of_one_author(items: Sequence[Item], exercises: Sequence[Exercise]) -> Handed | None:
    """The folder as what one author handed in, where files of exercises lie in it, and nothing that is an author's."""
    code = [item for item in items if item.path.suffix.lower() in CODE and not item.is_folder]
    own = [item for item in code if named(item.name, exercises)]
    others = [item for item in items if item.is_folder or item.path.suffix.lower() == ZIP]
    if not own or others or len(own) < len(code) or _of_several(own, exercises):
        return None
    folder = items[0].path.parent.resolve()
    return Handed(folder.name, (folder.name,), (Part(folder),))


def _of_several(items: Sequence[Item], exercises: Sequence[Exercise]) -> bool:
    """Whether one exercise has files of several names besides its own: ada_double.py and bo_double.py.

    In a class somebody may have left the name out; where many have, they are one author's.
    """
    owners: dict[str, set[str]] = {}
    bare = 0
    for item in items:
        owner, name = owner_in(item.path.stem, exercises), named(item.name, exercises)
        if not owner or name is None:
            bare += 1
        elif not attempt_of(PurePosixPath(owner, item.name)):
            owners.setdefault(name.exercise, set()).add(owner)
    return any(len(own) > 1 and len(own) >= _LEAST_OWNED * bare for own in owners.values())


PLAIN = Layout("plain", "a folder for each author", _fits, _read)
