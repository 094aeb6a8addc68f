"""Staff in a real browser: the class, one author, points by hand; and what students wrote is no markup."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import WarmGrade
from web_server import TOKEN, Server

from grader.course.load import load_course
from grader.model.errors import CourseError
from grader.web.class_data import ClassFolder

ANSWERS = {
    "ada": "def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    return x.mul_(2)\n",
    "<b id=evil>bob": "# <img src=x onerror=alert(1)>\ndef double(x):\n    return x + 3\n",
    "carl": "def double(x):\n    return x + 3\n\n\ndef double_(x):\n    return x\n",
}


@pytest.fixture
def graded(home: Path, tmp_path: Path, type_grade: WarmGrade) -> Path:
    """The folder of results of a class of three."""
    for name, text in ANSWERS.items():
        folder = tmp_path / "class" / name
        folder.mkdir(parents=True)
        (folder / "double.py").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    ran = type_grade("batch", str(tmp_path / "class"), "--out", str(out), "--confinement", "none", cwd=home)
    assert ran.returncode == 0, ran.stderr
    return out


@pytest.fixture
def staff(browser: Any, home: Path, graded: Path) -> Iterator[tuple[Any, Server]]:
    """A window on the class."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install 'tensorgrade[web]'")
    server = Server(home, str(graded))
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.goto(f"{server.url}?token={TOKEN}")
    page.wait_for_selector("table.list")
    yield page, server
    context.close()
    server.end()
    assert server.process.stdout is not None
    server.process.stdout.close()


def test_an_appeal_is_decided(staff: tuple[Any, Server], graded: Path) -> None:
    """The table is filtered; an author's page shows what an override changes, then writes it with its reason."""
    page, _ = staff
    assert page.locator("table.list tbody tr").count() == 3
    page.fill("input[aria-label=Author]", "carl")
    page.wait_for_selector("caption:has-text('1 of 3 submissions')")
    page.click("table.list a")
    page.wait_for_selector("pre.code:has-text('return x + 3')")
    page.locator("summary:has-text('Give points by hand')").first.click()
    page.locator("input[aria-label=Points]").first.fill("7.5")
    page.locator("input[aria-label^=Reason]").first.fill("Explained it at the blackboard.")
    page.locator("button:has-text('Show what it changes')").first.click()
    page.wait_for_selector("text=Nothing is saved yet.")
    assert not (graded / "overrides.csv").exists()
    page.locator("button:has-text('Save')").first.click()
    page.wait_for_selector("text=Saved in overrides.csv.")
    rows = (graded / "overrides.csv").read_text(encoding="utf-8").splitlines()
    assert rows == ["author,exercise,check,points,why", "carl,double,,7.5,Explained it at the blackboard."]
    page.locator("button:has-text('Save')").first.wait_for()


def test_what_students_wrote_is_text(staff: tuple[Any, Server]) -> None:
    """A name and a file with markup are shown as they are, and nothing of them is an element."""
    page, _ = staff
    page.fill("input[aria-label=Author]", "bob")
    page.wait_for_selector("caption:has-text('1 of 3 submissions')")
    page.click("table.list a")
    page.wait_for_selector("pre.code:has-text('onerror=alert(1)')")
    assert page.locator("#evil, img[src=x]").count() == 0


def test_two_people_do_not_overwrite_each_other(home: Path, graded: Path) -> None:
    """A page that has not seen the file as it is now saves nothing, and says so."""
    shutil.rmtree(home / ".grade", ignore_errors=True)
    folder = ClassFolder(load_course(home), graded)
    seen = folder.overrides_digest()
    first = folder.override("ada", "double", "", "5", "A first reason.")
    folder.save(first, "ada", seen)
    second = folder.override("carl", "double", "", "6", "A second reason.")
    with pytest.raises(CourseError, match="was changed since this page was opened; nothing was saved"):
        folder.save(second, "carl", seen)
    folder.save(second, "carl", folder.overrides_digest())
    rows = (graded / "overrides.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert rows == ["ada,double,,5,A first reason.", "carl,double,,6,A second reason."]
    with pytest.raises(CourseError, match="99 is more than 10 points"):
        folder.after("carl", folder.override("carl", "double", "", "99", "Too many."))
