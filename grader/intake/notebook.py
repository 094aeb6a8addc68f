"""A notebook → the code of an exercise, as a module. Nothing in it is run.

Which cells are an exercise's: those with its id as a tag or as nbgrader's id, and those that begin with a comment with
its name; where there are none, those below a heading that names it. Cells before the first that is some exercise's
belong to all, but not to one with cells marked `# exercise: NAME`, which `grader.notebook` takes alone as well. Where
no cell says it, the whole notebook is of each exercise whose functions it defines.

Lines that are no Python are left out with a note: magics, shell lines, calls that grade from within the notebook. Each
line of a module knows the cell that it comes from.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.intake.match import called, defined, named, starter_names
from grader.model import Exercise

_MAGIC = re.compile(r"[%!?]|[\w, .\[\]]+=\s*[%!]|.*\?$")  # of a line without blanks at its ends
_GRADING = re.compile(r"(?:from grader\b.*|import grader\b.*|check\(\s*[\"'][\w-]+[\"'].*\)\s*;?)\s*$")
_BODY_COUNTS = ("%%time", "%%timeit", "%%capture", "%%prun")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.{1,200})$", re.MULTILINE)
_FIRST_COMMENT = re.compile(r"\s*#[#\s%|]*(?:exercise\b)?[\s:]*([\w-]+)\s*:?\s*$", re.IGNORECASE)
_MARK = re.compile(r"\s*#\s*exercise:")
_LONGEST_COMMENT = 200
_MOST_CELLS = 1000
_MOST_HEADINGS = 20

# A stranger's code is compiled here, and never run, to see whether it is Python: so much of it and no more.
_LARGEST_CELL = 1 << 16
_MOST_COMPILED = 4 << 20
_MOST_DROPPED = 50


@dataclass(frozen=True)
class Module:
    """The code of one exercise, as a notebook has it.

    Attributes:
        source: of the module.
        places: for each of its lines, the code cell and the line in that.
        notes: what was left out.
        own: the source of those of its cells alone that say which exercise they are of.
    """

    source: bytes
    places: tuple[tuple[int, int], ...]
    notes: tuple[str, ...]
    own: bytes


@dataclass(frozen=True)
class _Cell:
    """A code cell: its number among them, its code, the exercise that it is of, and whether it says so itself."""

    number: int
    code: str
    exercise: str
    says_so: bool = False


def modules_of(data: bytes, name: str, exercises: Sequence[Exercise]) -> dict[str, Module]:
    """The modules in a notebook, by exercise.

    Args:
        data: the file.
        name: of the file: where it is an exercise's, and no cell says anything else, all of it is that exercise's.
        exercises: all of the course.

    Raises:
        ValueError: it is no notebook.
    """
    cells = list(_cells(data, exercises))
    told = {cell.exercise for cell in cells if cell.exercise}
    known = {exercise.id: exercise for exercise in exercises}
    if told:
        first = next(place for place, cell in enumerate(cells) if cell.exercise)
        common = [cell for cell in cells[:first] if not cell.exercise]
        chosen = {id: _of_one(common, [cell for cell in cells if cell.exercise == id]) for id in told}
    elif own := named(name, exercises):
        chosen = {own.exercise: cells}
    else:
        names = defined(_bytes("\n".join(cell.code for cell in cells)))
        chosen = {exercise.id: cells for exercise in exercises if names & starter_names(exercise)}
        # Where a function is asked for by several exercises, those of which all are there.
        chosen = {id: own for id, own in chosen.items() if starter_names(known[id]) <= names} or chosen
    errors = _Errors()
    return {id: _module(own, starter_names(known[id]), errors) for id, own in chosen.items()}


def _of_one(common: Sequence[_Cell], cells: Sequence[_Cell]) -> list[_Cell]:
    """The cells that count for an exercise: what was tried out beside marked ones does not."""
    own = [cell for cell in cells if cell.says_so] or cells
    return [*own] if any(cell.says_so and _MARK.match(cell.code) for cell in own) else [*common, *own]


def _cells(data: bytes, exercises: Sequence[Exercise]) -> Iterator[_Cell]:
    try:
        notebook = json.loads(data)
        cells = notebook["cells"]
        sheets = [dict(cell) for cell in cells][:_MOST_CELLS]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("it cannot be read as a notebook; save it again as .ipynb") from None
    below, level, number = "", 0, 0
    for cell in sheets:
        kind, text = cell.get("cell_type"), _text(cell.get("source"))
        if kind == "markdown":
            for marks, heading in _HEADING.findall(text)[:_MOST_HEADINGS]:
                if named_in := _exercise_in(heading, exercises):
                    below, level = named_in, len(marks)
                elif len(marks) <= level:
                    below, level = "", 0
        elif kind == "code":
            number += 1
            if _is_test(cell):  # of the teacher's, which come along in nbgrader's notebooks
                continue
            own = _own_exercise(cell, text, exercises)
            yield _Cell(number, text, own or below, says_so=bool(own))


def _text(source: object) -> str:
    joined = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
    return joined.replace("\r\n", "\n").replace("\r", "\n")


def _own_exercise(cell: Mapping[str, object], text: str, exercises: Sequence[Exercise]) -> str:
    """The exercise that a code cell names itself: by a tag, by nbgrader's id, or in its first line."""
    metadata = cell.get("metadata")
    about: Mapping[str, object] = metadata if isinstance(metadata, dict) else {}
    tags, nbgrader = about.get("tags"), about.get("nbgrader")
    words = [str(tag).rsplit(":", 1)[-1] for tag in tags] if isinstance(tags, list) else []
    words += [str(nbgrader.get("grade_id"))] if isinstance(nbgrader, dict) else []
    comment = _FIRST_COMMENT.fullmatch(text.strip().split("\n", 1)[0][:_LONGEST_COMMENT])
    words += [comment[1]] if comment else []
    return next(filter(None, (called(word, exercises) for word in words)), "")


