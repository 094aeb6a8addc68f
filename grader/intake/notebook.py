"""Cells of a notebook → the text of an exercise module, for notebooks in files and in running kernels. Nothing is run.

In a file, an exercise's cells are those with its id as a tag or as nbgrader's id, and those that begin with a comment
with its name; without such cells, those below a heading that names it. Cells before the first that is some exercise's
belong to all, but not to one with cells marked `# exercise: NAME`, which a kernel's notebook takes alone as well. Where
no cell says it, the whole notebook is of each exercise whose functions it defines, but for cells that define others'.

What only a notebook can run is left out, and so is what only shows or tries something. Each line of the module knows
the cell that it comes from.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.course.answers import names_of
from grader.intake.cells import (
    DEFINITIONS,
    Edit,
    bindings,
    dotted,
    edited,
    in_order,
    listed,
    python_of,
    simple_statements,
)
from grader.intake.match import called, defined, named, starter_names, syntax_error
from grader.model import Exercise

_OURS = "grader.notebook"

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.{1,200})$", re.MULTILINE)
_COMMENT = re.compile(r"#[#%| \t]*(?:exercise[: \t]+)?([\w-]+)[#%|: \t]*", re.IGNORECASE)  # exercise: double
_LONGEST_COMMENT = 200
_MOST_CELLS = 1000
_MOST_HEADINGS = 20


@dataclass(frozen=True)
class Cell:
    """One run of a cell, or a cell that was saved.

    Attributes:
        number: as the notebook shows it.
        source: as the student typed it, magics included.
        failed: whether it raised.
        id: of the cell, if the notebook has one; the same for all its runs.
        of: in a file, the id of the exercise that it is of, or "".
        says_so: whether it says that itself.
    """

    number: int
    source: str
    failed: bool = False
    id: str | None = None
    of: str = ""
    says_so: bool = False

    @property
    def exercises(self) -> tuple[str, ...]:
        """The exercises that its first line says it belongs to: `# exercise: double, total`."""
        mark, _, words = self.source.lstrip().split("\n", 1)[0].partition(":")
        is_mark = mark.startswith("#") and mark[1:].strip() == "exercise"
        return tuple(re.split(r"[\s,]+", words.strip())) if is_mark and words.strip() else ()


@dataclass
class Module:
    """The text of an exercise module.

    Attributes:
        label: how a cell is named by its number.
        lines: its lines.
        origins: of each line, the number of the cell and the line in it.
        notes: what was left out, for the student.
        own: the source of those of its cells alone that say which exercise they are of.
    """

    label: str
    lines: list[str] = field(default_factory=list)
    origins: list[tuple[int, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    own: bytes = b""

    @property
    def source(self) -> bytes:
        """The text."""
        return "".join(f"{line}\n" for line in self.lines).encode("utf-8", "replace")

    def note(self, number: int, text: str) -> None:
        """Say something of a cell."""
        self.notes.append(f"{self.label.format(number)}{text}")

    def add(self, number: int, lines: Sequence[str], numbers: Sequence[int]) -> None:
        """Take lines of a cell, which come from these lines of it."""
        self.lines += lines
        self.origins += [(number, line) for line in numbers]


def module_of(
    cells: Sequence[Cell],
    exercise: Sequence[str],
    needed: Collection[str],
    known: Collection[str],
    others: Collection[str] = (),
) -> Module:
    """The module that cells which ran in a kernel make.

    Where a cell is marked with the exercise, the marked cells alone count; else all that belong to no other exercise.

    Args:
        cells: in the order in which they ran.
        exercise: what the exercise goes by, its id first.
        needed: names that it asks for.
        known: names in the kernel's memory.
        others: names that other exercises ask for.
    """
    latest = [cell for cell in _latest(cells) if cell.source.strip()]
    marked = [cell for cell in latest if set(cell.exercises) & set(exercise)]
    chosen = marked or of_this([cell for cell in latest if not cell.exercises], needed, others)
    module = joined([cell for cell in chosen if not cell.failed], our_statements(latest))
    used, given = _names("\n".join(module.lines))
    for name in sorted(({*needed, *used} - given) & set(known)):
        module.notes.append(f"`{name}` {_where_it_is(name, latest, chosen, exercise[0])}")
    return module


def _where_it_is(name: str, latest: Sequence[Cell], chosen: Sequence[Cell], exercise: str) -> str:
    """Return why no cell that counts defines a name which the kernel knows, and what to do."""
    where = [cell for cell in latest if name in _names(cell.source)[1] or name in defined(cell.source)]
    if not where:
        why = "the cell that defined it is gone or was changed; define it in a cell, and run that"
        return f"is in the kernel's memory alone: {why}"
    label = f"In [{where[-1].number}]"
    if where[-1] not in chosen:
        return f"is defined in {label}, which is not of this exercise: begin that cell with  # exercise: {exercise}"
    if where[-1].failed:
        return f"is defined in {label}, which failed: fix that cell, and run it again"
    return f"is defined in {label}, which is not Python: fix that cell, and run it again"


def of_this(cells: Sequence[Cell], needed: Collection[str], others: Collection[str]) -> list[Cell]:
    """The cells without those that define what other exercises ask for, and nothing that this one asks for or uses."""
    names, own, theirs = {cell: _names(cell.source) for cell in cells}, {*needed}, {*others}
    foreign = {cell for cell in cells if names[cell][1] & theirs and not names[cell][1] & own}
    used = set[str]().union(*(names[cell][0] for cell in cells if cell not in foreign))
    while more := {cell for cell in foreign if names[cell][1] & used}:
        foreign -= more
        used.update(*(names[cell][0] for cell in more))
    return without_their_imports([cell for cell in cells if cell not in foreign], foreign)


def without_their_imports(cells: Sequence[Cell], foreign: Collection[Cell]) -> list[Cell]:
    """The cells without imports that only cells of other exercises use.

    Else the `import torch` of one exercise would break the rule of another one that forbids it.
    """
    here, there = (set[str]().union(*(_names(cell.source)[0] for cell in part)) for part in (cells, foreign))
    idle = there - here
    return [cell for cell in cells if not (_only_imports(cell.source) and _names(cell.source)[1] & idle)]


def _only_imports(source: str) -> bool:
    tree = python_of(source).tree
    return tree is not None and all(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)


def joined(
    cells: Sequence[Cell],
    ours: Mapping[Cell, Collection[tuple[int, int]]],
    needed: Collection[str] = (),
    label: str = "In [{}]",
) -> Module:
    """Return the module that cells make.

    Args:
        cells: in order.
        ours: of each cell, where its statements stand that call our `check`; see `our_statements`.
        needed: names that the exercise asks for. A cell that is not Python stays if it defines one of them, so that
            its author reads what is wrong with it; any other such cell may be a sketch.
        label: how a cell is named by its number.
    """
    module = Module(label)
    futures: dict[str, tuple[int, int]] = {}
    shows: list[int] = []
    for cell in cells:
        code = python_of(cell.source)
        if code.left_out:
            module.note(cell.number, f": left out {listed(code.left_out)}, which only a notebook can run")
        if code.tree is None:
            error = syntax_error(code.text)
            if error and not defined(code.text) & set(needed):
                module.note(cell.number, f" was left out: {type(error).__name__}: {error.msg}, line {error.lineno}")
            else:
                module.add(cell.number, code.lines, code.numbers)
            continue
        future = [node for node in code.tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        for node in future:
            origin = (cell.number, code.numbers[node.lineno - 1])
            futures = {**{alias.name: origin for alias in node.names}, **futures}
        own, calls = code.tree.body, ours.get(cell, ())
        cut = [node for node, _ in simple_statements(code.tree) if (node.lineno, node.col_offset) in calls]
        rest = [node for node in own if node not in cut and node not in future]
        shown = [node for node in rest if _is_shown(node)]
        if all(isinstance(node, ast.Expr) for node in rest):
            shown = rest
        if shown:
            shows.append(cell.number)
        if len(shown) < len(rest):
            gone = [*cut, *future, *shown]
            lines, numbers = edited(code.text, [Edit(node, "" if node in own else "pass") for node in gone])
            module.add(cell.number, lines, [code.numbers[number - 1] for number in numbers])
    if futures:  # one module has them on top; in a notebook they hold for the cells that follow
        module.lines.insert(0, f"from __future__ import {', '.join(futures)}")
        module.origins.insert(0, min(futures.values()))
    if shows:
        places = ", ".join(label.format(number) for number in shows)
        module.notes.append(f"left out what only shows or tries something: {places}")
    return module


def _is_shown(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(ast.Call(ast.Name("print" | "display"))):
            return True
    return False


def our_statements(cells: Sequence[Cell]) -> dict[Cell, set[tuple[int, int]]]:
    """Return where cells import or call the grader's `check`: a worker has nothing to do with that.

    A name is the grader's for as long as the last statement that bound it was an import of ours: a student's own
    function or method `check` is the student's.

    Returns:
        of each cell, the line and the column of these statements in its Python text.
    """
    bound: dict[str, str] = {}
    found: dict[Cell, set[tuple[int, int]]] = {}
    for cell in cells:
        tree = python_of(cell.source).tree
        for node in in_order(tree.body) if tree else ():
            new = _imports_of_ours(node)
            for name in bound.keys() & bindings(node):
                del bound[name]
            bound.update(new)
            calls = not isinstance(node, DEFINITIONS) and any(_is_ours(part, bound) for part in ast.walk(node))
            if new or calls:
                found.setdefault(cell, set()).add((node.lineno, node.col_offset))
    return found


def _imports_of_ours(node: ast.stmt) -> dict[str, str]:
    """Return the names that an import of ours binds, each with what it is in full."""
    match node:
        case ast.ImportFrom(module=str() as module, names=names) if module in ("grader", _OURS):
            return {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}
        case ast.Import(names=names) if all(alias.name in ("grader", _OURS) for alias in names):
            return {alias.asname or "grader": alias.name if alias.asname else "grader" for alias in names}
    return {}


def _is_ours(node: ast.AST, bound: Mapping[str, str]) -> bool:
    """Whether this is a call of our `check`."""
    first, dot, rest = dotted(node.func).partition(".") if isinstance(node, ast.Call) else ("", "", "")
    return f"{bound.get(first)}{dot}{rest}" == f"{_OURS}.check"


def _latest(cells: Sequence[Cell]) -> list[Cell]:
    """The last run of each cell; of cells without an id, all runs but equal ones."""
    last = {cell.id or cell.source: cell for cell in cells}
    return [cell for cell in cells if last[cell.id or cell.source] is cell]


@functools.lru_cache(maxsize=2000)  # the cells of a notebook are looked at for each of its exercises
def _names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell needs from elsewhere, and those that it defines; none of what is not Python."""
    code = python_of(source)
    if code.tree is None:
        return set(), set()
    try:
        used, given = names_of(code.text)
    except (RecursionError, MemoryError):  # a worker finds out what it is
        return set(), set()
    stars = [node for node in ast.walk(code.tree) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
    return set() if stars else used, given  # what a star brings along cannot be known here


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
        names = frozenset[str]().union(*(defined(python_of(cell.source).text) for cell in cells))
        some = [id for id in needed if names & needed[id]]
        # Where several exercises have a function of that name, those of which all functions are there.
        ids = [id for id in some if needed[id] <= names] or some
        others = set[str]().union(*(needed[id] for id in ids))
        chosen = {id: of_this(cells, needed[id], others) for id in ids}
    ours = our_statements(cells)
    modules = {id: joined(its, ours, needed[id], "code cell {}") for id, its in chosen.items()}
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
            yield Cell(number, text, of=own or below, says_so=bool(own))


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
