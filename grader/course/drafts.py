"""Writes what `grade new --from` drafts, and what it drafts again, without losing what an author has edited.

`.grade/drafts.json` has the digest of each file as it was drafted, by which an edited file is known. What is drafted
anew for an edited file lies under `.grade/drafts`, where its author can compare the two.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.course.answers import starter_digest, with_digest
from grader.course.layout import EXERCISE_FILE, Places, state_folder
from grader.course.scaffold import write_all


@dataclass(frozen=True)
class Drafted:
    """What was done with the files of an exercise that was drafted.

    Attributes:
        written: the files that were written, and what was drafted for those in `kept`.
        kept: the files that their author has edited, each with the path of what was drafted for it.
        removed: files of an earlier draft that this one does not have, and that nobody has edited.
        obsolete: such files that their author has edited; they stay.
    """

    written: list[Path]
    kept: dict[Path, Path]
    removed: list[Path]
    obsolete: list[Path]


def write_draft(root: Path, name: str, contents: Mapping[Path, str | bytes]) -> Drafted:
    """Write the files of a draft, except those that their author has edited since an earlier draft.

    A file is edited unless it has the text of the earlier draft, or of this one.

    Args:
        root: the folder of the course.
        name: "module/exercise".
        contents: the contents of the files by path, as `contents_of_exercise` returns them.

    Raises:
        CourseError: a file cannot be written.
    """
    places, record = Places(*name.split("/")), _Record(root)
    course_file, *paths = contents
    kept = {
        path: state_folder(root) / "drafts" / path.relative_to(root)
        for path in paths
        if path.is_file() and record.is_edited(path, contents[path])
    }
    chosen = {path: content for path, content in contents.items() if path not in kept}
    chosen |= {kept[path]: contents[path] for path in kept}
    description, starter = root / places.description, root / places.starter
    if starter in kept and description in chosen:  # which has the digest of what lies beside it
        chosen[description] = with_digest(str(chosen[description]), starter_digest(starter.read_bytes()))
    elif description in kept and starter in chosen:
        text = description.read_bytes().decode("utf-8")
        chosen[description] = with_digest(text, starter_digest(str(contents[starter]).encode()))
    earlier = [path for path in record.files_in(root / places.shown, root / places.staff) if path not in contents]
    obsolete = [path for path in earlier if record.is_edited(path)]
    removed = [path for path in earlier if path not in obsolete]
    record.note({path: contents[path] for path in paths}, without=removed)
    write_all(chosen | {record.path: record.text()})
    for path in removed:
        path.unlink()
    written = [path for path in chosen if path not in (course_file, description if description in kept else None)]
    return Drafted(written, kept, removed, obsolete)


class _Record:
    """The digests of the files of a course as they were drafted.

    Args:
        root: the folder of the course.

    Attributes:
        path: the path of the file that has them.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.path = state_folder(root) / "drafts.json"
        self._digests = dict[str, str]()
        with suppress(OSError, ValueError):  # without a record, every file counts as edited
            self._digests |= json.loads(self.path.read_text(encoding="utf-8"))

    def is_edited(self, path: Path, draft: str | bytes | None = None) -> bool:
        """Return whether a file has other contents than it was drafted with, and than `draft`."""
        known = {self._digests.get(self._name(path)), *([_digest(path, draft)] if draft is not None else [])}
        return _digest(path, path.read_bytes()) not in known

    def files_in(self, *folders: Path) -> list[Path]:
        """Return the files of these folders that were drafted and still exist."""
        drafted = [self._root / name for name in self._digests]
        return [path for path in drafted if path.is_file() and any(folder in path.parents for folder in folders)]

    def note(self, contents: Mapping[Path, str | bytes], without: list[Path]) -> None:
        """Record what was drafted, and that the files in `without` are gone."""
        self._digests |= {self._name(path): _digest(path, content) for path, content in contents.items()}
        for path in without:
            del self._digests[self._name(path)]

    def text(self) -> str:
        """Return the text of the file."""
        return json.dumps(self._digests, indent=1) + "\n"

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


def _digest(path: Path, content: str | bytes) -> str:
    """Return the digest of a file's content. The line of exercise.yaml that `grade verify` may write does not count."""
    data = content.encode() if isinstance(content, str) else content
    if path.name == EXERCISE_FILE:
        data = re.sub(rb"(?m)^starter:.*\n?", b"", data)
    return hashlib.sha256(data).hexdigest()
