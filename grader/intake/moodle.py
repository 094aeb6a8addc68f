"""Moodle: a folder for each author, or one flat folder; named, blind, or of teams."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from grader.intake.handed import Item, Layout, Part, Taken, Unmatched, grouped, mostly
from grader.model import Exercise

# `<name>_<number>_assignsubmission_file[_]` is a folder, `<name>_<number>_assignsubmission_file_<file>` a file. Blind,
# the name is `Participant`; of a team, the name and the number are the team's.
_NAME = re.compile(r"(?P<who>.+)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?")


def _fits(items: Sequence[Item]) -> bool:
    return mostly(items, lambda item: bool(_NAME.fullmatch(item.name)))


def _read(items: Sequence[Item], exercises: Sequence[Exercise]) -> Taken:
    found, unmatched = [], []
    for item in items:
        parsed = _NAME.fullmatch(item.name)
        if parsed is None:
            unmatched.append(Unmatched(item.name, "", "its name does not begin with an author's, as Moodle has them"))
            continue
        key = f"{parsed['who']}_{parsed['number']}"
        if parsed["kind"] != "file":
            unmatched.append(Unmatched(item.name, key, "what was typed into Moodle: no file"))
            continue
        name = PurePosixPath() if item.is_folder else PurePosixPath(parsed["file"] or item.name)
        found.append((key, Part(item.path, name), ""))
    return grouped(found, [row.author for row in unmatched if row.author]), unmatched


MOODLE = Layout("moodle", "a Moodle download", _fits, _read)
