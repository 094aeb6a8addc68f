"""The site that `make docs` built has every command, every key, every function, and first pages of one screen."""

from __future__ import annotations

import importlib
import re
import sys
from html import unescape
from pathlib import Path

import pytest
from support import ROOT

import grader.accelerator
import grader.check
from grader.cli import COMMANDS

SITE = ROOT / "out" / "site"
pytestmark = pytest.mark.docs


def text_of(page: str) -> str:
    """Return the words of a page."""
    text = (SITE / page / "index.html").read_text(encoding="utf-8")
    return unescape(re.sub(r"<[^>]+>", "", text))


def test_every_command_has_its_entry() -> None:
    """With its options, as its help has them."""
    words = text_of("reference/commands")
    names = {"" if name == "run" else f" {name}" for name in COMMANDS}
    assert {name for name in names if f"grade{name}" not in words} == set()
    assert "--handin" in words


def test_every_key_has_its_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of files that authors write, and of the report that programs read."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.delitem(sys.modules, "keys", raising=False)
    keys = importlib.import_module("keys")
    for name in keys.FILES:
        words = text_of("reference/report" if name == "report.json" else "reference/files").split()
        wanted = {key for _, _, rows in keys.tables(keys.schema(name), name) for key, _, _ in rows}
        assert {key for key in wanted if not set(key.split()) <= set(words)} == set(), name


def test_every_function_has_its_entry() -> None:
    """Words for checks, and names of the simulated GPU."""
    assert {name for name in grader.check.__all__ if name not in text_of("check-words")} == set()
    assert {name for name in grader.accelerator.__all__ if name not in text_of("reference/accelerator")} == set()


@pytest.mark.parametrize("page", ["students.md", "teachers.md"])
def test_first_pages_have_one_screen(page: str) -> None:
    """At most forty lines, which a window of a laptop shows."""
    lines = Path(ROOT, "docs", page).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40
