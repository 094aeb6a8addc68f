"""A plain pytest file: its tests as functions, and which names are the student's."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from grader.author.port.text import Item, first_line, imported, items_of
from grader.lint.scope import Function
from grader.model.errors import CourseError

_LIBRARIES = sys.stdlib_module_names | {
    *("torch", "numpy", "pytest", "scipy", "pandas", "einops", "jaxtyping", "hypothesis", "torchvision", "sklearn"),
    *("matplotlib", "tqdm", "typing_extensions", "transformers", "tiktoken", "PIL", "yaml", "psutil"),
}
_HELPERS = {"common", "conftest", "fixtures", "helpers", "test_utils", "utils"}
"""Modules beside a test file that are the course's."""


@dataclass(frozen=True)
class Plain:
    """A plain pytest file.

    Attributes:
        items: its statements, without imports of student code; methods of test classes are functions.
        names: the student's names: as the file has them, and as the task has them.
        modules: what the student's modules are called.
    """

    items: tuple[Item, ...]
    names: Mapping[str, str]
    modules: frozenset[str]

    def students(self, function: ast.AST) -> Iterator[tuple[ast.expr, str]]:
        """Where student code is named in a function's body, with the name that the task has for it."""
        own = _bound(function)
        for node in (node for statement in getattr(function, "body", ()) for node in ast.walk(statement)):
            if isinstance(node, ast.Name) and node.id in self.names.keys() - own:
                yield node, self.names[node.id]
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.modules:
                yield node, node.attr

    @property
    def tests(self) -> list[Item]:
        """The tests."""
        return [item for item in self.items if isinstance(item.node, Function) and item.name.startswith("test")]


def read_plain(text: str, defined: Collection[str] = ()) -> Plain:
    """Read a plain pytest file.

    Args:
        text: of the file.
        defined: the names of the reference, where there is one.

    Raises:
        CourseError: there is nothing to port.
    """
    try:
        items = items_of(text)
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"the test file is not valid Python ({error}); fix it first") from None
    imports = {name: origin for item in items for name, origin in imported(item.node).items()}
    items = items_of("\n\n".join(_flat(item) for item in items if _stays(item)))
    names, modules = dict[str, str](), set[str]()
    for name, (module, inner) in imports.items():
        parts = module.split(".")
        if parts[0] in _LIBRARIES or (inner if module.strip(".") == "" else parts[-1]) in _HELPERS:
            continue
        if inner == "*":
            tree = ast.Module([item.node for item in items], [])
            names |= {unknown: unknown for unknown in undefined(tree)}
        elif not inner or module.strip(".") == "":
            modules.add(name)
        else:  # an adapter's name is the student's name with "run_" before it
            is_adapter = parts[-1] == "adapters" and inner not in defined
            names[name] = inner.removeprefix("run_") if is_adapter else inner
    plain = Plain(tuple(items), names, frozenset(modules))
    if not plain.tests:
        raise CourseError("the file has no tests: functions named test_...")
    if not any(True for item in plain.items for _ in plain.students(item.node)):
        raise CourseError("no test calls student code: nothing is imported from a module such as solution or adapters")
    return plain


def _stays(item: Item) -> bool:
    """Whether a statement is anything but an import of student code, a text, or what runs the file as a program."""
    match item.node:
        case ast.Import() | ast.ImportFrom():
            return all(module.split(".")[0] in _LIBRARIES for module, _ in imported(item.node).values())
        case ast.Expr(value=ast.Constant()):
            return False
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return False
    return True


def _bound(tree: ast.AST) -> set[str]:
    """The names that something in a tree binds."""
    nodes = list(ast.walk(tree))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return bound | {node.arg for node in nodes if isinstance(node, ast.arg)}


def undefined(tree: ast.Module) -> set[str]:
    """The names that nothing in a file binds."""
    nodes = list(ast.walk(tree))
    bound = _bound(tree) | {str(getattr(node, "name", "")) for node in nodes}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return {node.id for node in nodes if isinstance(node, ast.Name)} - bound - set(dir(builtins))


def _flat(item: Item) -> str:
    """A test class as functions, a function of one line as several; anything else as it is."""
    node = item.node
    if isinstance(node, Function) and node.body[0].lineno == node.lineno:
        return ast.unparse(node)
    is_tests = isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or "TestCase" in ast.unparse(node))
    if not isinstance(node, ast.ClassDef) or not is_tests:
        return item.text
    lines = re.sub(rf"^ {{1,{node.body[0].col_offset}}}", "", item.text, flags=re.MULTILINE).splitlines(keepends=True)
    marks = "".join(f"@{ast.unparse(one)}\n" for one in node.decorator_list)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.name.removeprefix("Test")).lower()
    parts, own = [], {"self"}
    for part in node.body:
        code = "".join(lines[first_line(part) - 1 : part.end_lineno])
        if isinstance(part, Function):
            code = re.sub(r"^(def \w+\()self\b(?:,\s*)?", r"\1", code, count=1, flags=re.MULTILINE)
            if part.name.startswith("test"):
                code = marks + code.replace(f"def {part.name}", f"def test_{words}{part.name[4:]}", 1)
            own.add(part.name)
        elif isinstance(part, ast.Assign):
            own |= {target.id for target in part.targets if isinstance(target, ast.Name)}
        parts.append(code)
    return re.sub(rf"\bself\.({'|'.join(own)})\b", r"\1", "\n\n".join(parts))
