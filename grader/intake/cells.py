"""Cells that ran → the text of an exercise module. Nothing in them is run here.

A cell whose first line is `# exercise: NAME` belongs to that exercise. Where there is such a cell, those alone count;
else all do that belong to no other exercise.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

_MARK = re.compile(r"\s*#\s*exercise:\s*(.+)")
_TIMED = ("time", "timeit", "capture")
"""Magics of a whole cell, whose body runs as it stands."""

_OURS = "grader.notebook"


@dataclass(frozen=True)
class Cell:
    """One run of a cell.

    Attributes:
        number: of the run, as the notebook shows it.
        source: as IPython runs it.
        failed: whether it raised.
        id: of the cell, where the notebook tells; the same for all its runs.
    """

    number: int
    source: str
    failed: bool = False
    id: str | None = None

    @property
    def exercises(self) -> tuple[str, ...]:
        """The exercises that it says it belongs to."""
        found = _MARK.match(self.source)
        return tuple(re.split(r"[\s,]+", found[1].strip())) if found else ()


@dataclass
class Module:
    """The text of an exercise module.

    Attributes:
        lines: its lines.
        origins: of each line, the number of the cell and the line in it.
        notes: what was left out, for the student.
    """

    lines: list[str] = field(default_factory=list)
    origins: list[tuple[int, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def source(self) -> bytes:
        """The text."""
        return "".join(f"{line}\n" for line in self.lines).encode("utf-8", "surrogatepass")

    def place(self, line: int) -> str:
        """Where a line stands in the notebook."""
        number, inside = self.origins[min(line, len(self.origins)) - 1] if self.origins else (0, line)
        return f"In [{number}], line {inside}"


def module_of(
    cells: Sequence[Cell], exercise: Sequence[str], needed: Collection[str], known: Collection[str]
) -> Module:
    """The module that cells make.

    Args:
        cells: in the order in which they ran.
        exercise: what the exercise goes by, its id first.
        needed: names that it asks for.
        known: names in the kernel's memory.
    """
    module = Module()
    latest = [cell for cell in _latest(cells) if cell.source.strip()]
    marked = [cell for cell in latest if set(cell.exercises) & set(exercise)]
    chosen = marked or [cell for cell in latest if not cell.exercises]
    checkers = set().union(*(_checkers(cell.source) for cell in latest))
    futures: list[str] = []
    without_magics, unread = [], []
    for cell in chosen:
        if cell.failed:
            continue
        tree = _parsed(body := _body(cell.source))
        if tree is None:
            unread.append(cell.number)
            continue
        plain = _Plain.of(body, tree, checkers)
        futures += plain.futures
        without_magics += [cell.number] * plain.has_magics
        first = 2 if body != cell.source else 1
        module.lines += plain.lines
        module.origins += [(cell.number, first + at) for at in range(len(plain.lines))]
    if futures:
        module.lines.insert(0, f"from __future__ import {', '.join(dict.fromkeys(futures))}")
        module.origins.insert(0, (chosen[0].number, 1))
    if without_magics:
        module.notes.append(f"Magics and shell lines are left out: {_named(without_magics)}")
    if unread:
        module.notes.append(f"{_named(unread)} cannot stand in a file, such as an `await` by itself, and is left out")
    module.notes += _memory_notes(module, chosen, cells, needed, known, exercise)
    return module


def _latest(cells: Sequence[Cell]) -> list[Cell]:
    """The last run of each cell; of cells that cannot be told apart, all runs but equal ones."""
    last = {cell.id or cell.source: cell for cell in cells}
    return [cell for cell in cells if last[cell.id or cell.source] is cell]


def _named(numbers: Sequence[int]) -> str:
    return ", ".join(f"In [{number}]" for number in dict.fromkeys(numbers))


def _parsed(source: str) -> ast.Module | None:
    try:
        compile(source, "cell", "exec", dont_inherit=True)
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _body(source: str) -> str:
    """What of a cell is Python: of a timed cell its body."""
    tree = _parsed(source)
    if tree is None or len(tree.body) != 1:
        return source
    match tree.body[0]:
        case ast.Expr(
            ast.Call(ast.Attribute(attr="run_cell_magic"), [ast.Constant(kind), _, ast.Constant(str() as body)])
        ) if kind in _TIMED:
            return body
    return source


def _checkers(source: str) -> set[str]:
    """The ways in which a cell may call our `check`, after what it imports."""
    tree = _parsed(source)
    found = set()
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.ImportFrom(module=module, names=names) if module == _OURS:
                found |= {alias.asname or alias.name for alias in names}
            case ast.ImportFrom(module="grader", names=names) | ast.Import(names=names):
                ours = [alias for alias in names if alias.name in (_OURS, "notebook")]
                found |= {f"{alias.asname or alias.name}.check" for alias in ours}
    return found


@dataclass(frozen=True)
class _Plain:
    """A cell without what only a notebook can run, and without what is only shown.

    Attributes:
        lines: as many as before; none if nothing is left, or only what tries things.
        futures: what it imports of `__future__`, which in a file stands on top.
        has_magics: whether there were magics in it.
    """

    lines: list[str]
    futures: list[str]
    has_magics: bool

    @classmethod
    def of(cls, source: str, tree: ast.Module, checkers: Collection[str]) -> _Plain:
        """That of a cell."""
        futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        ours = [node for node in tree.body if _is_ours(node, checkers) or _shows(node)]
        simple = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
        magics = [node for node in simple if _calls(node, "get_ipython") and node not in ours]
        cut = [*futures, *ours, *magics]
        rest = [node for node in tree.body if node not in cut]
        names = [alias.name for node in futures for alias in node.names]
        if all(isinstance(node, ast.Expr) for node in rest):
            return cls([], names, bool(magics))
        lines = [line.encode("utf-8", "surrogatepass") for line in source.split("\n")]
        # From the end on, since what stands behind a statement in its line moves.
        for node in sorted(cut, key=lambda node: (node.lineno, node.col_offset), reverse=True):
            _cut(lines, node, b"" if node in tree.body else b"pass")
        return cls([line.decode("utf-8", "surrogatepass") for line in lines], names, bool(magics))


def _cut(lines: list[bytes], node: ast.stmt, instead: bytes) -> None:
    """Take a statement out, and keep its lines, so that all others stay where they are."""
    assert node.end_lineno is not None
    first, last = node.lineno - 1, node.end_lineno - 1
    after = lines[last][node.end_col_offset :]
    lines[first] = lines[first][: node.col_offset] + (instead + after if instead else after.lstrip(b" ;"))
    for at in range(first + 1, last + 1):
        lines[at] = b""


def _calls(node: ast.stmt, *names: str) -> bool:
    """Whether one of these is called in a statement."""
    called = {ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    return not called.isdisjoint(names)


def _is_ours(node: ast.stmt, checkers: Collection[str]) -> bool:
    """Whether a statement imports `check` or calls it."""
    match node:
        case ast.ImportFrom(module=module, names=names):
            return module == _OURS or (module == "grader" and any(alias.name == "notebook" for alias in names))
        case ast.Import(names=names):
            return any(alias.name == _OURS for alias in names)
    return not hasattr(node, "body") and _calls(node, *checkers)


def _shows(node: ast.stmt) -> bool:
    """Whether a statement only shows something: a value below the cell, or a line."""
    match node:
        case ast.Expr(ast.Call(ast.Name(name))):
            return name in ("print", "display")
        case ast.Expr(ast.Name() | ast.Attribute() | ast.Subscript() | ast.Tuple()):
            return True
    return False


def _memory_notes(
    module: Module,
    chosen: Sequence[Cell],
    cells: Sequence[Cell],
    needed: Collection[str],
    known: Collection[str],
    exercise: Sequence[str],
) -> Iterator[str]:
    """One for each name that the kernel knows, and that no cell which counts defines."""
    tree = _parsed("\n".join(module.lines))
    bound = _bound(tree)
    used = set[str]() if "*" in bound else _loaded(tree)  # what a star brings along cannot be known here
    asked = {*needed, *used} & set(known) - bound - set(dir(builtins))
    for name in sorted(asked):
        where = [cell for cell in cells if name in _bound(_parsed(cell.source))]
        if not where:
            yield f"`{name}` is in the kernel's memory, and in no cell: write it into one, and run that"
        elif where[-1] in chosen:
            yield f"`{name}` stands in In [{where[-1].number}], which failed: mend that cell, and run it again"
        elif where[-1] in _latest(cells):
            mark = f"# exercise: {exercise[0]}"
            yield f"`{name}` stands in In [{where[-1].number}], which is not of this exercise: begin it with  {mark}"
        else:
            yield f"`{name}` is in the kernel's memory alone: the cell that defined it was changed since"


def _loaded(tree: ast.Module | None) -> set[str]:
    """All names that are used anywhere in it."""
    nodes = ast.walk(tree) if tree else ()
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound(tree: ast.Module | None) -> set[str]:
    """All names that are given a meaning anywhere in it."""
    found = set()
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.split(".")[0])
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                found.add(name)
    return found
