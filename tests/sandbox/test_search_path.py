"""Where our processes import from."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("checkout", [True, False])
def test_folder_around_the_package_is_searched_unless_it_is_a_checkout(tmp_path: Path, *, checkout: bool) -> None:
    """`pip install --target DIR` puts the packages that we need beside ours, whatever DIR is called."""
    folder = tmp_path / "dependencies"
    shutil.copytree(ROOT / "grader", folder / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    if checkout:
        (folder / "pyproject.toml").touch()
    script = (
        "import json; from grader.sandbox.process import isolated_command; print(json.dumps(isolated_command('x')))"
    )
    environment = {"PYTHONPATH": str(folder), "PATH": ""}
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=True)
    *_, path, package, _ = json.loads(ran.stdout)
    assert package == str(folder / "grader")
    assert (str(folder) in json.loads(path)) is not checkout


IN_A_WORKER = """
import os, sys, tempfile
from contextlib import closing
from pathlib import Path
from grader.connection.connection import Connection
from grader.worker_process.fork import ForkStarter
from grader.connection.student import Student
from grader.model import Limits
from grader.model.messages import Level
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer

TEXT = b'''
import os

def main(folder):
    import installed
    said = [installed.WORD]
    for path in ("notes.txt", "own/grades.txt"):
        try:
            said.append(open(os.path.join(folder, path)).read())
        except OSError as error:
            said.append(type(error).__name__)
    try:
        import own.work
    except (ImportError, PermissionError):
        said.append("cannot be imported")
    return said
'''

for level in (Level.FULL, Level.REDUCED):
    with closing(WorkerServer(SandboxPlan(most=level))) as server, tempfile.TemporaryDirectory() as folder:
        print(server.wait_ready().level.word)
        starter = ForkStarter(server.open_lane(0), Path(folder))
        with closing(starter), closing(Connection(starter, "a", {"a.py": TEXT}, Limits())) as connection:
            print(Student(connection).main(sys.argv[1]))
"""


def test_of_a_folder_in_pythonpath_workers_see_what_is_installed_there(tmp_path: Path) -> None:
    """The work of whoever grades may lie in such a folder, beside a package that was installed there."""
    folder = tmp_path / "mine"
    files = {
        "installed.py": "WORD = 'installed'\n",
        "installed-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: installed\nVersion: 1\n",
        "installed-1.dist-info/RECORD": "installed.py,,\ninstalled-1.dist-info/RECORD,,\n../bin/installed,,\n",
        "notes.txt": "a hidden plan",
        "own/__init__.py": "",
        "own/work.py": "x = 1\n",
        "own/grades.txt": "all of them",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    command, environment = [sys.executable, "-c", IN_A_WORKER, str(folder)], {**os.environ, "PYTHONPATH": str(folder)}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    for level, said in zip(lines[::2], lines[1::2], strict=True):
        if level != "none":
            refused = "FileNotFoundError" if level == "full" else "PermissionError"
            assert ast.literal_eval(said) == ["installed", refused, refused, "cannot be imported"]
