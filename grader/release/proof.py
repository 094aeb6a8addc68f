"""The search of a copy, as it lies on the disk, for all that must not be in it."""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from grader.course.layout import MISTAKES, Places, is_description, is_ours, notebook_of, page_of
from grader.course.suffixes import NOTEBOOK
from grader.grading.sealed import is_sealed
from grader.intake.zipped import EPOCH, FILE_MODE
from grader.model.errors import CourseError
from grader.release.contents import Files
from grader.release.secrets import SHORTEST, SHORTEST_ALONE, Kind, Piece, Source, squeezed

_WINDOW = 40
"""Characters of a long piece that are enough to know it by."""
_MARKS = re.compile(r"^[\s#>|*+-]+")
"""What stands before a line of code in a comment, a quotation, a list or a table."""
_COMMENT = re.compile(r"#.*")
_EXCERPT = 48


class LeakError(CourseError):
    """A copy has what only staff may have."""


def read_folder(folder: Path) -> Files:
    """All that lies in a draft, links and special files refused.

    Raises:
        LeakError: there is something that is neither a file nor a folder.
    """
    files: Files = {}
    for at, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(at, name)
            shown_as, mode = path.relative_to(folder).as_posix(), path.lstat().st_mode
            if stat.S_ISREG(mode):
                files[shown_as] = path.read_bytes()
            elif not stat.S_ISDIR(mode):
                raise LeakError(f"{shown_as}: a copy has files and folders only, and this is a link or worse")
            elif not os.listdir(path):
                raise LeakError(f"{shown_as}: a copy has no empty folders")
    return files


def read_zip(path: Path) -> Files:
    """All that a zip has.

    Raises:
        LeakError: it says more than names and contents, or has bytes before, between or behind them.
    """
    files: Files = {}
    end = 0
    with zipfile.ZipFile(path) as archive:
        for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
            plain = (info.date_time, info.extra, info.comment, info.external_attr >> 16, info.internal_attr)
            if plain != (EPOCH, b"", b"", FILE_MODE, 0) or info.filename in files or info.header_offset != end:
                raise LeakError(f"{info.filename}: the zip says more of this file than its name and contents")
            files[info.filename] = archive.read(info)
            end += _HEADER + len(info.filename.encode()) + info.compress_size
        if archive.comment or archive.start_dir != end:
            raise LeakError(f"{path.name}: the zip has more than its files")
    return files


_HEADER = 30  # bytes before the name of a file


def prove(files: Files, planned: Collection[str], secrets: Sequence[Piece]) -> None:
    """Search a copy.

    Args:
        files: of the copy, as read from the disk.
        planned: the paths that it is to have.
        secrets: what must not be in it.

    Raises:
        LeakError: with each place where something was found.
    """
    problems = [f"{path}: no file of that name belongs into a copy" for path in sorted(files.keys() - planned)]
    problems += [f"{path}: the copy lacks this file" for path in sorted(set(planned) - files.keys())]
    problems += [
        f"{path}: this is to have sealed sentences and nothing else; make the copy anew"
        for path in sorted(files)
        if Path(path).name == MISTAKES and not is_sealed(files[path])
    ]
    problems += [found for path in sorted(files) for found in _canaries(path, files[path], secrets)]
    targets = [_Target.of(path, files[path]) for path in sorted(files)]
    there = frozenset[str]().union(*(target.starts for target in targets))
    # Nearly no piece is anywhere: one look into a set tells that, and only the rest is searched for in each file.
    suspects = [piece for piece in secrets if piece.kind is not Kind.CANARY and any(_windows(piece, there))]
    for target in targets:
        problems += target.problems(suspects)
    if problems:
        raise LeakError(*problems)


def prove_sentences(path: str, sentences: Sequence[str], secrets: Sequence[Piece]) -> None:
    """Search sentences that are sealed later, as if they stood in the copy: there they could not be searched.

    Raises:
        LeakError: one of them has what only staff may have, besides being the text of a wrong answer.
    """
    data = "\n".join(sentences).encode()
    # They are texts of wrong answers themselves.
    others = [piece for piece in secrets if (piece.kind, piece.source) != (Kind.TEXT, Source.WRONG)]
    problems = [*_canaries(path, data, others)]
    target = _Target.of(path, data)
    problems += target.problems([piece for piece in others if any(_windows(piece, target.starts))])
    if problems:
        raise LeakError(*(f"{problem}; it is to be sealed, and read by who makes that mistake" for problem in problems))


