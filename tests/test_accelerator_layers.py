"""How the simulated accelerator is put together: boxes that import lower ones only, and one page of all patches."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import grader
from grader.accelerator import enabling, patches

PACKAGE = Path(str(grader.__file__)).parent / "accelerator"
FILES = sorted(PACKAGE.rglob("*.py"))

BOXES = (
    *("timeline", "refusals", "replacing", "schema", "sim", "core", "cuda", "ops", "dispatch", "patches", "enabling"),
    *("tools", "pytest_plugin", "__init__", "__main__"),
)
"""The modules and packages of the accelerator, the lowest first: each imports lower ones only."""


def box_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def modules_of(path: Path) -> set[str]:
    """All modules that a file imports, in functions and by name, too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
            (name,) = node.args
            parts = name.values if isinstance(name, ast.JoinedStr) else [name]
            found |= {str(part.value) for part in parts if isinstance(part, ast.Constant)}
    return found


def test_boxes_import_lower_ones_only() -> None:
    """No box imports one above it, at the start or later."""
    pairs = set()
    for path in FILES:
        for name in modules_of(path):
            parts = name.split(".")
            if parts[:2] == ["grader", "accelerator"] and len(parts) > 2 and parts[2] in BOXES:
                pairs.add((box_of(path), parts[2]))
    upward = {pair for pair in pairs if BOXES.index(pair[0]) < BOXES.index(pair[1])}
    assert upward == set()
    assert {box for box, _ in pairs} | {"timeline", "refusals"} == set(BOXES)


def test_it_imports_nothing_else_of_ours() -> None:
    """The accelerator can be taken out of this project."""
    ours = {name for path in FILES for name in modules_of(path) if name.split(".")[0] == "grader"}
    assert {name for name in ours if not name.startswith("grader.accelerator")} == set()


def test_one_page_has_all_that_is_replaced() -> None:
    """Each module of patches has `install(machine)` and stands in a tuple of `enabling`; no other module replaces."""
    walked = [*enabling.PATCHES_FOR_CUDA, *enabling.PATCHES]
    names = [str(module.__name__).rpartition(".")[2] for module in walked]
    there = [path.stem for path in sorted(Path(str(patches.__file__)).parent.glob("*.py")) if path.stem != "__init__"]
    assert sorted(names) == there
    for module in walked:
        assert list(inspect.signature(module.install).parameters) == ["machine"]
    users = {
        box_of(path)
        for path in FILES
        if any(name.startswith("grader.accelerator.replacing") for name in modules_of(path))
    }
    assert users == {"patches"}
