"""The pictures of docs/web.md, made anew: an exercise, the memory page, and a class.

    python tools/web_pictures.py [--only NAME]

The course is the bundled one, in a temporary folder; the class is examples/sample_class, graded there. Chromium has no
window. It needs `playwright` and a Chromium; look at the pictures before you commit them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from web_server import CHROMIUM, TOKEN, WAIT_MS, Server

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
NAMES = ("exercise", "memory", "class")
WIDTH, HEIGHT = 1200, 820
_ANSWERS = {
    "0, 2, 4, ... in n rows": "return torch.arange(0, 2 * n * m, 2).reshape(n, m)",
    "n numbers from lo to hi": "return torch.arange(lo, hi, (hi - lo) / n)",
    "powers of ten": "return 10.0 ** torch.arange(a, b + 1)",
    "the same value everywhere": "return torch.full((n, m), value)",
    "c on the diagonal": "return c * torch.eye(n)",
}
"""An answer by what the starter has to do; the second leaves out the end."""


@click.command(help=__doc__)
@click.option("--only", type=click.Choice(NAMES), help="Make this one alone.")
def main(only: str | None) -> None:
    """Make the pictures."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="web-pictures-") as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        course = Path(folder, "course")
        _grade(ROOT, "start", str(course))
        for name, picture in (("exercise", _exercise), ("memory", _memory)):
            if only in (None, name):
                _taken(browser, course, (), picture, name)
        if only in (None, "class"):
            out = Path(folder, "out")
            _grade(ROOT, "batch", "examples/sample_class", "--handin", "week1", "--out", str(out), "-q")
            _taken(browser, ROOT, (str(out),), _class, "class")
        browser.close()


def _grade(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "grader", *words], cwd=folder, check=True)


def _taken(browser: Any, folder: Path, words: tuple[str, ...], picture: Any, name: str) -> None:
    server = Server(folder, *words)
    try:
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, base_url=server.url)
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        page.goto(f"?token={TOKEN}")
        picture(page, folder)
        page.screenshot(path=DOCS / f"web-{name}.png")
        context.close()
    finally:
        server.end()


def _exercise(page: Any, folder: Path) -> None:
    """Open an exercise's page, with an answer that forgets a rule."""
    (path,) = folder.glob("exercises/*/ranges_and_grids/ranges_and_grids.py")
    text = path.read_text(encoding="utf-8")
    for task, answer in _ANSWERS.items():
        text = text.replace(f"raise NotImplementedError  # TODO: {task}", answer)
    assert "TODO" not in text, "the starter has other tasks now"
    path.write_text(text, encoding="utf-8")
    page.goto("exercise/ranges_and_grids")
    page.wait_for_selector(".edit .cause svg")
    page.wait_for_function("() => / pass\\n*$/.test(document.querySelector('.edit .first > div').innerText)")
    page.wait_for_timeout(500)  # the editor scrolls to the function


def _memory(page: Any, folder: Path) -> None:
    """Open the page of memory, with views on one storage."""
    del folder
    page.goto("memory")
    page.wait_for_selector("svg.cells")
    page.hover("svg.cells .cell[data-place=A9] >> nth=0")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")


def _class(page: Any, folder: Path) -> None:
    """Open the page with the class's table."""
    del folder
    page.wait_for_selector("table.list")
    page.set_viewport_size({"width": WIDTH, "height": 600})


if __name__ == "__main__":
    main()
