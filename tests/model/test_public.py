"""Public texts keep their words apart, and their templates are literals."""

from __future__ import annotations

import ast
from pathlib import Path

import grader
from grader.model.public_text import Limit, Public, say


def test_a_public_text_is_a_text_that_knows_its_words() -> None:
    """It reads as any text does; a word may be one itself."""
    text = say("expected {} to be {}, got {}", say("the {}", "result"), Limit(3), "a tensor")
    assert text == "expected the result to be 3, got a tensor"
    assert text.template == "expected {} to be {}, got {}"
    assert [type(word) for word in text.words] == [Public, Limit, str]


def test_templates_are_literals() -> None:
    """A template is always shown, so each of ours is a literal."""
    calls = []
    package = Path(grader.__file__).parent
    rooms = ("check", "worker_process", "connection", "speed", "check_process")
    for path in (path for room in rooms for path in (package / room).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("say", "Public"):
                literal = node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
                calls.append((path.name, node.lineno, bool(literal)))
    assert len(calls) > 50
    assert [call for call in calls if not call[2]] == []


KINDS = ("CheckFailed", "CannotJudge", "NotUsable", "CannotRun", "Inconclusive")


def test_words_that_helpers_raise_with_are_public() -> None:
    """No helper fails by a text that is put together in another way."""
    bare = []
    for path in (Path(grader.__file__).parent / "check").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            # What is read in the text of a submission, before it runs, reveals no input.
            reads = isinstance(node, ast.Call) and any(word.arg == "from_text" for word in node.keywords)
            if not reads and isinstance(node, ast.Call) and ast.unparse(node.func) in KINDS:
                bare += [(path.name, node.lineno)] * isinstance(node.args[0], ast.JoinedStr)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "require":
                bare += [(path.name, node.lineno)] * isinstance(node.args[1], ast.JoinedStr)
    assert bare == []
