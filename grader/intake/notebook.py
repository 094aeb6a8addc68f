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
from contextlib import suppress
from dataclasses import dataclass, field

from grader.course.answers import names_of
from grader.intake.match import LARGEST, called, defined, named, starter_names, syntax_error
from grader.model import Exercise

_OURS = "grader.notebook"

_MAGIC = re.compile(r"[%!?]|[\w, .\[\]]+=\s*[%!]|.*\?$")  # of a line without blanks at its ends
_BODY_COUNTS = ("%%time", "%%timeit", "%%capture", "%%prun")
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
        source: as IPython runs it, or as it was saved.
        failed: whether it raised.
        id: of the cell, if the notebook has one; the same for all its runs.
        has_magics: whether lines of it are not Python; they do nothing in the source.
        of: in a file, the id of the exercise that it is of, or "".
        says_so: whether it says that itself.
    """

    number: int
    source: str
    failed: bool = False
    id: str | None = None
    has_magics: bool = False
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


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a text; None if it is not Python, or too long."""
    if len(source) <= LARGEST and not syntax_error(source):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(source)
    return None


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
    module = joined([cell for cell in chosen if not cell.failed])
    used, given = _names("\n".join(module.lines))
    for name in sorted(({*needed, *used} - given) & set(known)):
        what = f"define it in a cell of this exercise (# exercise: {exercise[0]}), and run that without an error"
        module.notes.append(f"`{name}` is in the kernel's memory alone: {what}")
    return module


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
    tree = parsed(source)
    return tree is not None and all(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)


def joined(cells: Sequence[Cell], needed: Collection[str] = (), label: str = "In [{}]") -> Module:
    """The module that cells make.

    Args:
        cells: in order.
        needed: names that the exercise asks for. A cell that is not Python stays if it defines one of them, so that
            its author reads what is wrong with it; any other such cell may be a sketch.
        label: how a cell is named by its number.
    """
    module = Module(label)
    for cell in cells:
        tree = parsed(cell.source)
        lines, has_magics = _plain(cell.source, tree) if tree is not None else (cell.source.split("\n"), False)
        if has_magics or cell.has_magics:
            module.note(cell.number, ": left out magics and shell lines")
        if tree is None and (error := syntax_error(cell.source)) and not defined(cell.source) & set(needed):
            module.note(cell.number, f" was left out: {type(error).__name__}: {error.msg}, line {error.lineno}")
        else:
            module.lines += lines
            module.origins += [(cell.number, at) for at, _ in enumerate(lines, 1)]
    return module


def _latest(cells: Sequence[Cell]) -> list[Cell]:
    """The last run of each cell; of cells without an id, all runs but equal ones."""
    last = {cell.id or cell.source: cell for cell in cells}
    return [cell for cell in cells if last[cell.id or cell.source] is cell]


def _plain(source: str, tree: ast.Module) -> tuple[list[str], bool]:
    """A cell without what only a notebook can run, what must stand on top of a file, and calls of ours.

    Returns:
        as many lines as before, or none if nothing is left but what tries things; and whether there were magics in it.
    """
    ours = [node for node in tree.body if _is_extra(node)]
    simple = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    magics = [node for node in simple if node not in ours and _calls(node, "get_ipython")]
    cut = [*ours, *magics]
    if all(isinstance(node, ast.Expr) for node in tree.body if node not in cut):
        return [], bool(magics)
    lines = [line.encode("utf-8", "surrogatepass") for line in source.split("\n")]
    # From the end on, since what stands behind a statement in its line moves.
    for node in sorted(cut, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        _cut(lines, node, b"" if node in tree.body else b"pass")
    return [line.decode("utf-8", "surrogatepass") for line in lines], bool(magics)


def _cut(lines: list[bytes], node: ast.stmt, instead: bytes) -> None:
    """Take a statement out, and keep its lines, so that all others stay where they are."""
    assert node.end_lineno is not None
    first, last = node.lineno - 1, node.end_lineno - 1
    after = lines[last][node.end_col_offset :]
    lines[first] = lines[first][: node.col_offset] + (instead + after if instead else after.lstrip(b" ;"))
    for at in range(first + 1, last + 1):
        lines[at] = b""


def _calls(node: ast.stmt, name: str) -> bool:
    """Whether a function or method of that name is called in a statement."""
    functions = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(ast.unparse(function).rpartition(".")[2] == name for function in functions)


def _is_extra(node: ast.stmt) -> bool:
    """Whether a statement imports `check` or calls it, only shows something, or must stand on top of a file."""
    match node:
        case ast.ImportFrom(module=module, names=names):
            return module in (_OURS, "__future__") or (module == "grader" and names[0].name == "notebook")
        case ast.Import(names=names):
            return any(alias.name == _OURS for alias in names)
        case ast.Expr(ast.Call(ast.Name("print" | "display"))):
            return True
    return not hasattr(node, "body") and _calls(node, "check")


@functools.lru_cache(maxsize=2000)  # the cells of a notebook are looked at for each of its exercises
def _names(source: str) -> tuple[set[str], set[str]]:
    """The names that a text needs from elsewhere, and those that it defines; none of what is not Python."""
    if (tree := parsed(source)) is None:
        return set(), set()
    used, given = names_of(source)
    stars = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
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
            source, has_magics = _python(text)
            yield Cell(number, source, has_magics=has_magics, of=own or below, says_so=bool(own))


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


def _python(code: str) -> tuple[str, bool]:
    """A cell in which lines that are not Python do nothing, and whether there are any."""
    lines, has_magics = code.split("\n"), False
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        has_magics = True
        if lines[first].split()[0] not in _BODY_COUNTS:
            return "\n" * (len(lines) - 1), has_magics
        lines[first] = ""
    if syntax_error("\n".join(lines)):
        for place, line in enumerate(lines):
            if _MAGIC.match(line.strip()):
                has_magics = True
                lines[place] = line[: len(line) - len(line.lstrip())] + "pass"  # as far to the right
    return "\n".join(lines), has_magics
