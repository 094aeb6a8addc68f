"""Where a check ended: the line and the statement of its own file, and a trace without pytest's inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.session.decide import Ended, ended_of

TEXT = """
def helper(value):
    with open(__file__) as file:
        assert value == (
            3
        ), file.name

def plain(value):
    assert value
    return None

def compound(value):
    for item in value:
        pass

def last(value):
    assert value == 7


@staticmethod
def other():
    pass
"""


def ended(path: Path, name: str, value: object) -> Ended:
    """How a function of a file ends."""
    space: dict[str, object] = {"__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with pytest.raises((AssertionError, TypeError)) as caught:
        space[name](value)  # type: ignore[operator]
    return ended_of(caught, path, None)


def test_the_statement_is_told_whole(tmp_path: Path) -> None:
    """Over several lines, and of a block its head; a file that is another by now has none."""
    path = tmp_path / "check_one.py"
    path.write_text(TEXT)
    found = ended(path, "helper", 4)
    assert (found.line, found.statement) == (4, "        assert value == (\n            3\n        ), file.name")
    assert f"{path}:4: helper: assert value == (" in found.trace
    assert ended(path, "plain", 0).statement == "    assert value"
    assert ended(path, "last", 6).statement == "    assert value == 7"
    assert ended(path, "compound", 0).statement == "    for item in value:"


def test_only_what_python_raised_has_a_statement(tmp_path: Path) -> None:
    """It stands in for a message that nobody wrote."""
    path = tmp_path / "check_one.py"
    path.write_text("def raises(value):\n    raise ValueError(value)\n")
    space: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with pytest.raises(ValueError, match="1") as caught:
        space["raises"](1)  # type: ignore[operator]
    assert (ended_of(caught, path, None).statement, ended_of(None, path, None)) == ("", Ended(None))
