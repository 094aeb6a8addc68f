"""Servers of `grade web` on a copy of the pretend course and on a class, and a real browser that has no window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import COURSES, WarmGrade
from web_server import CHROMIUM, TOKEN, WAIT_MS, Server

YAML = "exercises/01_basics/double/exercise.yaml"
SHARED = """

def helper(rows, first=0):
    total, kept = 0, []
    for index, row in enumerate(rows):
        if index < first:
            continue
        for number in range(len(row)):
            if row[number] > total:
                total = row[number]
                kept.append((index, number, total))
            elif row[number] < -total:
                kept.insert(0, (index, number, row[number]))
    while kept and kept[-1][0] == first:
        kept.pop()
    return {"total": total, "kept": kept, "many": len(kept)}
"""
OTHER = """

class Counter:
    def __init__(self, names):
        self.names = dict.fromkeys(names, 0)
    def add(self, name, times=1):
        self.names[name] = self.names.get(name, 0) + times
        return self.names[name] if times > 0 else None
    def best(self):
        return max(self.names, key=self.names.get, default=None)
    def forget(self, *names):
        for name in names:
            self.names.pop(name, None)
    def __repr__(self):
        return ", ".join(f"{name}={count}" for name, count in self.names.items())
"""
SECOND = "\n\ndef double_(x):\n    return x.mul_(2)\n"
ANSWERS = {
    "ada": f"def double(x):\n    return 2 * x\n{SECOND}{SHARED}",
    "<b id=evil>bob": f"# <img src=x onerror=alert(1)>\ndef double(x):\n    return x + 3\n{SECOND}{OTHER}",
    "carl": f"def double(x):\n    return x + 3\n{SECOND}{SHARED}",
}


@pytest.fixture
def server(home: Path) -> Iterator[Server]:
    """A server on a copy of the pretend course."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install 'tensorgrade[web]'")
    running = Server(home)
    yield running
    if running.process.poll() is None:
        running.end()
    assert running.process.stdout is not None
    running.process.stdout.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def opened_window(browser: Any, server: Server) -> Iterator[Any]:
    """Open a window in a profile of its own, which has the token, and close it at the end."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.goto(f"{server.url}?token={TOKEN}")
    yield page
    context.close()


@pytest.fixture
def window(browser: Any, server: Server) -> Iterator[Any]:
    """A window of that browser, which has the token."""
    with opened_window(browser, server) as page:
        yield page


@pytest.fixture
def other_window(browser: Any, server: Server) -> Iterator[Any]:
    """A window of a profile of its own, whose connection does not end with that of `window`."""
    with opened_window(browser, server) as page:
        yield page


@pytest.fixture(scope="session")
def graded_once(tmp_path_factory: pytest.TempPathFactory, type_grade: WarmGrade) -> Path:
    """A folder with a course, the hand-ins of three, and their results; carl handed in two days late."""
    root = tmp_path_factory.mktemp("staff")
    course = Path(shutil.copytree(COURSES / "tiny", root / "course", ignore=shutil.ignore_patterns(".grade")))
    starter = course / "exercises/01_basics/double/double.py"
    starter.write_text(starter.read_text().replace("\nC1  ", "\nC9  Say in a comment why.\nC1  ", 1))
    description = course / YAML
    rubric = "{points: 2, says: 'Says why, in a sentence.'}, {points: 1, says: 'Says what, and not why.'}"
    rules = f"rules:\n  C9: {{by: staff, points: 2, rubric: [{rubric}]}}\n"
    description.write_text(description.read_text() + rules)
    settings = course / "course.yaml"
    settings.write_text(
        settings.read_text().replace(
            "    exercises: [double]\n", "    exercises: [double]\n    due: 2026-10-01 18:00\n"
        )
        + "timezone: UTC\npolicy: {percent_a_day: 10}\n"
    )
    for name, text in ANSWERS.items():
        folder = root / "submitted" / name / "week1"
        folder.mkdir(parents=True)
        (folder / "double.py").write_text(text, encoding="utf-8")
        day = 3 if name == "carl" else 1
        (folder / "timestamp.txt").write_text(f"2026-10-0{day} 12:00:00 UTC")
    words = ("batch", str(root / "submitted"), "--out", str(root / "out"), "--handin", "week1")
    ran = type_grade(*words, "--confinement", "none", "-j", "1", cwd=course)
    assert ran.returncode == 0, ran.stderr
    return root


@pytest.fixture
def graded(graded_once: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(graded_once, tmp_path / "week 1"))


@pytest.fixture
def staff(browser: Any, graded: Path) -> Iterator[Any]:
    """A window on the class."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install 'tensorgrade[web]'")
    server = Server(graded / "course", str(graded / "out"), "--confinement", "none")
    context = browser.new_context(viewport={"width": 1400, "height": 900}, base_url=server.url)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.goto(f"?token={TOKEN}")
    page.wait_for_selector("table.list")
    yield page
    context.close()
    server.end()
    assert server.process.stdout is not None
    server.process.stdout.close()
