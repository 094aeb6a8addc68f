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
from dataclasses import dataclass, field, replace

from grader.course.answers import is_starter, names_of
from grader.intake.cells import (
    DEFINITIONS,
    Code,
    Edit,
    bindings,
    bound_by,
    dotted,
    edited,
    in_order,
    is_alone,
    listed,
    python_of,
    simple_statements,
    tried,
)
from grader.intake.match import called, defined, given_names, named, starter_names, syntax_error
from grader.intake.needed import Needed, Placed, Step, needed_by, steps_of
from grader.model import Exercise

_OURS = "grader.notebook"

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.{1,200})$", re.MULTILINE)
_COMMENT = re.compile(r"#[#%| \t]*(exercise[: \t]+)?([\w-]+)[#%|: \t]*", re.IGNORECASE)  # exercise: double
_LONGEST_COMMENT = 200
_MOST_CELLS = 1000
_MOST_HEADINGS = 20
_MOST_PLACES = 8


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
        by_word: whether it says so by nothing but a comment that is an exercise's name.
    """

    number: int
    source: str
    failed: bool = False
    id: str | None = None
    of: str = ""
    says_so: bool = False
    by_word: bool = False

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


@dataclass(frozen=True)
class Place:
    """A cell as an exercise sees it.

    Attributes:
        cell: the cell.
        rank: 0 for one of the exercise's own, 1 for one that belongs to no exercise, 2 for one of another exercise.
        may_define: whether it may define the functions that the exercise asks for.
    """

    cell: Cell
    rank: int = 0
    may_define: bool = True


def module_of(
    cells: Sequence[Cell],
    exercise: Sequence[str],
    needed: Collection[str],
    known: Collection[str],
    others: Collection[str] = (),
    given: Collection[str] = (),
) -> Module:
    """Return the module that cells which ran in a kernel make.

    Args:
        cells: in the order in which they ran.
        exercise: what the exercise goes by, its id first.
        needed: the functions and classes that it asks for.
        known: names in the kernel's memory.
        others: the same of other exercises.
        given: all names that its starter has.
    """
    latest = [cell for cell in _latest(cells) if cell.source.strip()]
    ranks = [0 if {*cell.exercises} & {*exercise} else 2 if cell.exercises else 1 for cell in latest]
    places = [Place(cell, rank, rank < 2) for cell, rank in zip(latest, ranks, strict=True)]
    module = joined(places, our_statements(latest), needed, others, given)
    used, bound = _names("\n".join(module.lines))
    for name in sorted(({*needed, *used} - bound) & set(known)):
        module.notes.append(f"`{name}` {_where_it_is(name, latest, exercise[0])}")
    return module


def _where_it_is(name: str, cells: Sequence[Cell], exercise: str) -> str:
    """Return why no cell that counts defines a name which the kernel knows, and what to do."""
    where = [cell for cell in cells if name in _names(cell.source)[1] or name in defined(cell.source)]
    if not where:
        why = "the cell that defined it is gone or was changed; define it in a cell, and run that"
        return f"is in the kernel's memory alone: {why}"
    label = f"In [{where[-1].number}]"
    if where[-1].failed:
        return f"is defined in {label}, which failed: fix that cell, and run it again"
    return f"is defined in {label}, which is not of this exercise: begin that cell with  # exercise: {exercise}"


def joined(
    places: Sequence[Place],
    ours: Mapping[Cell, Collection[tuple[int, int]]],
    roots: Collection[str] = (),
    others: Collection[str] = (),
    given: Collection[str] = (),
    label: str = "In [{}]",
) -> Module:
    """Return the module that cells make: what the functions of the exercise need, in the order of the cells.

    Args:
        places: the cells, in order.
        ours: of each cell, where its statements stand that call our `check`; see `our_statements`.
        roots: the functions and classes that the exercise asks for. Where the cells define none, all of them counts.
        others: the same of other exercises.
        given: all names that the exercise's starter has.
        label: how a cell is named by its number.
    """
    module = Module(label)
    placed = [one for at, place in enumerate(places) for one in _placed(at, place, ours.get(place.cell, ()))]
    roots = {*roots, *({*given} & {name for one in placed for name in one.step.binds})}
    needed = _needed(roots, placed)
    missing = roots - {name for one in needed.steps for name in one.step.binds}
    futures: dict[str, tuple[int, int]] = {}
    idle: list[str] = []
    for at, place in enumerate(places):
        cell, code = place.cell, python_of(place.cell.source)
        if code.left_out:
            module.note(cell.number, f": left out {listed(code.left_out)}, which only a notebook can run")
        if code.tree is None:
            _add_other(module, cell, code, missing if place.may_define else set())
            continue
        for node in filter(_is_future, code.tree.body):
            origin = (cell.number, code.numbers[node.lineno - 1])
            futures = {**{alias.name: origin for alias in node.names}, **futures}  # type: ignore[attr-defined]
        steps = [one for one in placed if one.cell == at]
        its = [one for one in steps if one in needed.steps]
        gone = [one.step for one in steps if one not in its and not _is_text(one.step)]
        if gone and place.rank < 2 and not {name for step in gone for name in step.binds} & {*others}:
            lines = sorted({code.numbers[step.node.lineno - 1] for step in gone})
            idle.append(_place(label.format(cell.number), lines if its else [], failed=cell.failed))
        if its:
            module.add(cell.number, *_kept(code, its, needed, ours.get(cell, ()), label.format(cell.number)))
    if futures:  # one module has them on top; in a notebook they hold for the cells that follow
        module.lines.insert(0, f"from __future__ import {', '.join(futures)}")
        module.origins.insert(0, min(futures.values()))
    if idle:
        more = [f"{len(idle) - _MOST_PLACES} more"] if len(idle) > _MOST_PLACES else []
        module.notes.append(f"left out what this exercise does not need: {', '.join(idle[:_MOST_PLACES] + more)}")
    module.notes += _of_failed(needed, [place.cell for place in places], label)
    return module


def _needed(roots: Collection[str], placed: Sequence[Placed]) -> Needed:
    """What an exercise needs; where nothing that it asks for is there, all of it, for a message about what is."""
    if any({*roots} & one.step.binds for one in placed if one.may_define):
        return needed_by(roots, placed)
    usual = [one for one in placed if one.rank < 2 and not one.step.only_shows]
    return Needed((), usual, [one for one in usual if one.failed])


def _add_other(module: Module, cell: Cell, code: Code, roots: Collection[str]) -> None:
    """Take a cell that is not Python, if it defines a function of the exercise: its author reads what is wrong."""
    error = syntax_error(code.text)
    if error and not defined(code.text) & {*roots}:
        module.note(cell.number, f" was left out: {type(error).__name__}: {error.msg}, line {error.lineno}")
    else:
        module.add(cell.number, code.lines, code.numbers)


def _of_failed(needed: Needed, cells: Sequence[Cell], label: str) -> Iterator[str]:
    """Say which names are defined in cells that failed alone."""
    for name in sorted({*needed.names}):
        own = [cells[one.cell] for one in needed.steps if name in one.step.binds and not one.step.is_import]
        if own and all(cell.failed for cell in own):
            where = label.format(own[-1].number)
            yield f"`{name}` is defined in {where}, which failed: fix that cell, and run it again"


def _placed(at: int, place: Place, calls: Collection[tuple[int, int]]) -> Iterator[Placed]:
    """The statements of a cell that an exercise may need."""
    for step in steps_of(place.cell.source):
        if not _is_future(step.node) and (step.node.lineno, step.node.col_offset) not in calls:
            yield Placed(step, at, place.rank, place.may_define, place.cell.failed)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_text(step: Step) -> bool:
    return isinstance(step.node, ast.Expr) and isinstance(step.node.value, ast.Constant)


def _place(cell: str, lines: Sequence[int], *, failed: bool) -> str:
    words = [f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:_MOST_PLACES]))}"] if lines else []
    words += ["it failed in the notebook"] if failed else []
    return f"{cell} ({'; '.join(words)})" if words else cell


def _kept(
    code: Code, its: Collection[Placed], needed: Needed, calls: Collection[tuple[int, int]], where: str
) -> tuple[Sequence[str], Sequence[int]]:
    """The lines of a cell with these statements alone, and the lines of the cell that they come from."""
    assert code.tree is not None
    own = {one.step.node: one for one in its}
    edits = [Edit(node, "") for node in code.tree.body if node not in own]
    for node, _ in simple_statements(code.tree):
        if node not in code.tree.body and (node.lineno, node.col_offset) in calls:
            edits.append(Edit(node, "pass"))
    for node, one in own.items():
        instead = text = ast.get_source_segment(code.text, node) or ""
        if isinstance(node, ast.Import | ast.ImportFrom) and needed.names and not one.step.is_star:
            aliases = [alias for alias in node.names if bound_by(alias) in needed.names]
            if 0 < len(aliases) < len(node.names):
                instead = ast.unparse(type(node)(**{**dict(ast.iter_fields(node)), "names": aliases}))
        if one in needed.tried and is_alone(node, code):
            number = code.numbers[node.lineno - 1]
            instead = tried(instead, f"{where}, line {number}, was left out:")
        if instead != text:
            edits.append(Edit(node, instead))
    lines, numbers = edited(code.text, edits)
    return lines, [code.numbers[number - 1] for number in numbers]


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
    """Return the modules in a notebook, by exercise.

    Args:
        data: the file.
        name: of the file: where it is an exercise's, and no cell is another one's, all of it is that exercise's.
        exercises: all of the course.

    Raises:
        ValueError: it is not a notebook.
    """
    cells = list(_cells(data, exercises))
    asked = {exercise.id: starter_names(exercise) for exercise in exercises}
    modules = {}
    found = _exercises_in(cells, name, exercises)
    ids = {exercise.id for exercise in found}
    cells = [cell if cell.of in ids else replace(cell, of="", says_so=False) for cell in cells]
    ours = our_statements(cells)
    for exercise in found:
        if not any(asked[exercise.id] & _defines(cell) for cell in cells) and _imports(cells, exercise.id):
            continue  # the answer is the file that it imports
        own = "\n".join(cell.source for cell in cells if cell.of == exercise.id).encode("utf-8", "replace")
        places = _places(cells, exercise.id)
        free = frozenset[str]().union(*(_defines(place.cell) for place in places if place.rank and place.may_define))
        if is_starter(exercise, own) and asked[exercise.id] and asked[exercise.id] <= free:
            # The student left the given cell as it was, and wrote another one.
            own, places = b"", [place for place in places if place.rank]
        others = frozenset[str]().union(*asked.values()) - asked[exercise.id]
        module = modules[exercise.id] = joined(
            places, ours, asked[exercise.id], others, given_names(exercise), "code cell {}"
        )
        module.own = own
    return modules


def _imports(cells: Sequence[Cell], module: str) -> bool:
    """Whether cells import a module."""
    nodes = [step.node for cell in cells for step in steps_of(cell.source)]
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return module in named | {node.module for node in nodes if isinstance(node, ast.ImportFrom)}


def written_files(data: bytes) -> dict[str, bytes]:
    """Return the Python files that the cells of a notebook write beside it: `%%writefile name.py`."""
    try:
        sources = [cell.source for cell in _cells(data, ())]
    except ValueError:
        return {}
    files: dict[str, str] = {}
    for written in filter(None, (python_of(source).written for source in sources)):
        files[written.name] = (files.get(written.name, "") if written.appends else "") + written.text
    return {name: text.encode("utf-8", "replace") for name, text in files.items()}


def _defines(cell: Cell) -> frozenset[str]:
    return defined(python_of(cell.source).text)


def _exercises_in(cells: Sequence[Cell], name: str, exercises: Sequence[Exercise]) -> list[Exercise]:
    """The exercises that a notebook has an answer of.

    One that has all functions of the exercise that it is named after is that exercise's. Else cells say which exercise
    they are of, or define the functions of exercises.
    """
    asked = {exercise.id: starter_names(exercise) for exercise in exercises}
    texts = {cell: _defines(cell) for cell in cells}
    every = {text for own in texts.values() for text in own}
    file = named(name, exercises)
    is_whole = bool(file and asked[file.exercise] and asked[file.exercise] <= every)
    ids = {file.exercise} if file and is_whole else set[str]()
    # A comment or a heading that happens to be an exercise's name says nothing where its cells define nothing of it.
    void = set[Cell]()
    for id, needed in asked.items():
        marked = [cell for cell in cells if cell.of == id]
        says_so = not is_whole and any(cell.says_so and not cell.by_word for cell in marked)
        if says_so or any(needed & texts[cell] for cell in marked):
            ids.add(id)
        else:
            void.update(marked)
    if not ids and file:
        ids = {file.exercise}
    elif not file:
        free = {text for cell in cells if not cell.says_so or cell in void for text in texts[cell]}
        some = [id for id, needed in asked.items() if free & needed]
        # Where several exercises have a function of that name, those of which all functions are there.
        whole = [id for id in some if asked[id] <= free]
        ids |= {*(whole or (() if ids else some))}
    return [exercise for exercise in exercises if exercise.id in ids]


def _places(cells: Sequence[Cell], id: str) -> list[Place]:
    """The cells as an exercise sees them."""
    says_so = any(cell.of == id and cell.says_so for cell in cells)
    ranks = [(0 if cell.says_so or not says_so else 1) if cell.of == id else 2 if cell.of else 1 for cell in cells]
    return [Place(cell, rank, rank < 2 or not cell.says_so) for cell, rank in zip(cells, ranks, strict=True)]


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
            own = _marked_exercise(about.get("tags"), nbgrader.get("grade_id"), exercises)
            comment, by_word = _commented_exercise(text, exercises)
            outputs = cell.get("outputs")
            kinds = [_mapping(output).get("output_type") for output in (outputs if isinstance(outputs, list) else ())]
            yield Cell(
                number,
                text,
                "error" in kinds,
                of=own or comment or below,
                says_so=bool(own or comment),
                by_word=by_word and not own,
            )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(source: object) -> str:
    joined = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
    return joined.replace("\r\n", "\n").replace("\r", "\n")


def _marked_exercise(tags: object, grade_id: object, exercises: Sequence[Exercise]) -> str:
    """The exercise that a code cell names by a tag or by nbgrader's id."""
    words = [str(tag).rsplit(":", 1)[-1] for tag in tags] if isinstance(tags, list) else []
    return next(filter(None, (called(word, exercises) for word in [*words, str(grade_id)])), "")


def _commented_exercise(text: str, exercises: Sequence[Exercise]) -> tuple[str, bool]:
    """The exercise that a code cell names in its first line, and whether the line has nothing but that name."""
    first = text.strip().split("\n", 1)[0]
    comment = _COMMENT.fullmatch(first) if len(first) <= _LONGEST_COMMENT else None
    return (called(comment[2], exercises), comment[1] is None) if comment else ("", False)


def _exercise_in(heading: str, exercises: Sequence[Exercise]) -> str:
    """The exercise that a heading names: by its id, its number or its title; "" for none, and for several."""
    folded = _words(heading)
    names = {item.id: filter(str.strip, map(_words, (item.id, item.number, item.title))) for item in exercises}
    ids = [id for id, own in names.items() if any(name in folded for name in own)]
    return ids[0] if len(ids) == 1 else ""


def _words(text: str) -> str:
    return f" {re.sub(r'[^0-9a-zA-Z_-]+', ' ', text).strip().casefold()} "
