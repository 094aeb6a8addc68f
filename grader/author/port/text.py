"""Python text that is edited by the positions of its syntax tree: what is not edited stays as it was written."""

from __future__ import annotations

import ast
import itertools
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from grader.lint.scope import Function

_Node = ast.expr | ast.stmt
_WIDTH = 120


class Edits:
    """Edits of a text. Of two that overlap, the one that begins first counts."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()  # positions of syntax trees count bytes
        self._starts = [0, *itertools.accumulate(map(len, self._bytes.splitlines(keepends=True)))]
        self._edits: list[tuple[int, int, str]] = []

    def start(self, node: _Node) -> int:
        """Where a node begins."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: _Node) -> int:
        """Where a node ends."""
        return self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def text(self, node: _Node) -> str:
        """A node as it was written."""
        return self._bytes[self.start(node) : self.end(node)].decode()

    def replace(self, node: _Node, new: str) -> None:
        """Replace a node."""
        self._edits.append((self.start(node), self.end(node), new))

    def replace_name(self, function: Function, new: str) -> None:
        """Give a function another name."""
        start = self._bytes.index(b"def ", self.start(function)) + 4
        self._edits.append((start, start + len(function.name.encode()), new))

    def insert(self, place: int, new: str) -> None:
        """Insert a text."""
        self._edits.append((place, place, new))

    def add_first(self, place: int, new: Sequence[str], *, before: bool) -> None:
        """Add parameters or arguments behind the first bracket after a place; `before` if there are others."""
        if new:
            self.insert(self._bytes.index(b"(", place) + 1, ", ".join(new) + ", " * before)

    def drop(self, node: _Node) -> None:
        """Remove the lines of a node."""
        self._edits.append((self._starts[node.lineno - 1], self._starts[node.end_lineno or 0], ""))

    def comment(self, line: int, text: str) -> None:
        """Write a comment above a line."""
        start = self._starts[line - 1]
        indent = " " * (len(self._bytes[start:]) - len(self._bytes[start:].lstrip(b" ")))
        rows = textwrap.wrap(text, _WIDTH - 4 - len(indent), break_long_words=False, break_on_hyphens=False)
        self.insert(start, "".join(f"{indent}# {'  ' * (number > 0)}{row}\n" for number, row in enumerate(rows)))

    def result(self, block: Sequence[ast.stmt] = ()) -> str:
        """The text with all edits; only the lines of a block of statements, if one is given."""
        done = self._starts[first_line(block[0]) - 1] if block else 0
        last = self._starts[block[-1].end_lineno or 0] if block else len(self._bytes)
        parts = []
        for start, end, new in sorted(self._edits, key=lambda edit: (edit[0], edit[0] != edit[1], -edit[1])):
            if done <= start <= last:
                parts += [self._bytes[done:start], new.encode()]
                done = end
        return b"".join([*parts, self._bytes[done:last]]).decode()


@dataclass(frozen=True)
class Item:
    """A statement at the top of a file, with the comments above it.

    Attributes:
        node: its syntax tree.
        text: as it is written.
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


def items_of(text: str) -> list[Item]:
    """All statements at the top of a file, each with a syntax tree of its own."""
    lines = text.splitlines(keepends=True)
    items, last = [], 0
    for whole in ast.parse(text).body:
        first = first_line(whole) - 1
        while first > last and lines[first - 1].startswith("#"):
            first -= 1
        last = whole.end_lineno or 0
        own = "".join(lines[first:last]).rstrip("\n") + "\n"
        (node,) = ast.parse(own).body
        names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
        binds = {one.id for one in names if not isinstance(one.ctx, ast.Load)}
        if isinstance(node, (Function, ast.ClassDef)):
            binds = {node.name}
        uses = {one.id for one in names} | {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        items.append(Item(node, own, frozenset(binds), frozenset(uses - binds)))
    return items


def first_line(node: ast.stmt) -> int:
    """Where a statement begins, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def imports_of(items: Iterable[Item]) -> dict[str, tuple[str, str]]:
    """What each imported name is imported as: a module, and a name of it or ""."""
    origins: dict[str, tuple[str, str]] = {}
    for node in (item.node for item in items):
        if isinstance(node, ast.Import):
            origins |= {alias.asname or alias.name.split(".")[0]: (alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            origins |= {alias.asname or alias.name: (module, alias.name) for alias in node.names}
    return origins


def closure(items: Iterable[Item], names: Iterable[str]) -> list[Item]:
    """The items that these names need, in their order."""
    items, wanted = list(items), set(names)
    chosen: set[int] = set()
    while more := {place for place, item in enumerate(items) if item.binds & wanted} - chosen:
        chosen |= more
        wanted |= {name for place in more for name in items[place].uses}
    return [items[place] for place in sorted(chosen)]


def assembled(docstring: str, items: Sequence[Item], imports: Mapping[str, tuple[str, str]]) -> str:
    """A file of these items, with those of the imports that they need.

    Args:
        docstring: of the file.
        items: in their order.
        imports: what names may be imported as.
    """
    names: dict[str, list[str]] = {}
    lines = set()
    for name in sorted({name for item in items for name in item.uses} & imports.keys()):
        module, inner = imports[name]
        if inner:
            names.setdefault(module, []).append(inner if inner == name else f"{inner} as {name}")
        else:
            lines.add((_section(module), f"import {module}" + f" as {name}" * (module.split(".")[0] != name)))
    lines |= {(_section(module), f"from {module} import {', '.join(sorted(inner))}") for module, inner in names.items()}
    ordered = sorted(lines, key=lambda one: (one[0], one[1].startswith("from"), one[1]))
    blocks = ["".join(f"{line}\n" for _, line in group) for _, group in itertools.groupby(ordered, itemgetter(0))]
    code = "\n".join([f'"""{docstring}"""\n', *blocks])
    large = False
    for place, item in enumerate(items):
        before, large = large, isinstance(item.node, (Function, ast.ClassDef))
        code += ("\n\n" if before or large else "" if place else "\n") + item.text
    return code


def _section(module: str) -> int:
    """Where an import stands: Python's own first, ours last."""
    top = module.split(".")[0]
    return 0 if top in sys.stdlib_module_names else 2 if top in ("grader", "shared") else 1
