"""Which statements of a notebook the functions of an exercise need, by names and in the order of the cells.

A statement is needed if it binds a name that the functions use, or that a needed statement uses. It is needed for its
effect if it may change an object behind such a name: it stores into it, or it calls something with it in reach. What an
exercise needs for an effect alone is tried: if it fails, it is left out, and the student's output says so.
"""

from __future__ import annotations

import ast
import builtins
import functools
import symtable
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.course.answers import first_line_number
from grader.intake.cells import DEFINITIONS, bindings, dotted_name, python_of

_SHOWING = frozenset({"print", "display", "help"})


@dataclass(frozen=True, eq=False)
class Step:
    """A statement at the top level of a cell.

    Attributes:
        node: the statement.
        binds: the names that it binds in the module; a function, also those that it declares global.
        changes: the names into whose objects it stores: `x[0] = 1`, `x.a = 1`.
        uses: the names that it needs from elsewhere.
        has_call: True if it calls anything when it runs.
    """

    node: ast.stmt
    binds: frozenset[str]
    changes: frozenset[str]
    uses: frozenset[str]
    has_call: bool

    @property
    def is_import(self) -> bool:
        """Return whether the statement is an import."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_star(self) -> bool:
        """Return whether the statement is `from ... import *`.

        The names that it binds are unknown.
        """
        return self.is_import and "*" in self.binds

    @property
    def is_definition(self) -> bool:
        """Return whether the statement defines a function or a class."""
        return isinstance(self.node, DEFINITIONS)

    @property
    def only_shows(self) -> bool:
        """Return whether the statement only shows a value, as `print(x)` or `x` does."""
        match self.node:
            case ast.Expr(ast.Call(ast.Name(name))):
                return name in _SHOWING
            case ast.Expr(value):
                return not self.has_call and not isinstance(value, ast.Await)
        return False


@functools.lru_cache(maxsize=2000)  # the cells of a notebook are looked at for each of its exercises
def steps_of(source: str) -> tuple[Step, ...]:
    """Return the top-level statements of a cell; none if the cell is not Python."""
    code = python_of(source)
    return tuple(_steps(code.lines, code.tree)) if code.tree is not None else ()


def _steps(lines: Sequence[str], tree: ast.Module) -> Iterator[Step]:
    """Yield each statement of a module with the names that it binds, changes and uses.

    For example, `x.a = f(y)` binds nothing, changes `x`, and uses `x`, `f` and `y`.
    """
    encoded = [line.encode("utf-8", "surrogatepass") for line in lines]
    for node in tree.body:
        first, last = first_line_number(node) - 1, (node.end_lineno or node.lineno) - 1
        part = [*encoded[first : last + 1]]
        part[-1] = part[-1][: node.end_col_offset]
        if first == node.lineno - 1:  # a decorator stands above, in the first column
            part[0] = part[0][node.col_offset :]
        used, declared = _symbols(b"\n".join(part).decode("utf-8", "surrogatepass"), node)
        inside = ast.walk(node) if not isinstance(node, DEFINITIONS) else _parts_run_at_definition(node)
        parts = [*inside]
        stored = [item for item in parts if isinstance(item, ast.Attribute | ast.Subscript)]
        changes = {_root_name(item) for item in stored if isinstance(item.ctx, ast.Store | ast.Del)}
        has_call = any(isinstance(item, ast.Call | ast.Await) for item in parts)
        yield Step(node, frozenset(bindings(node) | declared), frozenset(changes - {""}), frozenset(used), has_call)


def _parts_run_at_definition(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield the syntax nodes that run when a `def` or a `class` statement is executed.

    Of a function, they are its decorators, each also as a call. Of a class, they are also all of its nodes.
    """
    if isinstance(node, ast.ClassDef):
        yield from ast.walk(node)
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    for decorator in decorators:
        yield ast.Call(decorator, [], [])
        yield from ast.walk(decorator)


