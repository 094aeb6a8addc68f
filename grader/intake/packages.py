"""Which Python files come along with the one that counts: those beside it, and packages in folders that one imports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

_IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+\.*|import[ \t]+)([^#\n]+)", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")


def with_packages(main: bytes, around: Mapping[PurePosixPath, bytes]) -> dict[str, bytes]:
    """The files beside one, and those of the folders beside it that it, or what comes along, imports by their names.

    Folders that nobody imports stay: in a hand-in they may be other exercises. Nothing is parsed here: the files are a
    stranger's.

    Args:
        main: the text of the file that counts.
        around: Python files beside and below it, by their paths from its folder.

    Returns:
        those that come along, by name, in the order in which they were given.
    """
    taken = {path for path in around if len(path.parts) == 1}
    folders = {path.parts[0] for path in around if len(path.parts) > 1}
    texts = [main, *(around[path] for path in taken)]
    while texts and folders:
        words = _imported(texts.pop())
        named = {folder for folder in folders if folder.encode("utf-8", "surrogateescape") in words}
        folders -= named
        new = [path for path in around if path.parts[0] in named and len(path.parts) > 1]
        taken.update(new)
        texts += [around[path] for path in new]
    return {path.as_posix(): data for path, data in around.items() if path in taken}


def _imported(text: bytes) -> set[bytes]:
    """The first names in the lines of a text that import something."""
    return {word for line in _IMPORTED.findall(text) for word in _WORD.findall(line)}
