"""What an accessibility checker, axe, finds in the pages: nothing, in light, in dark and on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from web_server import Server

SETTLED = """() => Promise.allSettled(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))"""
"""Colours that fade into those of the other scheme have arrived there."""
SCREENS = (("light", 1400), ("dark", 1400), ("light", 390))


def problems(page: Any, where: str) -> list[str]:
    """What axe finds in a page: the rule, and the first elements that break it; and whether it scrolls sideways."""
    api = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = []
    for scheme, width in SCREENS:
        shown = f"{where or 'the first page'} ({scheme}, {width} pixels)"
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.evaluate(SETTLED)
        for one in api.Axe().run(page).response["violations"]:
            elements = "; ".join(node["html"][:160] for node in one["nodes"][:3])
            found.append(f"{shown}: {one['id']}: {elements}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        found += [f"{shown}: the page is {wide} pixels wide"] if wide > width else []
    page.set_viewport_size({"width": 1400, "height": 900})
    page.emulate_media(color_scheme="light")
    return found


def test_a_students_pages(window: Any, server: Server) -> None:
    """The map, an exercise with a mistake, with a picture and with full marks, memory, the games."""
    path = server.folder / "exercises" / "01_basics" / "double" / "double.py"
    found = problems(window, "")
    for text, said in (("return x + 1", ".rule.failed"), ("return 2 * x", "text=/All \\d+ checks pass/")):
        path.write_text(f"def double(x):\n    {text}\n\n\ndef double_(x):\n    return x.mul_(2)\n", encoding="utf-8")
        window.goto(f"{server.url}exercise/double")
        window.wait_for_selector(said)
        for one in window.locator("details:not([open]) > summary").all():
            if one.is_visible():
                one.click()
        found += problems(window, f"exercise/double: {text}")
    for place, said in (("play/double", ".cm-content"), ("memory", "svg.cells"), ("drill", "h1")):
        window.goto(f"{server.url}{place}")
        window.wait_for_selector(said)
        found += problems(window, place)
    assert not found, "\n".join(found)


def test_staffs_pages(staff: Any) -> None:
    """The class, an author with all forms open and a change shown, groups, checks, pairs, a regrade, changes."""
    found = problems(staff, "")
    for place in ("author/carl", "groups", "checks", "checks/double", "pairs", "again", "changes", "return"):
        staff.goto(place)
        staff.wait_for_selector("h1")
        for one in staff.locator("details:not([open]) > summary").all():
            if one.is_visible():
                one.click()
        if staff.locator(".nr").count():
            staff.locator("input[aria-label=Points]").fill("1")
            staff.locator("input[aria-label^=Reason]").fill("Because.")
            staff.locator("button:has-text('Show what it changes') >> nth=1").click()
            staff.wait_for_selector("text=Nothing is saved yet.")
        found += problems(staff, place)
    staff.goto("groups")
    staff.click("text=/group .*: 2 answers/")
    staff.click("text=Make a draft")
    staff.wait_for_selector(".cm-content")
    found += problems(staff, "a group")
    assert not found, "\n".join(found)
