"""`grade watch` grades what is saved, does what keys say, and survives what happens to files."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import click
import pytest
from click.testing import CliRunner
from support import COURSES, FORK, RIGHT

from grader.cli import main
from grader.course.watching import watch_files
from grader.model import Course
from grader.report.console import Say
from grader.student.watch import Watch

pytestmark = pytest.mark.lane

DOUBLE = "exercises/01_basics/double/double.py"
LONGEST_S = 60.0

posix = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is typed into")


class Watched:
    """A running `grade watch`, its keyboard, and what it has printed since it was looked at last."""

    def __init__(self, root: Path, process: subprocess.Popen[str], keyboard: int) -> None:
        self.root = root
        self.process = process
        self._keyboard = keyboard
        self._lines: list[str] = []
        self._text = ""
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stdout:
            for line in stdout:
                self._lines.append(line)

    def until(self, words: str) -> str:
        """All that was printed until these words came."""
        end = time.monotonic() + LONGEST_S
        while words not in self._text:
            assert time.monotonic() < end, f"{words!r} did not come:\n{self._text}"
            time.sleep(0.02)
            while self._lines:
                self._text += self._lines.pop(0)
        seen, words, self._text = self._text.partition(words)
        return seen + words

    def save(self, text: str, path: str = DOUBLE) -> None:
        """As many editors do it: another file, renamed."""
        file = self.root / path
        file.with_suffix(".new").write_text(text)
        os.replace(file.with_suffix(".new"), file)

    def press(self, key: str) -> None:
        os.write(self._keyboard, key.encode())


@contextmanager
def watching(folder: Path, *arguments: str) -> Iterator[Watched]:
    """`grade watch` in a course of one's own."""
    import pty

    root = Path(shutil.copytree(COURSES / "tiny", folder / "course"))
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "grader", "watch", *arguments]
    process = subprocess.Popen(
        command, cwd=root, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    os.close(slave)
    watched = Watched(root, process, master)
    try:
        yield watched
    finally:
        process.kill()
        process.wait()
        watched.reader.join(LONGEST_S)
        os.close(master)


@pytest.mark.parametrize(("width", "lines"), [(80, 1), (40, 2)])
def test_keys_are_explained_in_words(tiny: Course, monkeypatch: pytest.MonkeyPatch, width: int, lines: int) -> None:
    """Also on a narrow terminal, where they take more lines, each of which fits."""
    monkeypatch.setenv("COLUMNS", str(width))
    told = [click.unstyle(line) for line in Watch(tiny, tiny.exercises[0], FORK, Say())._legend()]
    assert len(told) == lines
    assert max(map(len, told)) <= width
    assert "  ".join(told).split("  ")[2:4] == ["s show the task", "l list"]


@posix
def test_what_is_saved_is_graded(tmp_path: Path) -> None:
    """A stub, a half, no Python, a removed file, full marks, another exercise have their answers, and so has Ctrl-C."""
    with watching(tmp_path, "double") as watched:
        assert "your `double` is not written yet" in watched.until("0 of 2 exercises")
        assert "n next  h hint" in watched.until("q quit")
        watched.save(RIGHT.replace("x.mul_(2)", "2 * x"))
        assert "Since the last save: 3 more checks passed." in watched.until("0 of 2 exercises")
        watched.save("def double(x:\n")
        assert "does not load: SyntaxError" in watched.until("0 of 2 exercises")
        (watched.root / DOUBLE).unlink()
        watched.until("Save it again, or press r for the starter")
        watched.save(RIGHT.replace("2 * x", "3 * x").replace("mul_(2)", "mul_(3)"))
        assert "In `double` and `double_` (rule C1): You tripled it; double means two times." in watched.until(
            "0 of 2 exercises"
        )
        watched.save(RIGHT)
        seen = watched.until("1 of 2 exercises")
        assert "10 / 10 points" in seen
        assert "Since the last save: 3 more checks passed." in seen
        watched.save("def total(x):\n    return x.sum()\n", "exercises/01_basics/total/total.py")
        assert "5 / 5 points" in watched.until("2 of 2 exercises")
        watched.process.send_signal(signal.SIGINT)
        assert watched.process.wait(LONGEST_S) == 130
        watched.until("grade: interrupted")


@posix
def test_keys(tmp_path: Path) -> None:
    """Each key does what the line says; `q` leaves at once, also in the middle of an endless loop."""
    with watching(tmp_path) as watched:
        watched.until("q quit")
        for key, words in (
            ("h", "Hint 1 of 3 for double"),
            ("s", "C3  `double_(x)` doubles x in place"),
            ("l", "0 of 2 done"),
            ("n", "01-2 Sum without a loop"),
            ("r", "is the starter already"),
        ):
            watched.press(key)
            watched.until(words)
        watched.save(RIGHT)
        watched.until("10 / 10 points")
        watched.press("a")
        watched.until("10 / 15 points")
        watched.press("r")
        watched.until("Press r again for yes.")
        watched.press("x")
        watched.until("Nothing was restored.")
        for _ in range(2):
            watched.press("r")
        watched.until("is restored")
        assert list((watched.root / DOUBLE).parent.glob("*old*"))
        watched.save("def double(x):\n    while True: pass\n\n\ndef double_(x):\n    while True: pass\n")
        watched.until("checking")
        watched.press("q")
        assert watched.process.wait(LONGEST_S) == 0
        watched.reader.join(LONGEST_S)
        assert "points" not in "".join(watched._lines)  # nobody waited for the verdict


@pytest.mark.parametrize("poll", [False, True])
def test_saves_are_reported(tmp_path: Path, poll: bool) -> None:
    """A file that is written, and one that is renamed into place; what is no Python file is not."""
    told: set[Path] = set()
    wanted = {tmp_path / "one.py", tmp_path / "two.py"}
    saved = watch_files(tmp_path, poll=poll)
    assert next(saved) == set()
    (tmp_path / "notes.txt").write_text("no Python")
    (tmp_path / "one.py").write_text("1")
    (tmp_path / "two.tmp").write_text("2")
    os.replace(tmp_path / "two.tmp", tmp_path / "two.py")
    end = time.monotonic() + LONGEST_S
    while not wanted <= told and time.monotonic() < end:
        told |= next(saved)
    assert told == wanted


@pytest.mark.parametrize("error", [OSError("file watch limit reached"), RuntimeError("Too many open files")])
def test_a_system_without_events_to_spare(home: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Where other programs have used them up, it is said which option does without; Rust's errors are RuntimeErrors."""
    monkeypatch.setattr("watchfiles.watch", mock.Mock(side_effect=error))
    monkeypatch.chdir(home)
    result = CliRunner().invoke(main, ["watch", "double"])
    assert (result.exit_code, f"cannot be watched ({error}); try again with --poll" in result.output) == (
        2,
        True,
    )
