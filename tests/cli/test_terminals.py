"""Commands typed into a terminal: colours where it has some, signs where it has none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from support import RIGHT, run_grade

pytestmark = [pytest.mark.lane, pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is typed into")]

WRONG = RIGHT.replace("2 * x", "3 * x")


def write_wrong(home: Path) -> None:
    """Make the answer of a student wrong."""
    (home / "exercises/01_basics/double/double.py").write_text(WRONG)


def typed(*arguments: str, cwd: Path, **environment: str) -> str:
    """What the terminal gets of a command, with its escape codes."""
    import pty

    master, slave = pty.openpty()
    command = [sys.executable, "-m", "grader", *arguments]
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COLUMNS")}
    with subprocess.Popen(
        command, cwd=cwd, env=clean | environment, stdin=slave, stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        came = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # Linux says so at the end
                break
            if not part:
                break
            came += part
    os.close(master)
    assert process.returncode == 1, came
    return came.decode("utf-8")


def test_wrong_elements_are_red_on_a_terminal(home: Path) -> None:
    """Red elements have no marks, and the legend is red, too."""
    write_wrong(home)
    seen = typed("double", cwd=home, TERM="xterm", LANG="C.UTF-8", PYTHONUTF8="1")
    assert "\x1b[31m\x1b[1m\x1b[7m" in seen
    assert " marks wrong elements" in click.unstyle(seen)
    assert "> <" not in seen
    assert ">3" not in click.unstyle(seen)


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_without_colours_there_are_signs(home: Path, environment: dict[str, str]) -> None:
    """A terminal that has no colours, or a reader who wants none, gets no escape code at all."""
    write_wrong(home)
    seen = typed("double", cwd=home, **environment, PYTHONUTF8="1")
    assert "> < marks wrong elements" in seen
    assert "\x1b" not in seen


def test_a_pipe_is_plain_wherever_it_is(home: Path) -> None:
    """A job that asks all programs for colours gets the same text as anybody else."""
    write_wrong(home)
    job = {
        "FORCE_COLOR": "1",
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "COLORTERM": "truecolor",
        "TERM": "xterm-256color",
    }
    plain, of_job = (run_grade("double", cwd=home, env=os.environ | extra).stdout for extra in ({}, job))
    assert "> < marks wrong elements" in plain
    assert "\x1b" not in plain
    assert of_job.splitlines()[:9] == plain.splitlines()[:9]


def test_grading_does_not_wait_for_rich(home: Path) -> None:
    """What every student types imports of rich at most its table of characters, by which names with accents are cut."""
    write_wrong(home)
    code = (
        "import sys\nfrom grader.cli import main\n"
        "try:\n    main(['double'])\n"
        "finally:\n    print(*sorted(name for name in sys.modules if name.split('.')[0] == 'rich'), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=home, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    assert (
        set(ran.stderr.splitlines()[-1].split()) & {"rich.console", "rich.text", "rich.segment", "rich.table"} == set()
    )
