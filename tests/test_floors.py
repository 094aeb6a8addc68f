"""Who may import whom: floors, not a web. The host never imports torch."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import grader

pytestmark = pytest.mark.lane

PACKAGE = Path(grader.__file__).parent

LAYERS = (
    *("__init__", "sandbox", "wire", "lint", "accelerator", "model", "worker"),
    *("worker_process", "connection", "speed", "check", "check_process"),
    *("course", "intake", "runner", "grading", "report", "drawing", "cluster", "batch", "ci", "release", "author"),
    *("student", "notebook", "web", "cli", "__main__"),
)
"""The packages, the lowest first: each imports lower ones only. `runner` starts `check_process`, `worker` by name."""

PACKAGES = {f"grader.{path.parent.name}" for path in PACKAGE.glob("*/__init__.py")}

HOST = LAYERS[LAYERS.index("course") :]
"""The packages that are imported where grading is started, besides those of plain data."""

HOST_WIRE = {"grader.wire.frames", "grader.wire.transport"}
"""The parts of the wire that the host may import: the rest imports torch."""

PLAIN = {f"grader.wire.{name}" for name in ("frames", "transport", "plain", "table", "containers")}
PLAIN |= {f"grader.worker.{name}" for name in ("serve", "server", "importer", "absent", "libraries", "plain_probes")}
"""The modules for a process that has neither PyTorch nor NumPy: the workers of exercises in plain Python."""


@functools.cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, the module first."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@functools.cache
def names_of(path: Path) -> set[str]:
    """All that a file imports: modules, and `module.name` of what it takes from one."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import | ast.ImportFrom):
            above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            found |= {above + alias.name for alias in node.names}
    return found


def imports_of(path: Path) -> set[str]:
    """The modules of ours that a file imports, or imports from."""
    modules = {node.module or "" for node in nodes_of(path) if isinstance(node, ast.ImportFrom)}
    whole = {alias.name for node in nodes_of(path) if isinstance(node, ast.Import) for alias in node.names}
    rooms = {name for name in names_of(path) if name.rpartition(".")[0] == "grader"}
    return {name for name in modules | whole | rooms if name.startswith("grader.")}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(PACKAGE.rglob("*.py"))


def test_packages_import_lower_ones_only() -> None:
    """No package imports one above it."""
    pairs = {(room_of(path), name.split(".")[1]) for path in FILES for name in imports_of(path)}
    assert [pair for pair in sorted(pairs) if LAYERS.index(pair[0]) < LAYERS.index(pair[1])] == []


