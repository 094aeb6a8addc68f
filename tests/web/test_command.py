"""The command `grade web`: without its extra, with a taken port, its end; other commands do not import it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from support import WarmGrade
from web_server import Server

from grader.report.console import requirements_of_extra


def processes() -> dict[int, int]:
    """All processes that run, each with its parent."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {int(pid): int(parent) for pid, parent, state in rows if not state.startswith("Z")}


def below(pid: int) -> set[int]:
    """The processes that one started, and what these started."""
    parents = processes()
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def test_without_the_extra_it_says_how_to_install_it(
    type_grade: WarmGrade, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence has the command to type."""
    for name in [name for name in sys.modules if name.split(".")[0] == "nicegui" or name.startswith("grader.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nicegui", None)
    ran = type_grade("web", "--no-browser", cwd=home)
    assert ran.returncode == 2
    assert f"pip install {requirements_of_extra('web')}" in " ".join(ran.stderr.split())


def test_a_port_that_is_taken_is_named(type_grade: WarmGrade, home: Path) -> None:
    """The sentence says what to do."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install 'tensorgrade[web]'")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = type_grade("web", "--no-browser", "--port", str(taken.getsockname()[1]), cwd=home)
    assert ran.returncode == 2
    assert "choose another with --port" in " ".join(ran.stderr.split())


def test_other_commands_do_not_import_it() -> None:
    """Neither NiceGUI nor our pages are imported by any module outside of them."""
    code = (
        "import importlib, pkgutil, sys, grader\n"
        "for one in pkgutil.walk_packages(grader.__path__, 'grader.'):\n"
        "    if not one.name.startswith(('grader.web', 'grader.accelerator', 'grader.__main__')) "
        "and not one.name.endswith('__main__'):\n"
        "        importlib.import_module(one.name)\n"
        "print([name for name in sys.modules if name.startswith(('nicegui', 'fastapi', 'grader.web.'))])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_server_needs_its_token_and_ends_with_ctrl_c(server: Server) -> None:
    """Without the token nothing is answered; after Ctrl-C no process and no file is left."""
    before = {path.name for path in server.folder.iterdir()}
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(server.url)
    refused.value.close()
    assert refused.value.code == 403
    started = below(server.process.pid)
    assert server.end() in (0, -2, 130)
    for _ in range(100):  # what ends needs a moment
        if not started & processes().keys():
            break
        time.sleep(0.2)
    assert started & processes().keys() == set()
    assert {path.name for path in server.folder.iterdir()} <= {*before, ".grade"}