def _is_test(cell: Mapping[str, Any]) -> bool:
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return isinstance(nbgrader, dict) and bool(nbgrader.get("grade")) and not nbgrader.get("solution")


def _exercise_in(heading: str, exercises: Sequence[Exercise]) -> str:
    """The exercise that a heading names: by its id, its number or its title; "" for none, and for several."""
    folded = f" {re.sub(r'[^0-9a-zA-Z_-]+', ' ', heading).casefold()} "
    found = set()
    for exercise in exercises:
        title = re.sub(r"[^0-9a-zA-Z_-]+", " ", exercise.title).strip().casefold()
        if any(word and f" {word} " in folded for word in (exercise.id.casefold(), exercise.number, title)):
            found.add(exercise.id)
    return found.pop() if len(found) == 1 else ""


def _module(cells: Sequence[_Cell], asked: frozenset[str], errors: _Errors) -> Module:
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    notes: list[str] = []
    for cell in cells:
        code, dropped = _python(cell.code, errors)
        error = errors.of(code)
        # The cell of the answer stays, so that its author reads what is wrong with it; any other may be a sketch.
        if error and not defined(_bytes(code)) & asked:
            told = f"{type(error).__name__}: {error.msg}, line {error.lineno}"
            notes.append(f"code cell {cell.number} was left out: {told}")
            continue
        if dropped:
            notes.append(f"code cell {cell.number}: left out {_listed(dropped)}")
        lines += code.split("\n")
        places += [(cell.number, line) for line in range(1, code.count("\n") + 2)]
    own = "\n".join(cell.code for cell in cells if cell.exercise)
    return Module(_bytes("\n".join([*lines, ""])), tuple(places), tuple(notes), _bytes(own))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _listed(dropped: Sequence[str]) -> str:
    shown = ", ".join(line.strip()[:40] for line in dropped[:3])
    return shown if len(dropped) <= 3 else f"{shown} and {len(dropped) - 3} more"


def _python(code: str, errors: _Errors) -> tuple[str, list[str]]:
    """The code of a cell without what is no Python, line for line, and the lines that were left out."""
    lines = code.split("\n")
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        word = lines[first].split()[0]
        if word not in _BODY_COUNTS:
            return "\n".join("" for _ in lines), [lines[first]]
        return _without(lines, [first], errors)
    drop = [place for place, line in enumerate(lines) if _GRADING.match(line)]
    return _without(lines, drop, errors)


def _without(lines: list[str], drop: Sequence[int], errors: _Errors) -> tuple[str, list[str]]:
    """Lines without some, and without the magics that Python stumbles over: a text may have lines that look alike."""
    dropped = [lines[place] for place in drop if not _GRADING.match(lines[place])]
    for place in drop:
        lines[place] = _nothing(lines[place])
    for _ in range(_MOST_DROPPED):
        error = errors.of("\n".join(lines))
        place = (error.lineno or 0) - 1 if error else -1
        if not 0 <= place < len(lines) or not _MAGIC.match(lines[place].strip()):
            break
        dropped.append(lines[place])
        lines[place] = _nothing(lines[place])
    return "\n".join(lines), dropped


def _nothing(line: str) -> str:
    """A line that does nothing, as far to the right."""
    return line[: len(line) - len(line.lstrip())] + "pass"


class _Errors:
    """Why texts are no Python, for one notebook: what is too large or too much is not looked at, and counts as code."""

    def __init__(self) -> None:
        self._known: dict[str, SyntaxError | None] = {}
        self._room = _MOST_COMPILED

    def of(self, code: str) -> SyntaxError | None:
        """The error of a text; None if there is none, or one that is a worker's to find out."""
        if code not in self._known:
            self._room -= len(code)
            self._known[code] = _error(code) if self._room > 0 and len(code) <= _LARGEST_CELL else None
        return self._known[code]


def _error(code: str) -> SyntaxError | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(code, "cell", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
        except (ValueError, MemoryError, RecursionError, OverflowError):
            return None
    return None


def in_cells(text: str, file_name: str, places: Sequence[tuple[int, int]]) -> str:
    """A text in which lines of a module are told as lines of the notebook's cells."""

    def told(found: re.Match[str]) -> str:
        line = int(found[1])
        if not 0 < line <= len(places):
            return found[0]
        cell, inner = places[line - 1]
        return f"code cell {cell}, line {inner}"

    return re.sub(rf"\"?(?:[^\s\"']{{0,200}}/)?{re.escape(file_name)}\"?, line (\d{{1,7}})", told, text)
