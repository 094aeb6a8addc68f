"""`break`, `catch` and `drill` in a real browser."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support import RIGHT, TOTAL
from web_server import Server

from grader.course.load import load_course

DRILL = """
start: import torch
questions:
  - lines: ["x = torch.arange(6).view(2, 3)", "x.t().stride()"]
    wrong: ["(3, 1)", "(2, 1)"]
    why: A transpose swaps the strides, and copies nothing.
  - lines: ["torch.ones(2) @ torch.ones(3)"]
    wrong: ["tensor(2.)"]
    why: Both need as many elements.
"""
OWN = '''import torch
from grader.check import assert_values, check


@check("C1")
def check_mine(student):
    """Twice"""
    assert_values(student.double(torch.tensor([1.0, 2.0])), torch.tensor([2.0, 4.0]))
'''


def folder_of(server: Server, id: str) -> Path:
    return server.folder / "exercises" / "01_basics" / id


@pytest.fixture
def solved(window: Any, server: Server) -> Any:
    """A window of somebody who has full marks in the first exercise."""
    (folder_of(server, "double") / "double.py").write_text(RIGHT, encoding="utf-8")
    window.goto(f"{server.url}exercise/double")
    window.wait_for_selector("text=/All \\d+ checks pass/")
    window.click("text=Play: break your code")
    window.wait_for_selector("h1:has-text('Play with 01-1')")
    return window


def test_a_fault_is_planted_looked_for_and_given_up(solved: Any, server: Server) -> None:
    """Each step says what happened, and the student's own file is there again in the end."""
    path = folder_of(server, "double") / "double.py"
    assert solved.locator("button:has-text('Give up')").count() == 0  # there is nothing to give up
    solved.click("button:has-text('Plant a fault')")
    solved.wait_for_selector("text=has one fault now; nothing else was changed.")
    assert path.read_text(encoding="utf-8") != RIGHT
    editor = solved.context.new_page()
    editor.goto(f"{server.url}exercise/double")
    editor.wait_for_selector("text=A fault is planted in this file")
    editor.close()
    solved.click("button:has-text('I found it')")
    solved.wait_for_selector("text=The fault is still there")
    assert solved.locator("text=grade double").count() == 0  # a command for a terminal
    solved.click("button:has-text('Give up')")
    solved.wait_for_selector("text=You did not find it this time.")
    solved.wait_for_selector("button:has-text('Plant a fault')")
    assert path.read_text(encoding="utf-8") == RIGHT


def test_a_save_is_graded_while_a_game_runs(solved: Any, server: Server) -> None:
    """The search for a fault, and a check of one's own, keep no other window from its verdicts."""
    (folder_of(server, "total") / "total.py").write_text("def total(x):\n    return x\n", encoding="utf-8")
    second = solved.context.new_page()
    second.goto(f"{server.url}exercise/total")
    second.wait_for_selector("text=/\\d+ of \\d+ checks pass/")
    loop = "    while student.double(torch.ones(1)) is not None:\n        pass\n"
    endless = OWN.replace('    """Twice"""\n', f'    """Twice"""\n{loop}')
    solved.click(".cm-content")
    solved.keyboard.press("Control+a")
    solved.keyboard.insert_text(endless)
    solved.click("button:has-text('Save and run')")
    solved.wait_for_selector("text=Running your check")
    (folder_of(server, "total") / "total.py").write_text(TOTAL, encoding="utf-8")
    second.wait_for_selector("text=/All \\d+ checks pass/")
    assert solved.locator("text=Running your check").count() == 1
    solved.click("button:has-text('Plant a fault')")
    solved.wait_for_selector("text=another game is not done yet")
    assert server.end() in (0, -2, 130)


def test_a_check_of_ones_own_catches(solved: Any, server: Server) -> None:
    """A template to begin with; what it catches; and a text that another editor wrote meanwhile is kept."""
    path = server.folder / "my_checks" / "check_double.py"
    assert "def check_" in path.read_text(encoding="utf-8")
    solved.click(".cm-content")
    solved.keyboard.press("Control+a")
    solved.keyboard.insert_text(OWN)
    solved.click("button:has-text('Save and run')")
    solved.wait_for_selector("text=All 2 right answers pass your check.")
    solved.wait_for_selector("text=Your check catches 1 of 2 known wrong answers.")
    assert path.read_text(encoding="utf-8") == OWN
    path.write_text(f"# theirs\n{OWN}", encoding="utf-8")
    solved.click(".cm-content")
    solved.keyboard.press("Control+End")
    solved.keyboard.insert_text("# mine\n")
    solved.click("button:has-text('Save and run')")
    solved.wait_for_selector("text=was changed by another program")
    assert path.read_text(encoding="utf-8").startswith("# theirs\n")
    solved.click("text=Keep the text of this page")
    solved.wait_for_selector("text=Your check catches 1 of 2 known wrong answers.")
    assert path.read_text(encoding="utf-8") == f"{OWN}# mine\n"
    assert path.with_name("check_double.py.old").read_text(encoding="utf-8").startswith("# theirs\n")


def test_a_drill_is_answered(window: Any, server: Server) -> None:
    """A wrong answer is explained and comes again; the lines are run to know what is right."""
    (server.folder / "exercises" / "01_basics" / "drill.yaml").write_text(DRILL, encoding="utf-8")
    window.goto(f"{server.url}drill")
    strides = "pre.code:has-text('x.t().stride()')"
    for _ in range(2):
        window.wait_for_selector("button:has-text('(3, 1)'), button:has-text('raises RuntimeError')")
        if window.locator(strides).count():
            window.click("button:has-text('(3, 1)')")
            window.wait_for_selector("text=You said (3, 1). Wrong: (1, 3). A transpose swaps the strides")
            assert window.locator(strides).count() == 1  # the question stays beside its answer
        else:
            window.click("button:has-text('raises RuntimeError')")
            window.wait_for_selector("text=Right: raises RuntimeError. Both need as many elements.")
        # Whoever has no mouse goes on from where they are, not from the top of the page.
        window.wait_for_function("document.activeElement.innerText === 'Next question'")
        window.keyboard.press("Enter")
    window.wait_for_selector(strides)
    window.wait_for_function("document.activeElement.matches('.card:has(pre.code) button')")
    window.click("button:has-text('(1, 3)')")
    window.wait_for_function("document.activeElement.innerText === 'Result'")
    window.keyboard.press("Enter")
    window.wait_for_selector("text=1 of 2 right at the first try.")
    window.wait_for_function("document.activeElement.innerText === 'Drill again'")
    window.keyboard.press("Enter")
    window.wait_for_selector("pre.code")


def test_the_right_choice_stands_anywhere(home: Path) -> None:
    """The order of choices is drawn, so that it does not say which is right."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install 'tensorgrade[web]'")
    from grader.student.games.drilling import DrillAnswer, read_questions
    from grader.web.games_page import shuffled_choices

    (home / "exercises" / "01_basics" / "drill.yaml").write_text(DRILL, encoding="utf-8")
    question = read_questions(load_course(home))[0]
    answer = DrillAnswer("(1, 3)", ("(3, 1)", "(2, 1)", "(1, 3)"))
    orders = [shuffled_choices(question, answer, random.Random(seed)) for seed in range(30)]
    assert {order.index("(1, 3)") for order in orders} == {0, 1, 2}
