"""A plain pytest file: its tests as functions, and which names are the student's."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from grader.author.port.text import Edits, Item, first_line, imports_of, items_of
from grader.lint.scope import Function
from grader.model.errors import CourseError

_LIBRARIES = sys.stdlib_module_names | {
    *("torch", "numpy", "pytest", "scipy", "pandas", "einops", "jaxtyping", "hypothesis", "torchvision", "sklearn"),
    *("matplotlib", "tqdm", "typing_extensions", "transformers", "tiktoken", "PIL", "yaml", "psutil"),
}
_HELPERS = {"common", "conftest", "fixtures", "helpers", "test_utils", "utils"}
"""Modules beside a test file that are the course's."""


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)


@dataclass(frozen=True)
class Plain:
    """A plain pytest file.

    Attributes:
        items: its statements, without imports; methods of test classes are functions.
        imports: what its names are imported as, without those of student code.
        names: the student's names: as the file has them, and as the task has them.
        modules: what the student's modules are called.
        missing: names from modules beside the file, which are not here, with their modules.
    """

    items: tuple[Item, ...]
    imports: Mapping[str, tuple[str, str]]
    names: Mapping[str, str]
    modules: frozenset[str]
    missing: Mapping[str, str]

    def students(self, function: ast.AST) -> Iterator[tuple[ast.expr, str]]:
        """Where student code is named in a function's body, with the name that the task has for it."""
        own = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        own |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and _is_stored(node)}
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
    imports = imports_of(items)
    items = items_of("\n\n".join(_flat(item) for item in items if _stays(item)))
    names, modules, missing = dict[str, str](), set[str](), dict[str, str]()
    for name, (module, inner) in imports.items():
        parts = module.split(".")
        if parts[0] in _LIBRARIES:
            continue
        if (inner if module.strip(".") == "" else parts[-1]) in _HELPERS:
            missing[name] = module
        elif inner == "*":
            names |= {unknown: unknown for unknown in _undefined(items, imports)}
        elif not inner or module.strip(".") == "":
            modules.add(name)
        else:
            short = inner.removeprefix("run_") if parts[-1] == "adapters" and inner not in defined else inner
            names[name] = short
    plain = Plain(
        items=tuple(items),
        imports={name: origin for name, origin in imports.items() if origin[0].split(".")[0] in _LIBRARIES},
        names=names,
        modules=frozenset(modules),
        missing=missing,
    )
    if not plain.tests:
        raise CourseError("the file has no tests: functions named test_...")
    if not any(True for item in plain.items for _ in plain.students(item.node)):
        raise CourseError("no test calls student code: nothing is imported from a module such as solution or adapters")
    return plain


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _stays(item: Item) -> bool:
    """Whether a statement is anything but an import, a text, or what runs the file as a program."""
    match item.node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return False
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return False
    return True


def _undefined(items: list[Item], imports: Mapping[str, object]) -> set[str]:
    """The names that nothing in the file binds."""
    nodes = [node for item in items for node in ast.walk(item.node)]
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and _is_stored(node)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, _NAMED) and node.name}
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return used - bound - imports.keys() - set(dir(builtins))


def _flat(item: Item) -> str:
    """A test class as functions; anything else as it is."""
    node = item.node
    if not isinstance(node, ast.ClassDef) or not (node.name.startswith("Test") or "TestCase" in map(_last, node.bases)):
        return item.text
    edits = Edits(item.text)
    edits.shift(node.body, -node.body[0].col_offset)
    lines = edits.result().splitlines(keepends=True)
    marks = "".join(f"@{ast.unparse(one)}\n" for one in node.decorator_list)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.name.removeprefix("Test")).lower()
    parts, own = [], set[str]()
    for part in node.body:
        code = "".join(lines[first_line(part) - 1 : part.end_lineno])
        if isinstance(part, Function):
            code = re.sub(r"^((?:async )?def \w+\()self\b(?:,\s*)?", r"\1", code, count=1, flags=re.MULTILINE)
            if part.name.startswith("test"):
                code = marks + code.replace(f"def {part.name}", f"def test_{words}{part.name[4:]}", 1)
            own.add(part.name)
        elif isinstance(part, ast.ClassDef):
            code = _flat(items_of(code)[0])
        elif isinstance(part, ast.Assign):
            own |= {target.id for target in part.targets if isinstance(target, ast.Name)}
        parts.append(code)
    return re.sub(rf"\bself\.({'|'.join(own) or 'self'})\b", r"\1", "\n\n".join(parts))


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]