def _canaries(path: str, data: bytes, secrets: Sequence[Piece]) -> Iterator[str]:
    for piece in secrets:
        if piece.kind is Kind.CANARY:
            mark = piece.text.encode()
            if piece.text in path:
                yield f"{path}: its name has the canary of {piece.where}"
            elif mark in data:
                line = data.count(b"\n", 0, data.index(mark)) + 1
                yield f"{path}:{line}: has the canary of {piece.where}"


def _windows(piece: Piece, starts: Collection[str], *, whole: bool = False) -> Iterator[str]:
    """The parts of a piece that are enough to know it by, and that may be where parts begin in these ways."""
    size = len(piece.text) if whole or piece.kind is Kind.FUNCTION else min(_WINDOW, len(piece.text))
    for first in range(len(piece.text) - size + 1):
        if piece.text[first : first + SHORTEST] in starts:
            window = piece.text[first : first + size]
            if window not in piece.public:
                yield window


@dataclass(frozen=True)
class _Target:
    """A file of the copy, without white space.

    Attributes:
        path: its path.
        streams: its text read in several ways, each with the line of every character.
        starts: all that stands anywhere in it, as long as the shortest piece.
    """

    path: str
    streams: tuple[tuple[str, Sequence[int]], ...]
    starts: frozenset[str]

    @classmethod
    def of(cls, path: str, data: bytes) -> _Target:
        """A file as one."""
        lines = data.decode("utf-8", "replace").splitlines()
        numbered = list(enumerate(lines, 1))
        quoted = [(number, _MARKS.sub("", line)) for number, line in numbered]
        readings = [numbered, quoted, [(number, _COMMENT.sub("", line)) for number, line in quoted]]
        if path.endswith((".yaml", NOTEBOOK)):  # of JSON the same can be asked
            readings.append(list(_scalars(data)))
        streams = tuple(_stream(reading) for reading in readings)
        starts = {text[at : at + SHORTEST] for text, _ in streams for at in range(len(text))}
        return cls(path, streams, frozenset(starts))

    def problems(self, suspects: Sequence[Piece]) -> Iterator[str]:
        """One for each line that has a piece."""
        told: set[int] = set()
        for piece in suspects:
            if not self._is_leak(piece):
                continue
            for window in _windows(piece, self.starts, whole=piece.kind is Kind.STATEMENT and not self._is_near(piece)):
                line = self._line_of(window)
                if line is not None and line not in told:
                    told.add(line)
                    yield (
                        f"{self.path}:{line}: {piece.kind.value} of {piece.source.value} stands here: "
                        f"{window[:_EXCERPT]} ({piece.where}); take it out here, or change it there"
                    )
                    break

    def _is_leak(self, piece: Piece) -> bool:
        """Whether a piece may not stand in this file; see `secrets`."""
        path = Path(self.path)
        if piece.kind is Kind.FUNCTION:
            return True
        if piece.kind is Kind.INPUT:
            return self._is_near(piece)
        if is_description(path):  # the third hint is nearly the code
            return False
        if piece.kind is Kind.TEXT:
            return True
        if is_ours(path.name) and piece.source is not Source.SOLUTION:
            return False  # checks of both kinds call the same functions
        return self._is_near(piece) or len(piece.text) >= SHORTEST_ALONE

    def _is_near(self, piece: Piece) -> bool:
        """Whether this file is of the exercise that the piece is of, or the page of its module."""
        if piece.exercise is None:
            return False
        path = Path(self.path)
        module = piece.exercise.module
        return path in (page_of(module), notebook_of(module)) or path.parent == Places.of(piece.exercise).shown

    def _line_of(self, window: str) -> int | None:
        for text, lines in self.streams:
            at = text.find(window)
            if at >= 0:
                return lines[at]
        return None


def _stream(lines: Sequence[tuple[int, str]]) -> tuple[str, Sequence[int]]:
    squeezed_lines = [(number, squeezed(line)) for number, line in lines]
    text = "".join(line for _, line in squeezed_lines)
    return text, [number for number, line in squeezed_lines for _ in line]


def _scalars(data: bytes) -> Iterator[tuple[int, str]]:
    """The texts in a file of YAML or JSON as they are read: on the disk they may be wrapped, and signs escaped."""
    waiting = [yaml.compose(data, yaml.SafeLoader)]
    while waiting:
        node = waiting.pop()
        match node:
            case yaml.ScalarNode():
                yield node.start_mark.line + 1, str(node.value)
            case yaml.SequenceNode():
                waiting += node.value
            case yaml.MappingNode():
                waiting += [part for pair in node.value for part in pair]
