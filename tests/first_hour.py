"""The first hour of a new student, typed into a real terminal: from installing to six solved exercises, with mistakes.

`python tests/first_hour.py --write` renews docs/first-hour.md; without it the page is printed. `--start spawn` plays
the same hour as on a machine without fork, and prints it. It takes some minutes, so no test runs it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pexpect
import pyte

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "first-hour.md"
COLUMNS = 80
_LINES = 2000
_LONGEST_S = 300
_KEYS_SEEN = "q quit"
_KEYS = r"q(?:\x1b\[[0-9;]*m)* quit"

_TOP = """# A first hour

What a new student types and reads, from installing to six solved exercises, with the mistakes of a first hour.
`python tests/first_hour.py --write` types it into a terminal of 80 columns and writes this page. Solved files are not
shown. With `--start spawn` it does the same as on a system without fork: the lines are the same, the waits are longer.
"""


class Hour:
    """Types, edits, and writes down what there is to see."""

    def __init__(self, folder: Path, start: str | None) -> None:
        self._home = folder
        self._folder = folder
        self._start = start
        self._page = [_TOP]
        self._environment = os.environ | {
            "HOME": str(folder),
            "PATH": os.pathsep.join((str(folder / "venv" / "bin"), os.environ["PATH"])),
            "TERM": "xterm",
            "NO_COLOR": "1",  # a page has the signs that stand in the place of colours
            "COLUMNS": str(COLUMNS),
        }
        self._environment.pop("PYTHONPATH", None)

    def page(self) -> str:
        return "\n".join(self._page)

    def says(self, text: str) -> None:
        self._page.append(text + "\n")

    def type(self, *commands: str) -> None:
        """Commands as they are typed, and what the terminal shows when each is done."""
        for command in commands:
            self._show(command, self._run(command))

    def edits(self, name: str, text: str, changes: dict[str, str], shown: str | None = None) -> None:
        """Change a file of the course; the lines that were put in are shown, or what is given."""
        self.says(text)
        file = self._file(name)
        content = file.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert content.count(old) == 1, f"{old!r} is {content.count(old)} times in {file}"
            content = content.replace(old, new)
        _save(file, content)
        shown = "\n".join(changes.values()) if shown is None else shown
        if shown:
            self._page.append(f"```python\n{shown.strip(chr(10))}\n```\n")

    def solves(self, name: str, text: str) -> None:
        """The reference's code below the task."""
        self.says(text)
        file = self._file(name)
        (reference,) = (ROOT / "solutions").glob(f"*/{name}/{name}.py")
        task = file.read_text(encoding="utf-8").split('"""')[1]
        code = re.sub(r'^""".*?"""\n', "", reference.read_text(encoding="utf-8"), flags=re.DOTALL)
        _save(file, f'"""{task}"""\n{code}')

    @contextmanager
    def watches(self, command: str) -> Iterator[Callable[[str], None]]:
        """A running `grade watch`: what is given presses a key, or with no key waits for what a save brings."""
        child = self._spawn(command)
        child.expect(_KEYS)
        self._show(command, _came(child) + _KEYS_SEEN)

        def goes_on(key: str) -> None:
            if key:
                self.says(f"The key `{key}`:")
                child.send(key)
            child.expect(pexpect.EOF if key == "q" else _KEYS)
            self._show(None, _came(child) + ("" if key == "q" else _KEYS_SEEN))

        yield goes_on
        child.close()

    def _file(self, name: str) -> Path:
        (file,) = self._folder.glob(f"exercises/*/{name}/{name}.py")
        return file

    def _run(self, command: str) -> str:
        if command.startswith("cd "):
            self._folder /= command[3:]
            return ""
        child = self._spawn(command)
        child.expect(pexpect.EOF)
        child.close()
        return _came(child)

    def _spawn(self, command: str) -> pexpect.spawn[str]:
        word, *rest = command.split()
        if self._start and word == "grade" and (not rest or rest[0] in ("watch", "try", "break") or "_" in rest[0]):
            command += f" --start {self._start}"
        return pexpect.spawn(
            "/bin/sh",
            ["-c", command],
            cwd=self._folder,
            env=self._environment,
            dimensions=(50, COLUMNS),
            encoding="utf-8",
            timeout=_LONGEST_S,
            echo=False,
        )

    def _show(self, command: str | None, printed: str) -> None:
        typed = [] if command is None else [f"$ {command}"]
        lines = _seen(printed.replace(str(self._home), "~"))
        self._page.append("\n".join(["```console", *typed, *lines, "```"]) + "\n")


def _came(child: pexpect.spawn[str]) -> str:
    """What was printed since it was looked at last, up to what was waited for."""
    assert isinstance(child.before, str)
    return child.before


def _seen(printed: str) -> list[str]:
    """The lines that stand in the terminal, after those that were written over."""
    screen = pyte.Screen(COLUMNS, _LINES)
    pyte.Stream(screen).feed(printed)
    lines = [line.rstrip() for line in screen.display]
    return "\n".join(lines).strip("\n").split("\n") if any(lines) else []


def _save(file: Path, content: str) -> None:
    """As many editors do it: another file, renamed."""
    file.with_suffix(".new").write_text(content, encoding="utf-8")
    os.replace(file.with_suffix(".new"), file)


