"""A typed `grade` is run by a process that an earlier one left ready, and nobody sees a difference."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import RIGHT, TOTAL, written

import grader
from grader.cli.ready import IMPORTED
from grader.runner.warm_socket import SWITCH

pytestmark = [
    pytest.mark.lane,
    pytest.mark.skipif(sys.platform != "linux", reason="processes stay on Linux alone"),
]

GRADE = [sys.executable, "-m", "grader"]
DOUBLE = "exercises/01_basics/double/double.py"
TASK = "Double it\n\nC1  `double(x)` returns a new tensor with every element doubled.\n"
WRONG = "def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    return x * 2\n"
ENDLESS = "def double(x):\n    while True:\n        pass\n\n\ndef double_(x):\n    return x\n"

BY_ITSELF = "grade_here does the work here"
TYPED = f"""
import sys
import grader.cli.grade
from grader.__main__ import main

grader.cli.grade.grade_here = lambda **_: print({BY_ITSELF!r})
sys.modules.pop("grader.grading.runtime", None)
sys.argv[0] = "grade"
main()
"""
"""A program that is `grade`, but says so where it does the work itself."""

PATIENT = """
import sys
import grader.sandbox.child
from grader.__main__ import main

grader.sandbox.child.GRACE_S = 3600.0
sys.argv[0] = "grade"
main()
"""
"""A program that is `grade`, but gives a process that it ends an hour before it kills it."""

SESSION = """
import json, os, signal, subprocess, sys, time
from pathlib import Path
from grader.runner.warm import warm_processes

def wait_for(what):
    latest = time.monotonic() + 120
    while time.monotonic() < latest:
        if found := what():
            return found
        time.sleep(0.05)
    sys.exit("it does not happen")

def ready():
    return next((kind.pids[0] for kind in warm_processes() if len(kind.pids) == 1), None)

def forks():
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()

def works(fork):
    return len(os.listdir(f"/proc/{fork}/task")) > 2  # it, what waits for the typed command, and a lane

