"""Python text that is edited by the positions of its syntax tree: what is not edited stays as it was written."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from grader.course.answers import first_line_number, lines_of, undefined_and_defined_names
from grader.lint.scope import Function, imported_names

_Node = ast.expr | ast.stmt | ast.arg
_WIDTH = 120
HELPERS = "from grader.check import "


class Edits:
    """Edits of Python source, which leave the rest as it was written.

    After `replace` of the node `f` by "student.f", `y = f(x)  # a` has the result `y = student.f(x)  # a`. Of two edits
    that overlap, the one that begins first counts.
    """

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()  # positions of syntax trees count bytes
        self._starts = [0, *itertools.accumulate(map(len, self._bytes.splitlines(keepends=True)))]
        self._edits: list[tuple[int, int, str]] = []

    def start(self, node: _Node) -> int:
        """Return the offset in bytes at which a node begins."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: _Node) -> int:
        """Return the offset in bytes at which a node ends."""
        return self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def text(self, node: _Node) -> str:
        """Return the source of a node as it was written."""
        return self._bytes[self.start(node) : self.end(node)].decode()

    def text_before(self, node: _Node) -> str:
        """Return the source of the line before a node."""
        return self._bytes[self._starts[node.lineno - 1] : self.start(node)].decode()

    def replace(self, node: _Node, new: str) -> None:
        """Replace a node by new source."""
        self._edits.append((self.start(node), self.end(node), new))

    def replace_between(self, first: _Node, second: _Node, new: str) -> None:
        """Replace what stands between two nodes.

        Args:
            first: the node before it.
            second: the node behind it.
            new: the new source.
        """
        self._edits.append((self.end(first), self.start(second), new))

    def insert(self, place: int, new: str) -> None:
        """Insert source at an offset in bytes."""
        self._edits.append((place, place, new))

    def insert_first_arguments(
        self, node: Function | ast.Call, name: str, first: Sequence[str], *, others_follow: bool
    ) -> None:
        """Rename a function or a call, and insert its first parameters or arguments.

        With the name "g" and the arguments `["student", "rng"]`, `f(x)` becomes `g(student, rng, x)`.

        Args:
            node: the function or the call.
            name: the new name.
            first: the parameters or arguments that are inserted.
            others_follow: True if the function already has parameters, or the call arguments, so that a comma must end
                `first`.
        """
        start = self.start(node) if isinstance(node, ast.Call) else self._bytes.index(b"def ", self.start(node)) + 4
        more = ", ".join(first) + ", " * (others_follow and bool(first))
        self._edits.append((start, self._bytes.index(b"(", start) + 1, f"{name}({more}"))

    def replace_name(self, node: Function, name: str) -> None:
        """Replace the name in the definition of a function.

        Calls of the function stay as they are.
        """
        start = self._bytes.index(b"def ", self.start(node)) + 4
        self._edits.append((start, start + len(node.name.encode()), name))

    def drop_first_parameter(self, node: Function) -> None:
        """Remove the first parameter of a function."""
        first = [*node.args.posonlyargs, *node.args.args][0]
        rest = self._bytes[self.end(first) :].lstrip()
        more = rest[1:].lstrip() if rest.startswith(b",") else rest
        self._edits.append((self.start(first), len(self._bytes) - len(more), ""))

    def drop(self, node: _Node) -> None:
        """Remove the lines of a node."""
        self._edits.append((self._starts[node.lineno - 1], self._starts[node.end_lineno or 0], ""))

    def insert_above(self, node: ast.stmt, lines: str) -> None:
        """Insert lines above a statement and its decorators."""
        self.insert(self._starts[first_line_number(node) - 1], lines)

    def insert_at_line(self, line: int, new: str) -> None:
        """Insert source above a line."""
        self.insert(self._starts[line - 1], new)

    def comment(self, line: int, text: str) -> None:
        """Insert a comment above a line, wrapped and indented as the line is."""
        start = self._starts[line - 1]
        indent = " " * (len(self._bytes[start:]) - len(self._bytes[start:].lstrip(b" ")))
        rows = textwrap.wrap(text, _WIDTH - 4 - len(indent), break_long_words=False, break_on_hyphens=False)
        self.insert(start, "".join(f"{indent}# {'  ' * (number > 0)}{row}\n" for number, row in enumerate(rows)))

    def result(self, block: Sequence[ast.stmt] = ()) -> str:
        """Return the edited source: the whole text, or only the lines of some statements.

        Args:
            block: the statements, in the order of the text; () for the whole text.
        """
        done = self._starts[first_line_number(block[0]) - 1] if block else 0
        last = self._starts[block[-1].end_lineno or 0] if block else len(self._bytes)
        parts = []
        for start, end, new in sorted(self._edits, key=lambda edit: (edit[0], edit[0] != edit[1], -edit[1])):
            if done <= start <= last:
                parts += [self._bytes[done:start], new.encode()]
                done = end
        return b"".join([*parts, self._bytes[done:last]]).decode()


