"""Who may import whom: floors, not a web. The host never imports torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import grader

PACKAGE = Path(grader.__file__).parent

FLOORS = {
    "__init__": set(),
    "errors": set(),
    "model": set(),
    "processes": set(),
    "sweep": set(),
    "wire": {"wire"},
    "confine": {"confine"},
    "accelerator": {"accelerator"},
    "worker": {"wire", "worker", "confine", "accelerator"},
    "confinement": {"confine", "errors", "processes"},
    "source": {"confinement", "wire", "errors", "processes"},
    "check": {"check", "accelerator", "confine", "wire", "model", "processes", "sweep"},
    "course": {"errors", "model"},
    "submission": {"errors", "model"},
    "score": {"model"},
    "report": {"report", "model", "score", "confine", "doctor"},
    "lane": {"source", "sweep", "confinement", "wire", "errors", "model", "processes"},
    "quiet": {"lane", "model"},
    "grading": {"lane", "quiet", "source", "confinement", "course", "score", "errors", "model"},
    "batch": {"grading", "lane", "quiet", "confinement", "submission", "report", "score", "errors", "model"},
    "doctor": {"grading", "confinement"},
    "verify": {"verify", "grading", "lane", "quiet", "course", "submission", "score", "report", "errors", "model"},
    "author": {"course", "errors", "model"},
    "cli": {
        *("author", "batch", "confine", "confinement", "course", "doctor", "errors", "grading", "model", "report"),
        *("quiet", "submission", "verify"),
    },
    "__main__": {"cli"},
}
"""What each module or folder may import of ours. `lane` starts `check` and `worker` by name, never by import."""

PACKAGES = {f"grader.{path.parent.name}" for path in PACKAGE.glob("*/__init__.py")}

HOST_WIRE = {"grader.wire.frames", "grader.wire.transport"}
"""The parts of the wire that the host may import: the rest imports torch."""


def imports_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module.count(".") < 2:
                found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "grader"}
    return {name for name in found if name.split(".")[0] == "grader" and name != "grader"}


def floor_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_lower_floors_only(path: Path) -> None:
    """A module imports only what its row allows."""
    allowed = FLOORS[floor_of(path)]
    used = {name.split(".")[1] for name in imports_of(path)}
    assert used <= allowed, f"{path.name} imports {sorted(used - allowed)}"


def test_no_import_circles() -> None:
    """Modules never import each other in a circle."""
    graph = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(("grader", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
        inner = {f"{node.module}.{alias.name}" for node in named for alias in node.names}
        graph[name] = inner | {node.module for node in named if node.module not in PACKAGES}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name in done:
            return
        for other in graph.get(name, ()):
            if other in graph:
                visit(other, (*trail, name))
        done.add(name)

    for name in graph:
        visit(name, ())


def test_host_uses_the_light_part_of_the_wire() -> None:
    """The lane imports frames and transport, nothing that imports torch."""
    used = {name for name in imports_of(PACKAGE / "lane.py") if name.startswith("grader.wire")}
    assert used <= HOST_WIRE


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("grader.cli", ["torch", "pytest", "numpy", "pydantic", "yaml"]),
        ("grader.batch", ["torch", "pytest", "numpy"]),
        ("grader.verify.run", ["torch", "pytest", "numpy"]),
    ],
)
def test_host_modules_stay_light(module: str, forbidden: list[str]) -> None:
    """Importing the host's modules imports neither torch nor pytest; the command line imports next to nothing."""
    code = f"import sys, {module}; print([name for name in {forbidden!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
