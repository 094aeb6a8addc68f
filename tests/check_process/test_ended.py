"""Where a check ended: the line and the statement of its own file; and what ended it, in a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.check_process.check_lines import line_of, statement_of
from grader.check_process.verdict import cause_of
from grader.connection.raised import Raised, exception_of
from grader.model import Check, Verdict
from grader.model.public_text import say

TEXT = """
def helper(value):
    with open(__file__) as file:
        assert value == (
            3
        ), file.name

def compound(value):
    for item in value:
        pass

def last(value):
    assert value == 7


@staticmethod
def other():
    pass
"""


def ended(path: Path, name: str, value: object) -> tuple[int, str]:
    """The line at which a function of a file ends, and its statement."""
    space: dict[str, object] = {"__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with pytest.raises((AssertionError, TypeError)) as caught:
        space[name](value)  # type: ignore[operator]
    return line_of(caught.value, path), statement_of(caught.value, path)


def test_the_statement_is_shown_whole(tmp_path: Path) -> None:
    """Over several lines, and of a block its head; a file that is another by now has none."""
    path = tmp_path / "check_one.py"
    path.write_text(TEXT)
    assert ended(path, "helper", 4) == (4, "value == 3")
    assert ended(path, "last", 6) == (13, "value == 7")
    assert ended(path, "compound", 0) == (9, "for item in value:")
    assert (line_of(None, path), line_of(ValueError(), path)) == (0, 0)


@pytest.mark.parametrize("shown", [True, False])
def test_what_is_not_written_is_reported_as_such_where_an_error_is_expected(shown: bool) -> None:
    """The starter's own error ends every check of its function alike; another error is a wrong answer."""
    check = Check("refuses", "double", "Refuses", "C3", category="error", shown=shown)
    raised = Raised("TypeError", "TypeError", "no", (), "", "", "your `double`", "your", say("expected a ValueError"))
    error = exception_of(raised)
    assert cause_of(check, Verdict.SKIPPED, error) == "raised"
    assert cause_of(check, Verdict.CRASHED, error) == "values"
