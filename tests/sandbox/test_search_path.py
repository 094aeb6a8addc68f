"""Where our processes import from."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT


@pytest.mark.parametrize("checkout", [True, False])
def test_folder_around_the_package_is_searched_unless_it_is_a_checkout(tmp_path: Path, *, checkout: bool) -> None:
    """`pip install --target DIR` puts the packages that we need beside ours, whatever DIR is called."""
    folder = tmp_path / "dependencies"
    shutil.copytree(ROOT / "grader", folder / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    if checkout:
        (folder / "pyproject.toml").touch()
    script = "import json; from grader.sandbox.process import isolated; print(json.dumps(isolated('x')))"
    environment = {"PYTHONPATH": str(folder), "PATH": ""}
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=True)
    *_, path, package, _ = json.loads(ran.stdout)
    assert package == str(folder / "grader")
    assert (str(folder) in json.loads(path)) is not checkout
