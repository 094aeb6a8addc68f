"""A student in a real browser: an exercise is solved with mistakes on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from web_server import Server

RIGHT = "    return 2 * x"


def type_text(window: Any, text: str) -> None:
    """Replace the text of the editor, as a student types it."""
    window.click(".cm-content")
    window.keyboard.press("Control+a")
    window.keyboard.insert_text(text)


def own_file(server: Server) -> Path:
    return server.folder / "exercises" / "01_basics" / "double" / "double.py"


def with_body(server: Server, body: str) -> str:
    """The starter with another body of its first function, and a right second one."""
    head = own_file(server).read_text(encoding="utf-8").partition("\ndef ")[0]
    return f"{head}\ndef double(x):\n{body}\n\n\ndef double_(x):\n    return x.mul_(2)\n"


def open_exercise(window: Any, server: Server) -> None:
    window.goto(f"{server.url}exercise/double")
    window.wait_for_selector(".checks table.checks")


def test_an_exercise_is_solved_in_the_browser(window: Any, server: Server) -> None:
    """From the map to full marks: two mistakes, marked rules, lines to try, a hint, a reload, and what comes next."""
    window.click("text=Next: 01-1")
    window.wait_for_selector(".checks table.checks")
    type_text(window, with_body(server, "    return x"))
    window.wait_for_selector(".rule.failed")
    window.click("text=Run these lines")
    window.wait_for_selector(".checks [aria-live] pre.code")
    type_text(window, with_body(server, "    return 2 * y"))
    window.wait_for_selector("text=NameError")
    assert window.locator(".cm-wrong").count() >= 1
    window.click("text=Show a hint")
    window.wait_for_selector(".task ol li")
    window.reload()
    window.wait_for_selector("text=NameError")
    assert "2 * y" in window.locator(".cm-content").inner_text()
    type_text(window, with_body(server, RIGHT))
    window.wait_for_selector("text=/All \\d+ checks pass/")
    assert window.locator(".rule.failed").count() == 0
    window.wait_for_selector(".checks >> text=The reference, and other right answers")
    assert RIGHT in own_file(server).read_text(encoding="utf-8")
    window.click("text=/Next: 01-2/")
    window.wait_for_selector("h1:has-text('01-2')")


def test_another_editor_and_another_window(window: Any, server: Server) -> None:
    """A save of another editor appears; texts of both are kept when both change."""
    open_exercise(window, server)
    second = window.context.new_page()
    open_exercise(second, server)
    own_file(server).write_text(with_body(server, "    return 3 * x"), encoding="utf-8")
    for page in (window, second):
        page.wait_for_selector(".cm-content:has-text('return 3 * x')")
    type_text(window, with_body(server, "    return 4 * x"))
    second.wait_for_selector(".cm-content:has-text('return 4 * x')")
    # Both change at once: what is typed while the file changes.
    window.context.set_offline(True)
    type_text(window, with_body(server, "    return 5 * x"))
    own_file(server).write_text(with_body(server, "    return 6 * x"), encoding="utf-8")
    window.context.set_offline(False)
    window.wait_for_selector("text=was changed by another program")
    assert "return 6 * x" in own_file(server).read_text(encoding="utf-8")
    window.click("text=Keep the text of this page")
    window.wait_for_selector("text=The other version is beside the file")
    assert "return 5 * x" in own_file(server).read_text(encoding="utf-8")
    assert "return 6 * x" in own_file(server).with_name("double.py.old").read_text(encoding="utf-8")


SLOW = """(ms) => { const emit = window.socket.emit.bind(window.socket);
  window.socket.emit = (...sent) => setTimeout(() => emit(...sent), ms); }"""
"""What the browser sends arrives later, as from far away."""


def test_a_result_removes_nothing_that_is_typed_meanwhile(window: Any, server: Server) -> None:
    """Keys that are under way when a line is marked stay in the editor, and are saved."""
    open_exercise(window, server)
    text = with_body(server, "    return x")
    type_text(window, text)
    window.wait_for_selector(".rule.failed")
    window.keyboard.press("Control+End")
    window.evaluate(SLOW, 300)
    typed = "# abcdefghijklmnopqrstuvwxyz"
    window.keyboard.type(typed, delay=170)
    window.wait_for_timeout(600)  # the last key arrives
    window.wait_for_selector("text=/checks? pass(es)?$/")
    assert typed in window.locator(".cm-content").inner_text()
    assert own_file(server).read_text(encoding="utf-8") == text + typed


def test_a_page_that_was_closed_costs_the_others_nothing(window: Any, server: Server) -> None:
    """A window that is gone is shown nothing; one that comes back shows the last result."""
    open_exercise(window, server)
    window.evaluate("window.socket.disconnect()")
    second = window.context.new_page()
    open_exercise(second, server)
    type_text(second, with_body(server, "    return x"))
    second.wait_for_selector(".rule.failed")
    assert window.locator(".rule.failed").count() == 0
    window.evaluate("window.socket.connect()")
    window.wait_for_selector(".rule.failed")
    window.wait_for_selector(".cm-content:has-text('return x')")


def test_ctrl_c_says_nothing_of_an_open_page(capfd: pytest.CaptureFixture[str], server: Server, window: Any) -> None:
    """A page asks again when its connection ends: that is no error of the server, and no traceback."""
    open_exercise(window, server)
    assert server.end() in (0, -2, 130)
    assert "Traceback" not in capfd.readouterr().err


def test_what_is_typed_outlives_the_server(window: Any, server: Server) -> None:
    """A text that no server could save is in the browser, and is saved when the page is opened again."""
    open_exercise(window, server)
    text = with_body(server, "    return 7 * x")
    port = server.url.rstrip("/").rpartition(":")[2]
    server.end()
    type_text(window, text)
    window.wait_for_timeout(300)
    again = Server(server.folder, "--port", port)
    try:
        window.goto(f"{again.url}exercise/double")
        window.wait_for_selector(".cm-content:has-text('return 7 * x')")
        window.wait_for_selector(".checks table.checks")
        assert "return 7 * x" in own_file(server).read_text(encoding="utf-8")
    finally:
        again.end()
        assert again.process.stdout is not None
        again.process.stdout.close()


def test_the_memory_is_drawn_and_played_with(window: Any, server: Server) -> None:
    """Views have the colour of their storage; strides by hand make another view; an element is found in the storage."""
    window.goto(f"{server.url}memory")
    window.wait_for_selector("svg.cells")
    cell = window.locator("svg.cells .cell[data-place=A9]")
    cell.first.hover()
    assert window.locator("svg.cells .cell.on").count() == 3
    window.fill("input[aria-label='Strides']", "4, 2")
    window.click("text=Add this view")
    window.wait_for_selector("svg.cells >> text=shape (3, 2) strides (4, 2) offset 1")
    window.fill("input[aria-label='Which element? Such as y[1, 0]']", "v[2, 1]")
    window.keyboard.press("Enter")
    window.wait_for_selector("text=v[2, 1] is element 11 of its storage: 1 + 2 * 4 + 1 * 2.")
    window.click("button:has-text('A copy')")
    window.wait_for_selector("svg.cells [data-place=B0]", state="attached")
    window.fill("textarea", "x = torch.ones(3, 4)\nx + torch.ones(3)")
    window.click("button:has-text('Draw')")
    window.wait_for_selector("text=Broadcasting aligns shapes at the right")


def test_nothing_is_loaded_from_elsewhere(window: Any, server: Server) -> None:
    """All requests go to the server, and no page has an error of a script."""
    seen: list[str] = []
    errors: list[str] = []
    window.on("request", lambda request: seen.append(request.url))
    window.on("pageerror", lambda error: errors.append(str(error)))
    open_exercise(window, server)
    window.goto(f"{server.url}memory")
    window.wait_for_selector("svg.cells")
    host = server.url.removeprefix("http://")
    assert [url for url in seen if not url.startswith((f"http://{host}", f"ws://{host}", "data:"))] == []
    assert errors == []


def test_it_works_with_the_keyboard_on_a_phone(window: Any, server: Server) -> None:
    """At 390 pixels nothing is wider than the page, and Tab reaches each button."""
    window.set_viewport_size({"width": 390, "height": 844})
    for path in ("", "exercise/double", "memory"):
        window.goto(f"{server.url}{path}")
        window.wait_for_selector("h1")
        assert window.evaluate("document.documentElement.scrollWidth") <= 390, path
    open_exercise(window, server)
    window.click(".cm-content")
    window.keyboard.press("Escape")
    for _ in range(20):
        window.keyboard.press("Tab")
        if window.evaluate("document.activeElement.innerText || ''") == "Check now":
            break
    assert window.evaluate("document.activeElement.innerText") == "Check now"
