"""What is read out of a submission's text."""

from __future__ import annotations

import pytest

from grader.session.crashed import is_stub, may_lack_return


@pytest.mark.parametrize(
    ("text", "stub"),
    [
        ("def f(x):\n    raise NotImplementedError  # TODO\n", True),
        ("class A:\n    def f(self):\n        raise NotImplementedError('soon')\n", True),
        ("def f(x):\n    if x: raise NotImplementedError\n", False),
        ("def f(x):\n    raise ValueError\n", False),
        ("def f(x):\n    return x ^ 2\n", False),
        ("def f(x:\n    raise NotImplementedError\n", False),
    ],
)
def test_stub(text: str, stub: bool) -> None:
    """Only a raise that a function always comes to is a stub."""
    assert is_stub(text.encode(), text.count("\n")) is stub


@pytest.mark.parametrize(
    ("body", "lacks"),
    [
        ("return x", False),
        ("return None", False),
        ("x + 1", True),
        ("if x:\n        return 1\n    x + 1", False),
        ("return", True),
        ("def inner():\n        pass\n    return x", False),
    ],
)
def test_missing_return(body: str, lacks: bool) -> None:
    """A return may be missing where a function has none that gives something."""
    text = f"def total(x):\n    {body}\n"
    assert may_lack_return({"work.py": text.encode()}, ["total"]) is lacks
