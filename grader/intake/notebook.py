"""A notebook in a file → the code of each exercise in it, as a module. Nothing in it is run.

Which cells are an exercise's: those with its id as a tag or as nbgrader's id, and those that begin with a comment with
its name; without such cells, those below a heading that names it. Cells before the first that is some exercise's
belong to all, but not to one with cells marked `# exercise: NAME`, which `grader.notebook` takes alone as well. Where
no cell says it, the whole notebook is of each exercise whose functions it defines, but for cells that define others'.

Magics and shell lines are left out with a note; what else is left out, `cells` says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from grader.intake.cells import LARGEST, Cell, Module, joined, of_this, without_their_imports
from grader.intake.match import called, defined, named, starter_names, syntax_error
from grader.model import Exercise

_MAGIC = re.compile(r"[%!?]|[\w, .\[\]]+=\s*[%!]|.*\?$")  # of a line without blanks at its ends
_BODY_COUNTS = ("%%time", "%%timeit", "%%capture", "%%prun")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.{1,200})$", re.MULTILINE)
_COMMENT = re.compile(r"#[#%| \t]*(?:exercise[: \t]+)?([\w-]+)[#%|: \t]*", re.IGNORECASE)  # exercise: double
_LONGEST_COMMENT = 200
_MOST_CELLS = 1000
_MOST_HEADINGS = 20


def modules_of(data: bytes, name: str, exercises: Sequence[Exercise]) -> dict[str, Module]:
    """The modules in a notebook, by exercise.

    Args:
        data: the file.
        name: of the file: where it is an exercise's, and no cell says anything else, all of it is that exercise's.
        exercises: all of the course.

    Raises:
        ValueError: it is not a notebook.
    """
    cells = list(_cells(data, exercises))
    needed = {exercise.id: starter_names(exercise) for exercise in exercises}
    chosen: dict[str, list[Cell]] = {}
    if marked := {cell.of for cell in cells if cell.of}:
        first = next(place for place, cell in enumerate(cells) if cell.of)
        for id in marked:
            its = _of_one(cells[:first], [cell for cell in cells if cell.of == id])
            chosen[id] = without_their_imports(its, [cell for cell in cells if cell.of not in ("", id)])
    elif own := named(name, exercises):
        chosen = {own.exercise: cells}
    else:
        names = defined("\n".join(cell.source for cell in cells))
        some = [id for id in needed if names & needed[id]]
        # Where several exercises have a function of that name, those of which all functions are there.
        ids = [id for id in some if needed[id] <= names] or some
        others = set[str]().union(*(needed[id] for id in ids))
        chosen = {id: of_this(cells, needed[id], others) for id in ids}
    modules = {id: joined(its, needed[id], "code cell {}") for id, its in chosen.items()}
    for id, module in modules.items():
        module.own = "\n".join(cell.source for cell in chosen[id] if cell.of).encode("utf-8", "replace")
    return modules


def _of_one(common: list[Cell], cells: list[Cell]) -> list[Cell]:
    """The cells that count for an exercise: what was tried out beside marked ones does not."""
    own = [cell for cell in cells if cell.says_so] or cells
    return own if any(cell.says_so and cell.exercises for cell in own) else [*common, *own]


def _cells(data: bytes, exercises: Sequence[Exercise]) -> Iterator[Cell]:
    try:
        rows = [dict(cell) for cell in json.loads(data)["cells"]][:_MOST_CELLS]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("it cannot be read as a notebook; save it again as .ipynb") from None
    below, level, number = "", 0, 0
    for cell in rows:
        kind, text = cell.get("cell_type"), _text(cell.get("source"))
        if kind == "markdown":
            for marks, heading in _HEADING.findall(text)[:_MOST_HEADINGS]:
                if named_in := _exercise_in(heading, exercises):
                    below, level = named_in, len(marks)
                elif len(marks) <= level:
                    below, level = "", 0
        elif kind == "code":
            number += 1
            about = _mapping(cell.get("metadata"))
            nbgrader = _mapping(about.get("nbgrader"))
            if nbgrader.get("grade") and not nbgrader.get("solution"):
                continue  # tests of the teacher's, which come along in nbgrader's notebooks
            own = _own_exercise(about.get("tags"), nbgrader.get("grade_id"), text, exercises)
            source, dropped = _python(text)
            yield Cell(number, source, dropped=dropped, of=own or below, says_so=bool(own))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(source: object) -> str:
    joined = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
    return joined.replace("\r\n", "\n").replace("\r", "\n")


def _own_exercise(tags: object, grade_id: object, text: str, exercises: Sequence[Exercise]) -> str:
    """The exercise that a code cell names itself: by a tag, by nbgrader's id, or in its first line."""
    words = [str(tag).rsplit(":", 1)[-1] for tag in tags] if isinstance(tags, list) else []
    words.append(str(grade_id))
    first = text.strip().split("\n", 1)[0]
    if len(first) <= _LONGEST_COMMENT and (comment := _COMMENT.fullmatch(first)):
        words.append(comment[1])
    return next(filter(None, (called(word, exercises) for word in words)), "")


def _exercise_in(heading: str, exercises: Sequence[Exercise]) -> str:
    """The exercise that a heading names: by its id, its number or its title; "" for none, and for several."""
    folded = _words(heading)
    names = {item.id: filter(str.strip, map(_words, (item.id, item.number, item.title))) for item in exercises}
    ids = [id for id, own in names.items() if any(name in folded for name in own)]
    return ids[0] if len(ids) == 1 else ""


def _words(text: str) -> str:
    return f" {re.sub(r'[^0-9a-zA-Z_-]+', ' ', text).strip().casefold()} "


def _python(code: str) -> tuple[str, tuple[str, ...]]:
    """A cell in which lines that are not Python do nothing, and these lines. A cell that is Python has none."""
    lines = code.split("\n")
    dropped = []
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        dropped.append(lines[first])
        if lines[first].split()[0] not in _BODY_COUNTS:
            return "\n" * (len(lines) - 1), tuple(dropped)
        lines[first], code = "", "\n".join(["", *lines[first + 1 :]])
    if len(code) <= LARGEST and syntax_error(code):
        for place, line in enumerate(lines):
            if _MAGIC.match(line.strip()):
                dropped.append(line)
                lines[place] = _nothing(line)
    return "\n".join(lines), tuple(dropped)


def _nothing(line: str) -> str:
    """A line that does nothing, as far to the right."""
    return line[: len(line) - len(line.lstrip())] + "pass"