def _environment(folder: Path) -> None:
    """A new virtual environment, in which PyTorch and the rest are there already: nothing is downloaded."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "downloaded.pth").write_text(sysconfig.get_path("purelib") + "\n")


def _play(hour: Hour) -> None:
    hour.says(
        "## Installing\n\nIn a new virtual environment in which PyTorch is already, beside a checkout of the project:"
    )
    hour.type("pip install --quiet ./tensorgrade", "grade start tensors", "cd tensors", "grade next")
    hour.says("## The first exercise\n\nBefore anything is changed:")
    hour.type("grade", "grade from_python_and_bak")
    name, line = "from_python_and_back", "    return torch.Tensor(readings)"
    float_line = "    return torch.tensor(readings, dtype=torch.float32)"
    hour.edits(name, "A first try, in `to_tensor`:", {line: float_line})
    hour.type("grade", "grade try", "grade hint")
    hour.edits(name, "A bracket is lost on the way:", {float_line: "    return torch.tensor(readings"})
    hour.type("grade")
    hour.solves(name, "The bracket is put back, and the dtype left to the numbers.")
    hour.type("grade")
    hour.says("## Passport, and garbage in")
    hour.type("grade next")
    hour.solves("passport", "The passport is written at the first try.")
    hour.type("grade passport")
    hour.says("Ranges and grids are left for later.")
    hour.type("grade next garbage_in")
    name, line = "garbage_in", "    totals = torch.empty(rain.shape)"
    hour.edits(name, "The first thing that comes to mind:", {line: "    totals = torch.zeros(rain.shape)"})
    hour.type("grade garbage_in")
    hour.solves(name, "The totals get the dtype of rain.")
    hour.type("grade garbage_in")
    hour.says("## Predict the strides, with `grade watch`")
    hour.says("The last exercise of a module has a star: who solves it may skip those before it. This one can wait.")
    name = "predict_strides"
    with hour.watches("grade watch predict_strides") as goes_on:
        body = "(shape: tuple[int, ...]) -> tuple[int, ...]:\n"
        todo = f"{body}    raise NotImplementedError  # TODO"
        first = f"{body}    strides, step = [], 1\n    for size in reversed(shape):\n        strides.append(step)\n"
        first += "        step *= size\n    return tuple(strides)"
        shown = first.split(":\n", 1)[1]
        hour.edits(name, "A first half is saved, with the order left as it comes:", {todo: first}, shown)
        goes_on("")
        goes_on("h")
        turned = first.replace("tuple(strides)", "tuple(strides[::-1])")
        hour.edits(name, "The order is turned round.", {first: turned}, "    return tuple(strides[::-1])")
        goes_on("")
        hour.solves(name, "A size of 0 counts as 1, and the second half is written.")
        goes_on("")
        goes_on("n")
        goes_on("q")
    hour.says("## Read the storage")
    name = "read_the_storage"
    hour.edits(
        name,
        "The method that much of the web names, and no look at the place:",
        {
            "    return t.flatten().tolist()  # TODO: all numbers of the storage": "    return list(t.storage())",
            "    raise NotImplementedError  # TODO": "    t.storage()[k] = v\n    return t",
        },
    )
    hour.type("grade read_the_storage")
    hour.edits(
        name,
        "The successor, taken for a row of numbers; and a loop that never ends:",
        {
            "    return list(t.storage())": "    return list(t.untyped_storage())",
            "    t.storage()[k] = v\n": "    while k >= 0:\n        t.untyped_storage()[k] = v\n",
        },
    )
    hour.type("grade read_the_storage")
    hour.solves(name, "A view of the whole storage, by `as_strided`, does both.")
    hour.type("grade read_the_storage")
    hour.says("## Transpose without moving")
    name = "transpose_without_moving"
    swap = '    print("swap", t.shape)\n    return t.swapaxes(a, b)'
    hour.edits(
        name,
        "`swap` is given NumPy's word, `packed` stays as it is, and a `print` is left in:",
        {"    raise NotImplementedError  # TODO": swap, "    return t.T  # TODO": "    return t.mT"},
    )
    hour.type("grade transpose_without_moving", "grade transpose_without_moving C3")
    hour.solves(name, "All three are fixed.")
    hour.type("grade transpose_without_moving", "grade break transpose_without_moving --seed 1")
    hour.type("grade break transpose_without_moving --give-up")
    hour.says("## After an hour")
    hour.type("grade list", "grade show read_the_storage --reference")


@click.command()
@click.option("--write", is_flag=True, help="Renew docs/first-hour.md.")
@click.option("--start", type=click.Choice(["fork", "spawn"]), help="How workers start.")
def main(write: bool, start: str | None) -> None:
    """Play the hour."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _environment(folder)
        ignored = shutil.ignore_patterns(".git", ".venv", "build", "out", "*.egg-info", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, folder / "tensorgrade", ignore=ignored)
        hour = Hour(folder, start)
        try:
            _play(hour)
        except pexpect.ExceptionPexpect:
            click.echo(hour.page())
            raise
    if write:
        PAGE.write_text(hour.page(), encoding="utf-8")
    else:
        click.echo(hour.page())


if __name__ == "__main__":
    main()
