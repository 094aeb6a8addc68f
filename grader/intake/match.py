"""Which exercise a file is of: by its name, by its name as somebody or something changed it, and last by its contents.

The one place where this is decided, for every platform's download. Nothing is run or parsed here: the files are a
stranger's.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.course.layout import is_ours
from grader.course.suffixes import NOTEBOOK, PYTHON
from grader.model import Exercise

CODE = (".py", NOTEBOOK)
_LONGEST_NAME = 255

_NUMBERED = re.compile(r"(.+?)(?:\s*\((\d{1,3})\)|[-_ ](\d{1,3}))")
"""What browsers and platforms add to a file that is there already: `a (1).py`, `a-2.py`."""
_COPY = re.compile(r"(?:copy[ _]of[ _])?(.+?)(?:[ _-]+(?:copy|kopie|copie|copia))?", re.IGNORECASE)
_ATTEMPT = re.compile(r"(?:attempt|submission|version|try|v)?[ _-]*(\d{1,9})", re.IGNORECASE)
_TITLE = re.compile(rb"""\A(?:\s|#[^\n]*\n)*[rRuU]?(?:\"\"\"|''')\s*([^\n]+)""")
_DEFINED = re.compile(rb"^(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z]\w*)", re.MULTILINE)


@dataclass(frozen=True)
class Name:
    """What a file's name says of it.

    Attributes:
        exercise: the id of the exercise, or "".
        number: how often it was downloaded or handed in before, as the name says; 0 for the first.
        exact: whether it is the very name that was asked for.
    """

    exercise: str = ""
    number: int = 0
    exact: bool = False


def named(name: str, exercises: Sequence[Exercise]) -> Name | None:
    """What the name of a file says; None if it is no exercise's."""
    suffix = next((end for end in (*PYTHON, NOTEBOOK) if name.lower().endswith(end)), "")
    if not suffix or is_ours(name) or len(name) > _LONGEST_NAME:
        return None
    stem = name[: -len(suffix)]
    number = 0
    for _ in range(3):  # double (1)-2
        if id := called(stem, exercises):
            return Name(id, number, exact=name == f"{id}.py")
        bare = _COPY.fullmatch(stem)
        if bare and (id := called(bare[1], exercises)):
            return Name(id, number + 1)
        found = _NUMBERED.fullmatch(stem)
        if found is None:
            break
        stem, number = found[1], max(number, int(found[2] or found[3]))
    id, _ = _inside(_fold(stem), exercises)
    return Name(id, number) if id else None


def called(word: str, exercises: Sequence[Exercise]) -> str:
    """The exercise that goes by a word, its id or number, however that is spelt; "" for none."""
    folded = _fold(word)
    return next((item.id for item in exercises if folded in (_fold(item.id), _fold(item.number))), "")


def owner_in(stem: str, exercises: Sequence[Exercise]) -> str:
    """Whose a file is whose name holds an exercise's id and something else: `ada_double` is ada's; "" if it is not."""
    stem = without_downloads(stem)
    numbered = _NUMBERED.fullmatch(stem)
    if called(stem, exercises) or (numbered and called(numbered[1], exercises)):
        return ""
    owner = _inside(_fold(stem), exercises)[1]
    return owner or (_inside(_fold(numbered[1]), exercises)[1] if numbered else "")  # ada_double-2


def without_downloads(stem: str) -> str:
    """A name without what a browser adds; a number without brackets may be a group's."""
    return re.sub(r"\s*\(\d{1,3}\)$", "", stem)


def _inside(folded: str, exercises: Sequence[Exercise]) -> tuple[str, str]:
    """The exercise whose id a name begins or ends with, the longest one, and the rest of the name."""
    if folded.startswith("test_"):  # a student's own tests
        return "", ""
    for id in sorted((exercise.id for exercise in exercises), key=len, reverse=True):
        spelt = _fold(id)
        if folded.endswith(f"_{spelt}"):
            return id, folded[: -len(spelt) - 1]
        if folded.startswith(f"{spelt}_"):
            return id, folded[len(spelt) + 1 :]
    return "", ""


@functools.lru_cache(maxsize=4096)
def _fold(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    return re.sub(r"[\s_-]+", "_", plain)


def by_contents(source: bytes, exercises: Sequence[Exercise]) -> tuple[str, str]:
    """The one exercise whose title a file begins with, or whose functions it defines, and how that was seen.

    Returns:
        its id and a few words; "" and why not, if there is none, or more than one.
    """
    title = _title(source)
    found = [exercise.id for exercise in exercises if title and title == _starter(exercise.starter)[0]]
    if len(found) == 1:
        return found[0], "by the first line of its docstring"
    names = defined(source)
    found = [exercise.id for exercise in exercises if starter_names(exercise) and starter_names(exercise) <= names]
    if len(found) == 1:
        return found[0], "by the functions that it defines"
    if found:
        return "", f"it could be of {' or '.join(found)}; name it after one of them"
    return "", "no exercise goes by its name, and it defines none of their functions"


def starter_names(exercise: Exercise) -> frozenset[str]:
    """The functions and classes that an exercise asks for."""
    return _starter(exercise.starter)[1]


def defined(source: bytes) -> frozenset[str]:
    """The functions and classes that stand at the beginning of a line."""
    return frozenset(found.decode("ascii", "replace") for found in _DEFINED.findall(source))


@functools.cache
def _starter(path: Path) -> tuple[bytes, frozenset[str]]:
    source = path.read_bytes() if path.is_file() else b""
    return _title(source), defined(source)


def _title(source: bytes) -> bytes:
    found = _TITLE.match(source)
    return found[1].strip().rstrip(b"\"'").strip() if found else b""


def attempt_of(path: PurePosixPath) -> int:
    """Which attempt a file is of, as a folder on the way to it says: `attempt_2/double.py`; 0 if none says it."""
    found = [_ATTEMPT.fullmatch(part) for part in path.parts[:-1]]
    return max((int(number[1]) for number in found if number), default=0)
