"""A student in a real browser: an exercise is solved with mistakes on the way."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from support import COURSES
from web_server import TOKEN, WAIT_MS, Server

from grader.web.try_it import lines_to_draw

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
    window.wait_for_selector(".edit .cause:has-text('Read all of it')")  # beside the editor, without a scroll
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
    assert window.locator(".edit .cause").count() == 0
    window.click(".edit >> text=/Next: 01-2/")
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


@pytest.mark.parametrize("lost", [0, 12])
def test_a_page_that_lost_its_connection_costs_the_others_nothing(
    window: Any, other_window: Any, server: Server, lost: int
) -> None:
    """A window that is gone is shown nothing; one that comes back shows the last result, also if messages were lost."""
    open_exercise(window, server)
    window.evaluate("window.ackedMessageId = 1e9")  # so the server keeps what it sent
    type_text(window, with_body(server, "    return y"))
    window.wait_for_selector("text=NameError")
    window.evaluate(f"window.nextMessageId -= {lost}; window.socket.io.engine.close()")
    window.context.set_offline(True)  # before the browser tries again, which it does by itself
    open_exercise(other_window, server)
    type_text(other_window, with_body(server, RIGHT))
    other_window.wait_for_selector("text=/All \\d+ checks pass/")
    assert window.locator("text=/All \\d+ checks pass/").count() == 0
    window.context.set_offline(False)
    window.wait_for_selector("text=/All \\d+ checks pass/")
    window.wait_for_selector(f".cm-content:has-text('{RIGHT.strip()}')")
    assert window.locator(".rule.failed").count() == 0


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
    window.locator("svg.cells .cell.on[data-place=A11]").first.wait_for()  # and it is marked, without a mouse
    window.click("button:has-text('A copy')")
    window.wait_for_selector("svg.cells [data-place=B0]", state="attached")
    window.fill("textarea", "x = torch.ones(3, 4)\nx + torch.ones(3)")
    window.click("button:has-text('Draw')")
    window.wait_for_selector("text=Broadcasting aligns shapes at the right")
    window.fill("textarea", "n = 3\nprint('three')")
    window.click("button:has-text('Draw')")
    window.wait_for_selector("text=These lines make no tensor")
    assert window.locator("[role=status] pre").inner_text().strip() == "three"
    window.fill("textarea", "import os\nos._exit(1)")
    window.click("button:has-text('Draw')")
    window.wait_for_selector("text=Nothing could be drawn:")
    window.fill("textarea", "z = torch.arange(6)")
    window.click("button:has-text('Draw')")
    window.wait_for_selector("legend:has-text('A view of z by hand')")


def test_own_lines_are_tried(window: Any, server: Server) -> None:
    """A student needs no terminal: values are printed, the file can be imported, and a result removes no line."""
    open_exercise(window, server)
    box = window.locator("textarea[aria-label='Lines to try']")
    box.fill("import torch\nfrom double import double\nx = torch.ones(2)\nx.shape\ndouble(x)")
    type_text(window, with_body(server, "    return 5 * x"))
    window.wait_for_selector(".rule.failed")
    box.press("Control+Enter")
    window.wait_for_selector(".checks pre.code:has-text('torch.Size([2])')")
    assert "tensor([5., 5.])" in window.locator(".checks [aria-live] pre.code").inner_text()
    window.click(".checks button:has-text('C1')")  # those of a failing check come back by its name
    window.wait_for_selector(".checks [aria-live] pre.code:has-text('tensor')")
    assert "from double import double" in box.input_value()


def test_lines_to_draw_name_what_is_printed() -> None:
    """What a program prints is drawn, and the arguments of the call."""
    lines = "import torch\nx = torch.ones(3)\nprint(total(x.as_strided((2,), (1,), 1), x, 3))\nif"
    assert lines_to_draw(lines).split("\n") == [
        "import torch",
        "x = torch.ones(3)",
        "x.as_strided((2,), (1,), 1)",
        "total(x.as_strided((2,), (1,), 1), x, 3)",
        "if",
    ]
    loop = "for row in x:\n    print(row)"
    assert lines_to_draw(f"{loop}\nprint(x)") == f"{loop}\nx"


def test_memory_beside_an_exercise_without_pytorch(browser: Any, tmp_path: Path) -> None:
    """Its workers have no PyTorch, so the panel draws in those of another exercise."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install 'tensorgrade[web]'")
    course = Path(shutil.copytree(COURSES / "without", tmp_path / "course"))
    (course / "exercises/01_without").rename(course / "exercises/02_without")
    for path in (course / "course.yaml", *course.glob("exercises/*.yaml")):
        path.write_text(path.read_text(encoding="utf-8").replace("01_without", "02_without"), encoding="utf-8")
    server = Server(course)
    context = browser.new_context(base_url=server.url)
    context.set_default_timeout(WAIT_MS)
    try:
        page = context.new_page()
        page.goto(f"?token={TOKEN}")
        page.goto("exercise/steps")
        page.click("button:has-text('See the memory')")
        page.wait_for_selector("svg.cells >> text=shape (3, 2) strides (1, 8) offset 1")
    finally:
        context.close()
        server.end()
        assert server.process.stdout is not None
        server.process.stdout.close()


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
