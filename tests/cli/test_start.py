"""`grade start` and `grade update` as they are typed, and the wheel that carries the bundled course."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from support import ROOT, WarmGrade, run_grade

from grader.course.layout import bundled_course, student_files
from grader.course.load import load_course

pytestmark = pytest.mark.lane


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a wheel would install it, away from this checkout."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name in ("grader", "exercises", "solutions"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (
        "constraints.txt",
        "constraints.lock",
        "course.yaml",
        "pyproject.toml",
        "setup.py",
        "README.md",
        "LICENSE",
    ):
        shutil.copy(ROOT / name, source)
    # What an earlier build left behind must not come along.
    (target / "grader/bundled/exercises").mkdir(parents=True)
    (target / "grader/bundled/exercises/stale.py").write_text("")
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, text=True)
    return target


def run_installed(site: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command of the installed package."""
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from grader.cli import main; main(prog_name='grade')"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240, check=False)


def test_wheel_carries_the_whole_course(installed: Path) -> None:
    """Exercises, solutions, course.yaml and pins, file by file; our modules and templates; and nothing else."""
    bundled = installed / "grader" / "bundled"
    files = {path.relative_to(bundled) for path in bundled.rglob("*") if path.is_file()}
    folders = [*(ROOT / "exercises").rglob("*.*"), *(ROOT / "solutions").rglob("*.*")]
    wanted = [ROOT / "constraints.txt", ROOT / "constraints.lock", ROOT / "course.yaml", *folders]
    ours = {path.relative_to(ROOT) for path in wanted if path.is_file() and "__pycache__" not in path.parts}
    assert files == ours
    assert load_course(bundled).exercises
    package = {path.relative_to(ROOT) for path in (ROOT / "grader").rglob("*") if path.is_file()}
    others = {path.relative_to(installed) for path in installed.rglob("*") if path.is_file()}
    compiled = {path for path in package if path.suffix == ".pyc"}
    assert {path for path in others if bundled not in (installed / path).parents} == package - compiled


def test_first_exercise_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """Started, solved by changing one line, graded with the hidden checks, which are not in the student's folder."""
    ran = run_installed(installed, "start", "my course", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("  cd 'my course'\n  grade next\nOr in a browser:  grade web\n")
    home = tmp_path / "my course"
    assert not (home / "solutions").exists()
    told = json.loads(run_installed(installed, "next", "--json", cwd=home).stdout)["exercises"][0]["path"]
    text = (home / told).read_text()
    (line,) = [line for line in text.split("\n") if "TODO" in line]
    (home / told).write_text(text.replace(line, "    return torch.tensor(readings)"))
    ran = run_installed(installed, "01-1", cwd=home)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "10 / 10 points" in ran.stdout
    assert "grade show from_python_and_back --reference" in ran.stdout
    assert "Your folder is up to date with the installed course." in run_installed(installed, "update", cwd=home).stdout


def test_start_in_this_folder_and_from_a_checkout(type_grade: WarmGrade, tmp_path: Path) -> None:
    """It works with what a checkout has around the package; authors' commands do not work in a student's folder."""
    ran = type_grade("start", ".", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "exercises are in this folder" in ran.stdout
    assert ran.stdout.endswith("  grade next\n  grade\nOr in a browser:  grade web\n")
    laid = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert laid == {*student_files(load_course(bundled_course())), Path(".grade-given.json")}
    again = type_grade("start", ".", cwd=tmp_path)
    assert again.returncode == 2
    assert "has the course already" in again.stderr
    blank = type_grade("start", "my", "stuff", cwd=tmp_path)
    assert (blank.returncode, "grade start 'my stuff'" in blank.stderr) == (2, True)
    # What needs solutions, or would make some, says where it belongs.
    for words in (("verify", "01-1"), ("new", "01_making/mine")):
        ran = type_grade(*words, cwd=tmp_path)
        assert (ran.returncode, "is a student's folder, made by grade start" in ran.stderr) == (2, True)
    assert not (tmp_path / "solutions").exists()


def test_pytorch_is_compiled_once_where_no_installer_did_it(home: Path, tmp_path: Path) -> None:
    """`grade start` says so and does it; from then on nothing is compiled, and a run compiles what is missing, too.

    The installation has PyTorch's files by links, and no bytecode, as uv leaves it.
    """
    site, packages = tmp_path / "site", Path(torch.__path__[0])
    no_code = shutil.ignore_patterns("__pycache__", "include", "*.a")
    shutil.copytree(packages, site / "torch", copy_function=os.symlink, ignore=no_code)
    compiled = site / "torch" / "utils" / "benchmark" / "__pycache__"
    env = os.environ | {"PYTHONPATH": str(site)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # who sets it has nothing compiled
    first = run_grade("start", str(tmp_path / "one"), cwd=tmp_path, env=env)
    assert first.stdout.splitlines()[0].startswith("Compiling PyTorch, once"), first.stdout + first.stderr
    written = {path: path.stat().st_mtime_ns for path in site.rglob("*.pyc")}
    assert any(path.parent == compiled for path in written)
    second = run_grade("start", str(tmp_path / "two"), cwd=tmp_path, env=env)
    assert "Compiling" not in second.stdout
    shutil.rmtree(compiled)
    assert run_grade("double", cwd=home, env=env).returncode in (0, 1)
    assert compiled.is_dir()
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*.pyc") if path.parent != compiled} == {
        path: at for path, at in written.items() if path.parent != compiled
    }