def _root_name(node: ast.AST) -> str:
    """Return the first name of an expression such as `name.a[0].b`; "" for any other."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _symbols(source: str, node: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the global names that a statement uses, and those that its functions assign.

    For `def f(): global n; n = g()` they are `{"g"}` and `{"n"}`.

    Args:
        source: the source of the statement.
        node: the syntax tree of the statement.

    Returns:
        The names that are used; and the names that functions in the statement declare global and assign.
    """
    try:
        tables = [symtable.symtable(source, "cell", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # all names that it has, then
        return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}, set()
    used, declared = set[str](), set[str]()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                used.add(symbol.get_name())
            if table.get_type() != "module" and symbol.is_global() and symbol.is_assigned():
                declared.add(symbol.get_name())
    return used, declared


@dataclass(frozen=True)
class PlacedStatement:
    """A statement with its place among the cells of a notebook.

    Attributes:
        step: the statement.
        cell: the number of its cell in their order.
        rank: 0 for a cell of the exercise, 1 or 2 for other cells. Of several statements that bind a name, those with
            the smallest rank are needed.
        may_define: True if it may define what the exercise asks for.
        failed: True if its cell failed in the notebook.
    """

    step: Step
    cell: int
    rank: int = 0
    may_define: bool = True
    failed: bool = False


@dataclass(frozen=True)
class NeededStatements:
    """The statements that an exercise needs.

    Attributes:
        names: the names that it needs.
        steps: the statements that it needs.
        left_out_if_failing: the needed statements that may fail, and are left out then.
    """

    names: Collection[str]
    steps: Collection[PlacedStatement]
    left_out_if_failing: Collection[PlacedStatement]


def needed_statements(roots: Collection[str], placed: Sequence[PlacedStatement]) -> NeededStatements:
    """Return the statements that define an exercise's functions, and those that these need.

    Of a notebook with `import torch`, `k = 2` and `def double(x): return k * x`, the root `double` needs the last two.
    Statements that may change a needed object are among them.

    Args:
        roots: the names that the exercise asks for.
        placed: all statements, in order.
    """
    binders: dict[str, list[PlacedStatement]] = {}
    for one in placed:
        for name in one.step.binds:
            if one.may_define or name not in roots:
                binders.setdefault(name, []).append(one)
    names: set[str] = set()
    chosen: dict[PlacedStatement, None] = {}
    # Where a function is missing, all definitions count: a message says what is there instead of it.
    first = {*roots} if all(root in binders for root in roots) else {*roots, *_defined_names(placed)}
    _choose_statements(first, names, chosen, binders)
    stars = [one for one in placed if one.step.is_star]
    if stars and any(name not in binders and name not in vars(builtins) for name in names):
        chosen |= dict.fromkeys(stars)
    direct = {*chosen}
    functions = {name for name in roots if any(one.step.is_definition for one in binders.get(name, ()))}
    while more := [one for one in placed if one not in chosen and _has_effect(one, names, chosen, placed, functions)]:
        for one in more:
            chosen[one] = None
            _choose_statements({*one.step.uses}, names, chosen, binders)
    left_out_if_failing = {one for one in chosen if (one not in direct or one.failed) and not one.step.is_definition}
    return NeededStatements(names, {*chosen}, left_out_if_failing)


def _defined_names(placed: Sequence[PlacedStatement]) -> Iterator[str]:
    for one in placed:
        if one.rank < 2 and (one.step.is_definition or isinstance(one.step.node, ast.If)):
            yield from one.step.binds


def _choose_statements(
    todo: set[str],
    names: set[str],
    chosen: dict[PlacedStatement, None],
    binders: Mapping[str, Sequence[PlacedStatement]],
) -> None:
    """Add to `chosen` the statements that bind the names in `todo`, and what these need.

    Args:
        todo: the names; empty afterwards.
        names: all needed names, to which these are added.
        chosen: the needed statements.
        binders: the statements that bind a name, by name.
    """
    while todo:
        name = todo.pop()
        if name in names:
            continue
        names.add(name)
        own = binders.get(name, ())
        nearest = min((one.rank for one in own), default=0)
        for one in own:
            if one.rank == nearest and one not in chosen:
                chosen[one] = None
                todo |= one.step.uses


def _has_effect(
    one: PlacedStatement,
    names: Collection[str],
    chosen: Collection[PlacedStatement],
    placed: Sequence[PlacedStatement],
    functions: Collection[str],
) -> bool:
    """Return whether a statement may change the object of a needed name, as `data.sort()` may.

    Args:
        one: the statement.
        names: the names that are needed.
        chosen: the statements that are needed.
        placed: all statements.
        functions: the functions of the exercise; a statement that calls one of them only tries it.
    """
    step = one.step
    if step.only_shows or step.is_import or step.uses & {*functions}:
        return False
    if step.changes & {*names}:
        return True
    if not step.has_call:
        return False
    state = {
        name
        for other in chosen
        if not other.step.is_import and not other.step.is_definition
        for name in other.step.binds & {*names}
    }
    if step.uses & (state | _changing_functions(state, names, placed, functions)):
        return True
    # `torch.manual_seed(0)`, where torch is needed and nothing else is.
    match step.node:
        case ast.Expr(ast.Call(function)):
            module = dotted_name(function).partition(".")[0]
            modules = {name for other in chosen if other.step.is_import for name in other.step.binds}
            return module in modules and step.uses - {*vars(builtins)} <= {*names}
    return False


def _changing_functions(
    state: Collection[str], names: Collection[str], placed: Sequence[PlacedStatement], functions: Collection[str]
) -> set[str]:
    """Return the functions and classes whose code may change a needed object when it runs.

    If `data` is needed, an example is `def grow(): data.append(1)`. Those that are of the exercise, or use its
    functions, are left out.

    Args:
        state: the needed names that are not functions, classes or modules.
        names: the needed names.
        placed: all statements.
        functions: the functions of the exercise.
    """
    changers: set[str] = set()
    definitions = [one.step for one in placed if isinstance(one.step.node, DEFINITIONS)]
    other = [step for step in definitions if not (step.binds | step.uses) & {*functions}]
    while more := {name for step in other if (name := _name_if_changing(step, {*state, *changers}, names))} - changers:
        changers |= more
    return changers


def _name_if_changing(step: Step, reach: Collection[str], names: Collection[str]) -> str:
    """Return the name that is defined if the code may change a needed object; else "".

    Args:
        step: the definition of a function or class.
        reach: the names of needed objects, and of functions that may change them; a use may change an object.
        names: the needed names; to assign one of them as a global is a change, too.
    """
    assert isinstance(step.node, DEFINITIONS)
    own = step.node.name
    return own if step.uses & {*reach} or (step.binds - {own}) & {*names} else ""