def docstring_of(title: str) -> str:
    """Return the source of a docstring of one line."""
    text = title.replace('"', "'")
    prefix = "r" if "\\" in text else ""
    return f'{prefix}"""{text}"""'


def indent_block(block: str, columns: int) -> str:
    """Return a block of statements indented by more columns.

    A negative number indents them by fewer. A line that begins inside a string literal stays: its blanks are part of a
    value.
    """
    nodes = list(ast.walk(ast.parse(f"if True:\n{block}")))
    texts = [node for node in nodes if isinstance(node, (ast.JoinedStr, ast.Constant))]
    inside = {line - 1 for node in texts for line in range(node.lineno + 1, (node.end_lineno or 0) + 1)}
    lines = []
    for number, line in enumerate(lines_of(block), 1):
        blanks = len(line) - len(line.lstrip(" "))
        if number in inside or not line.strip():
            lines.append(line)
        else:
            lines.append(" " * columns + line if columns > 0 else line[min(blanks, -columns) :])
    return "".join(lines)


_MARKED = re.compile(r" *# SOLUTION(?: NO PROMPT)?(?=[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True)
class TopStatement:
    """A statement at the top of a file, with the comments above it.

    For `b = f(a)`, `binds` is `{"b"}` and `uses` is `{"a", "f"}`.

    Attributes:
        node: its syntax tree.
        text: the source of the statement as it was written.
        binds: the names that it binds.
        uses: the names that it mentions.
    """

    node: ast.stmt
    text: str
    binds: frozenset[str]
    uses: frozenset[str]

    @property
    def name(self) -> str:
        """The name of a function or class; "" of anything else."""
        return getattr(self.node, "name", "")


def one_statement_per_line(text: str) -> str:
    """Return a file in which no two statements at its top share a line: `a = 1; b = 2` becomes two lines.

    If the line ends with the mark `# SOLUTION`, so does each of the new ones.
    """
    body = ast.parse(text).body
    pairs = [(one, two) for one, two in itertools.pairwise(body) if two.lineno == one.end_lineno]
    if not pairs:
        return text
    edits, lines = Edits(text), lines_of(text)
    for one, two in pairs:
        mark = _MARKED.search(lines[(two.end_lineno or 0) - 1])
        edits.replace_between(one, two, f"{mark[0] if mark else ''}\n")
    return edits.result()


def top_statements(text: str, *, with_parameters: bool = True) -> list[TopStatement]:
    """Return all statements at the top of a file, each with a syntax tree of its own.

    Args:
        text: the text of the file.
        with_parameters: True if a function's parameters count among the names that it uses, since they may be fixtures.
    """
    text = one_statement_per_line(text)
    lines = lines_of(text)
    items, last = [], 0
    for whole in ast.parse(text).body:
        first = first_line_number(whole) - 1
        while first > last and lines[first - 1].startswith("#"):
            first -= 1
        last = whole.end_lineno or 0
        own = "".join(lines[first:last]).rstrip("\n") + "\n"
        (node,) = ast.parse(own).body
        uses, binds = undefined_and_defined_names(own)
        binds |= _mutated_names(node)
        uses |= {one.arg for one in ast.walk(node) if with_parameters and isinstance(one, ast.arg)}
        # `while n > 1: n = n / 2` needs the statement that binds `n` first.
        uses = (uses - binds) | (_names_read_first(node) & binds)
        items.append(TopStatement(node, own, frozenset(binds), frozenset(uses)))
    return items


_MODULES = re.compile(
    r"np|numpy|torch|pd|pandas|plt|pyplot|sns|os|sys|random|math|warnings|ax\d*|axe?s|fig\d*|pytest|student"
)
"""Names that modules and figures usually have: a statement that calls their methods mutates no variable."""
_SHOWS = {
    *("plot", "hist", "boxplot", "show", "head", "tail", "describe", "info", "summary", "display", "print"),
    *("value_counts", "savefig"),
}
"""Methods that a notebook calls so that it shows something."""


def _mutated_names(node: ast.stmt) -> set[str]:
    """Return the names whose objects a statement may mutate, such as `a` in `a[0] = 1` and in `a.append(1)`."""
    if isinstance(node, (Function, ast.ClassDef)):
        return set()
    changed = set[str]()
    for one in ast.walk(node):
        match one:
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                root: ast.expr = one
            # A statement that does nothing but call a method.
            case ast.Expr(value=ast.Call(func=ast.Attribute() as root)):
                pass
            case _:
                continue
        while isinstance(root, (ast.Subscript, ast.Attribute)) and getattr(root, "attr", "") not in _SHOWS:
            root = root.value
        changed |= {root.id} if isinstance(root, ast.Name) and not _MODULES.fullmatch(root.id) else set()
    return changed


def _names_read_first(node: ast.stmt) -> set[str]:
    """Return the names that a statement reads before it binds them, such as `n` in `while n > 1: n = n / 2`."""
    bound, read = set[str](), set[str]()

    def visit(*nodes: ast.AST) -> None:
        """Add to `read` and `bound` the names of these nodes, in the order in which they run."""
        for one in nodes:
            match one:
                case ast.Name(id=name, ctx=ast.Store()):
                    bound.add(name)
                case ast.Name(id=name):
                    read.update({name} - bound)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                    pass  # which runs later
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    read.update({name} - bound)
                    visit(value)
                    bound.add(name)
                case ast.Assign(targets=targets, value=value):
                    visit(value, *targets)
                case ast.For(target=target, iter=values, body=body, orelse=rest):
                    visit(values, target, *body, *rest)
                case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                    parts = [*ast.walk(one)]
                    own = {each.id for each in parts if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
                    names = {each.id for each in parts if isinstance(each, ast.Name)}
                    read.update(names - own - bound)
                case _:
                    visit(*ast.iter_child_nodes(one))

    visit(node)
    return read


def missing_packages(node: ast.AST, files: Container[str] = ()) -> list[str]:
    """Return the packages that a statement imports and that are not installed here.

    Files of the exercise are not among them.

    Args:
        node: the statement.
        files: the names of the exercise's data files.
    """
    return [root for root in _packages(node) if f"{root}.py" not in files and find_spec(root) is None]


def modules_among(node: ast.AST, files: Container[str]) -> list[str]:
    """Return the modules that a statement imports and that are files of an exercise.

    The module of the file "shapes.py" is "shapes".

    Args:
        node: the statement.
        files: the names of the files.
    """
    return [root for root in _packages(node) if f"{root}.py" in files]


def _packages(node: ast.AST) -> list[str]:
    names = (where for one in ast.walk(node) for where in imported_names(one).values())
    roots = dict.fromkeys(module.split(".")[0] for module, _ in names)
    return [root for root in roots if root]


def statements_needed(items: Iterable[TopStatement], names: Iterable[str]) -> list[TopStatement]:
    """Return the statements that bind `names`, and all statements on which these depend.

    They are in the file's order.
    """
    items, wanted = list(items), set(names)
    chosen: set[int] = set()
    while more := {place for place, item in enumerate(items) if item.binds & wanted} - chosen:
        chosen |= more
        wanted |= {name for place in more for name in items[place].uses}
    return [items[place] for place in sorted(chosen)]


def source_of_file(docstring: str, items: Iterable[TopStatement]) -> str:
    """Return the source of a file with a docstring and statements.

    The imports come first, and the import of `grader.check` is the last of them.
    """
    blocks = {"": [f'"""{docstring}"""\n'], "imports": list[str](), HELPERS: list[str]()}
    code, large = "", False
    imported = set[str]()
    for item in items:
        if names := imported_names(item.node):
            if ast.unparse(item.node) in imported:
                continue
            imported.add(ast.unparse(item.node))
            is_helper = item.text.startswith(HELPERS)
            blocks[HELPERS if is_helper else "imports"] += names if is_helper else [item.text]
            continue
        before, large = large, isinstance(item.node, (Function, ast.ClassDef))
        code += ("\n\n" if before or large else "" if code else "\n") + item.text
    if helpers := blocks[HELPERS]:
        blocks[HELPERS] = [f"{HELPERS}{', '.join(sorted(helpers))}\n"]
    return "\n".join("".join(dict.fromkeys(lines)) for lines in blocks.values() if lines) + code