def test_no_import_circles() -> None:
    """Modules never import each other in a circle."""
    graph = {}
    for path in FILES:
        name = ".".join(("grader", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        (module, *_) = nodes_of(path)
        assert isinstance(module, ast.Module)
        named = [node for node in module.body if isinstance(node, ast.ImportFrom) and node.module]
        inner = {f"{node.module}.{alias.name}" for node in named for alias in node.names}
        graph[name] = inner | {node.module for node in named if node.module and node.module not in PACKAGES}
    TopologicalSorter(graph).prepare()  # raises a CycleError that has the circle


def test_each_package_lists_its_modules() -> None:
    """Its docstring names each; `enabling` has the list of patches, and docs/architecture.md that of the packages."""
    missing = []
    for init in sorted(PACKAGE.glob("*/**/__init__.py")):
        beside = {path.stem for path in init.parent.glob("*.py")} | {
            path.parent.name for path in init.parent.glob("*/__init__.py")
        }
        words = set(re.findall(r"\w+", ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""))
        missing += [f"{init.parent.name}/{name}" for name in sorted(beside - words - {"__init__", "__main__"})]
    assert [name for name in missing if not name.startswith("patches/")] == []


def test_the_host_uses_the_light_part_of_the_wire() -> None:
    """The host imports frames and transport, nothing that imports torch."""
    used = {name for path in FILES if room_of(path) in HOST for name in imports_of(path)}
    assert {name for name in used if name.startswith("grader.wire")} <= HOST_WIRE


def test_the_plain_half_needs_no_torch() -> None:
    """What a process without PyTorch and NumPy imports leads to neither of them."""
    code = f"import importlib, sys\nfor name in {sorted(PLAIN)}: importlib.import_module(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"torch", "numpy"} & set(done.stdout.split()) == set()


def test_one_module_knows_the_paths_of_a_course() -> None:
    """No other module spells a folder or a file name of a course."""
    words = ("exercises", "solutions", "course.yaml", "exercise.yaml", "topics.yaml", "check_", "probe_", "README.md")
    known = []
    for path in FILES:
        room = room_of(path)
        if str(path.relative_to(PACKAGE)) == "course/layout.py" or room == "accelerator":
            continue
        for node in nodes_of(path):
            is_path = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
            if is_path or (isinstance(node, ast.Call) and ast.unparse(node.func) == "Path"):
                texts = [str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant)]
                known += [f"{path.name}: {text}" for text in texts if text.startswith(words)]
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
                bad = node.value.startswith(("exercises/", "solutions/")) or node.value.endswith(("/exercise.yaml",))
                known += [f"{path.name}: {node.value}"] * bad
    assert known == []


def test_the_wheel_carries_what_is_not_a_module() -> None:
    """Each file beside the modules fits a pattern of pyproject.toml: without it, a wheel would lack the file."""
    text = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    patterns = tomllib.loads(text)["tool"]["setuptools"]["package-data"]["grader"]
    carried = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    files = {path for path in PACKAGE.rglob("*.*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert files - carried == set()


def test_the_sandbox_stands_by_itself() -> None:
    """What starts and confines processes needs the standard library; one file needs PyTorch."""
    used = {name.split(".")[0] for path in FILES if room_of(path) == "sandbox" for name in names_of(path)}
    assert used - sys.stdlib_module_names - {"grader"} == {"torch"}


def test_check_files_need_one_package_of_ours() -> None:
    """The checks of the pretend courses, and those that `grade new` lays out, import `grader.check` alone of ours."""
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("courses/**/check_*.py")]
    texts += [path.read_text(encoding="utf-8") for path in (PACKAGE / "course" / "templates").glob("*_checks.py.txt")]
    used = {found[1] for text in texts for found in re.finditer(r"^\s*(?:from|import) (grader\S*)", text, re.MULTILINE)}
    assert used == {"grader.check"}


HEAVY = ["torch", "pytest", "numpy"]
LIGHT = [
    (["cli", "cli.grade", "check_process.__main__"], [*HEAVY, "pydantic", "yaml"]),
    (["batch.run", "ci.job", "grading.diagnosis", "author.verify", "release.make"], HEAVY),
    (
        [
            f"student.{name}"
            for name in (
                "notebook",
                "folder",
                "rows",
                "list_page",
                "task_page",
                "advice",
                "hints",
                "own",
                "pack",
                "lines_to_try",
                "watch",
            )
        ],
        HEAVY,
    ),
    (["notebook"], [*HEAVY, "pydantic", "yaml", "jinja2", "grader.course"]),
    (["student.pytest_plugin"], ["torch", "numpy", "pydantic", "yaml", "grader.course", "grader.model"]),
]


@pytest.mark.parametrize(("modules", "forbidden"), LIGHT)
def test_light_modules_stay_light(modules: list[str], forbidden: list[str]) -> None:
    """The host's modules import neither torch nor pytest, nor does the check process before it has its channel."""
    told = f"print([name for name in {forbidden!r} if name in sys.modules])\n"
    code = "import sys\n" + "".join(f"import grader.{module}\n{told}" for module in modules)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["[]"] * len(modules)


def test_nothing_is_sent_anywhere() -> None:
    """Only the cluster's modules connect to other machines; the sandbox's try to, and the web's wait on this one."""
    clients = {"ssl", "http", "urllib", "requests", "ftplib", "smtplib", "asyncio", "distributed", "webbrowser"}
    harmless, users = ("urllib.parse", "urllib.request.url2pathname"), set()
    for path in FILES:
        names = [name for name in names_of(path) if not name.startswith(harmless)]
        text = path.read_text(encoding="utf-8")
        if {name.split(".")[0] for name in names} & clients or "create_connection" in text or "AF_INET" in text:
            users.add(room_of(path))
    assert users == {"cluster", "sandbox", "web"}
