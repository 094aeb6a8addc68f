"""The two buttons below a form of staff's, in a browser, while a change takes as long to work out as a test wants."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web_server import WAIT_MS

FORM = """
import sys, time
from pathlib import Path

from nicegui import ui

from grader.web.change_form import show_buttons
from grader.web.class_data import PlannedChange
from grader.web.server import open_socket, serve

folder = Path(sys.argv[1])


@ui.page("/")
def page():
    points = ui.input("Points")

    def plan():
        value = points.value
        while not (folder / f"{value} may be shown").exists():
            time.sleep(0.01)
        (folder / f"{value} is ready").touch()
        diff = f"+ {value} points"
        return PlannedChange("points.csv", {}, diff, "", lambda: (folder / "points.csv").write_text(value))

    show_buttons(plan, (points,), lambda planned: "")


serve(open_socket(0), "A form", lambda address: print(address.url, flush=True), opens=False)
"""
SAVE = "button:has(span:text-is('Save'))"
SHOW = "button:has-text('Show what it changes')"
CHANGED = "text=The form has changed. Show again what it changes."


@pytest.fixture
def form(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A page with a field and the two buttons; a change to V is worked out when the file "V may be shown" exists."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install 'tensorgrade[web]'")
    program = tmp_path / "form.py"
    program.write_text(FORM, encoding="utf-8")
    command = [sys.executable, str(program), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        context = browser.new_context()
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        page.goto(server.stdout.readline().strip())
        page.wait_for_selector(SHOW)
        yield page
        for value in ("7", "4"):
            allow(tmp_path, value)  # its threads end
        context.close()
        server.send_signal(signal.SIGINT)


def allow(folder: Path, value: str) -> None:
    (folder / f"{value} may be shown").touch()


def test_a_change_of_earlier_fields_is_neither_shown_nor_saved(form: Any, tmp_path: Path) -> None:
    """A number that is typed while a change is worked out ends that preview, also if it is ready after the next one."""
    form.fill("input[aria-label=Points]", "7")
    form.click(SHOW)
    form.wait_for_selector("text=Working it out ...")
    form.fill("input[aria-label=Points]", "4")
    form.wait_for_selector(CHANGED)
    form.click(SHOW)
    form.wait_for_selector("text=Working it out ...")
    allow(tmp_path, "4")
    form.wait_for_selector("text=+ 4 points")
    allow(tmp_path, "7")
    while not (tmp_path / "7 is ready").exists():
        form.wait_for_timeout(20)
    form.click(SAVE)
    form.wait_for_selector("text=Saved in points.csv.")
    assert (tmp_path / "points.csv").read_text() == "4"
    assert form.locator("text=+ 7 points").count() == 0


def test_a_shown_change_disappears_when_a_field_is_changed(form: Any, tmp_path: Path) -> None:
    """What was shown for another number does not stay beside the new one."""
    from playwright.sync_api import expect

    allow(tmp_path, "7")
    form.fill("input[aria-label=Points]", "7")
    form.click(SHOW)
    form.wait_for_selector("text=+ 7 points")
    expect(form.locator(SAVE)).to_be_enabled()
    form.fill("input[aria-label=Points]", "4")
    form.wait_for_selector(CHANGED)
    assert form.locator("text=+ 7 points").count() == 0
    expect(form.locator(SAVE)).to_be_disabled()