def gone(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True

grade = [sys.executable, "-m", "grader", "double", "--fresh"]
subprocess.run(grade, stdout=subprocess.DEVNULL)
pid = wait_for(ready)
said = {}
"""
"""The beginning of a session in which a ready process is there; `said` is what it prints at its end."""


@pytest.fixture
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Processes may stay, at a place of this test alone."""
    place = tmp_path / "run"
    place.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    monkeypatch.delenv(SWITCH, raising=False)
    return place


def session(home: Path, lines: str) -> Any:
    """Run lines as the first process of a session, which ends with it; return what they leave in `said`."""
    program = f"{SESSION}{lines}\nprint(json.dumps(said))\n"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=home, capture_output=True, text=True, start_new_session=True, check=False
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.usefixtures("own_place")
def test_what_is_printed_is_the_same(home: Path) -> None:
    """Output, errors, exit status, folder and environment are those of the command that was typed."""
    written(home, {DOUBLE: f'"""{TASK}"""\n\n\n{WRONG}', "exercises/01_basics/total/total.py": TOTAL})
    said = session(
        home,
        f"""
typed = [sys.executable, "-c", {TYPED!r}]
commands = [
    (["double", "--fresh"], {{}}, "."),
    (["total", "--fresh"], {{}}, "exercises/01_basics"),
    (["double", "C1"], {{"GRADE_PLAIN": "1"}}, "."),
    (["double", "-v", "--fresh"], {{"COLUMNS": "60", "NO_COLOR": "1"}}, "."),
    (["nonsense"], {{}}, "."),
    (["double", "--nonsense"], {{}}, "."),
    (["next"], {{"NO_COLOR": "1"}}, "exercises"),
    (["list", "--json"], {{}}, "."),
    (["show", "double", "--rules"], {{}}, "."),
    (["show", "total"], {{}}, "."),
    (["hint", "--all"], {{}}, "."),
    (["submit"], {{}}, "."),
    (["list", "--help"], {{}}, "."),
    (["--help"], {{"COLUMNS": "100"}}, "."),
    (["--version"], {{}}, "."),
]
for number, (words, environment, folder) in enumerate(commands):
    said[number] = [
        (ran.stdout, ran.stderr, ran.returncode)
        for command, switch in ((grade[:3], {{"{SWITCH}": "0"}}), (typed, {{}}), (grade[:3], {{"{SWITCH}": "0"}}))
        for ran in [subprocess.run([*command, *words], cwd=folder, env=os.environ | environment | switch,
                                   capture_output=True, text=True)]
    ]
""",
    )
    assert len(said) == 15
    # The first of three is what makes files that the second and the third find.
    for _, handed, usual in said.values():
        usual[:2] = [text.replace("python -m grader", "grade") for text in usual[:2]]
        assert handed == usual
    assert [handed[2] for _, handed, _ in said.values()] == [1, 0, 0, 1, 2, 2, 0, 0, 0, 2, 0, 2, 0, 0, 0]


@pytest.mark.usefixtures("own_place")
def test_where_anything_is_unusual_a_command_does_its_work_itself(home: Path) -> None:
    """With options of Python, with a variable that says so, or for somebody else's files."""
    written(home, {DOUBLE: RIGHT})
    said = session(
        home,
        f"""
def typed(*words, flags=(), **more):
    command = [sys.executable, *flags, "-c", {TYPED!r}, *words]
    return subprocess.run(command, env=os.environ | more, capture_output=True, text=True).stdout

said["usual"] = typed("double", "--fresh")
said["off"] = typed("double", {SWITCH}="0")
said["warnings"] = typed("double", flags=["-W", "error"])
said["optimized"] = typed("double", flags=["-O"])
said["other"] = typed("double", "--submission", ".")
""",
    )
    assert BY_ITSELF not in said.pop("usual")
    assert {name: text.strip() for name, text in said.items()} == dict.fromkeys(said, BY_ITSELF)


@pytest.mark.usefixtures("own_place")
def test_signals(home: Path) -> None:
    """Ctrl-C interrupts the work; it ends, too, if the typed command is killed, and the next command is as before."""
    written(home, {DOUBLE: RIGHT})
    said = session(
        home,
        f"""
Path({DOUBLE!r}).write_text({ENDLESS!r})
for name in ("SIGINT", "SIGTERM", "SIGKILL"):
    typed = subprocess.Popen(grade, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    (fork,) = wait_for(forks)
    wait_for(lambda: works(fork))
    typed.send_signal(getattr(signal, name))
    _, errors = typed.communicate(timeout=120)
    said[name] = [typed.returncode, errors]
    wait_for(lambda: gone(fork))
Path({DOUBLE!r}).write_text({RIGHT!r})
said["then"] = subprocess.run(grade, stdout=subprocess.DEVNULL).returncode
said["same"] = pid == ready()
Path({DOUBLE!r}).write_text({ENDLESS!r})
typed = subprocess.Popen(grade, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
(fork,) = wait_for(forks)
wait_for(lambda: works(fork))
os.kill(pid, signal.SIGKILL)
said["ended"] = typed.communicate(timeout=120)[1]
""",
    )
    assert said == {
        "SIGINT": [130, "grade: interrupted\n"],
        "SIGTERM": [-15, ""],
        "SIGKILL": [-9, ""],
        "then": 0,
        "same": True,
        "ended": "grade: the process that ran this command was ended from outside; type the command again\n",
    }


@pytest.mark.usefixtures("own_place")
@pytest.mark.parametrize("warm", ["0", "1"])
def test_a_mistyped_name_waits_for_no_import(home: Path, tmp_path: Path, warm: str) -> None:
    """The processes that were started before the course was read need not be ready before they are ended."""
    imports, imported = tmp_path / "imports", tmp_path / "imported"
    imports.write_text("while this is here")
    imported.mkdir()
    lines = f"import os, time\nwhile os.path.exists({str(imports)!r}):\n    time.sleep(0.05)\n"
    (imported / "torch.py").write_text(lines)
    environment = os.environ | {"PYTHONPATH": str(imported), SWITCH: warm}
    command = [sys.executable, "-c", PATIENT, "dubble"]
    try:
        ran = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    finally:
        imports.unlink()
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "no exercise or command 'dubble'" in ran.stderr


@pytest.mark.usefixtures("own_place")
def test_in_a_terminal(home: Path) -> None:
    """Ctrl-Z stops the work until the user goes on, and Ctrl-C ends it."""
    pexpect = pytest.importorskip("pexpect")
    wait = f"{SESSION.partition('grade =')[0]}wait_for(ready)\n"
    written(home, {DOUBLE: RIGHT, "wait.py": wait})
    shell = pexpect.spawn("bash", ["--norc", "-i"], cwd=str(home), encoding="utf-8", timeout=120)
    shell.sendline(f"PS1='$ '; alias grade={shlex.quote(shlex.join(GRADE))}; PROMPT_COMMAND=")
    shell.sendline("grade double --fresh; echo first $?")
    shell.expect("first 0\r")
    shell.sendline(f"{shlex.quote(sys.executable)} wait.py; echo is there")
    shell.expect("is there\r")
    written(home, {DOUBLE: ENDLESS})
    shell.sendline("grade double; echo second $?")
    shell.expect("Grading")
    shell.sendcontrol("z")
    shell.expect("Stopped")
    shell.sendline("fg")
    shell.expect("fg")
    shell.sendcontrol("c")
    shell.expect("grade: interrupted")
    shell.sendline("grade stop; exit")
    shell.expect(pexpect.EOF)
    shell.close()


def imported_by(program: str, cwd: Path, *flags: str) -> set[str]:
    """Our modules, and the packages of others, that a program has imported at its end."""
    look = "import atexit, sys\natexit.register(lambda: print('imported', *sys.modules))\n"
    command = [sys.executable, *flags, "-c", look + program]
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    names = ran.stdout.rpartition("imported ")[2].split()
    return {name if name.startswith("grader.") else name.partition(".")[0] for name in names}


@pytest.mark.parametrize("words", ["double", "next", "list", "hint double", "show double"])
def test_what_is_imported_before(home: Path, words: str) -> None:
    """A ready process has imported all that a command imports, and neither PyTorch nor a check."""
    written(home, {DOUBLE: WRONG})
    known = imported_by("".join(f"import {name}\n" for name in IMPORTED), home)
    assert not known & {"torch", "numpy"}
    left = imported_by(f"from grader.cli import main\nmain({words.split()})", home) - known - sys.stdlib_module_names
    assert left <= {"grader.runner.hand_over", "grader.runner.early", "grader.cli.ready"}


@pytest.mark.usefixtures("own_place")
def test_a_typed_command_imports_little_before_it_hands_over(home: Path) -> None:
    """It does not wait for what only the work itself needs, where another process does that.

    Without the module `site`: the files that it reads of an environment import what they like.
    """
    heavy = {"click", "pydantic", "yaml", "subprocess", "tempfile", "typing", "inspect", "dataclasses", "pathlib"}
    ours = str(Path(str(grader.__file__)).parent.parent)
    program = f"sys.path.append({ours!r})\nimport grader.__main__\nfrom grader.runner.hand_over import hand_over\n"
    imported = imported_by(f"{program}hand_over(['--version'])", home, "-S")
    assert {"grader.runner.warm_socket", "grader.sandbox.process", "socket"} <= imported
    assert not heavy & imported
