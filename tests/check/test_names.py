"""One rule for all words: `assert_*` fails the check, and every other word returns a value."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any

import pytest

import grader.check
from grader.check.renamed import NEW_NAMES

FAIL = re.compile(r"assert_|raises$|check$")
"""`raises` and `check` are pytest's words."""

FUNCTIONS = {
    name: word
    for name in grader.check.__all__
    if inspect.isfunction(inspect.unwrap(word := getattr(grader.check, name)))
}


def returned(word: Any) -> str:
    """The annotation of what a call returns; that of a context manager is what `as` gets."""
    text = str(inspect.signature(word).return_annotation)
    return text.removeprefix("Iterator[").removesuffix("]") if hasattr(word, "__wrapped__") else text


@pytest.mark.parametrize("name", FUNCTIONS)
def test_words_fail_or_return(name: str) -> None:
    """What returns None can only fail, so it begins with `assert_`."""
    assert FAIL.match(name) or returned(FUNCTIONS[name]) != "None"


NO_SUCH_VALUE = {"assert_tensor", "assert_isinstance", "assert_of_kind", "assert_no_hidden_code"}
"""By these a word that returns a value says that there is none, as `float("x")` does."""


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if not FAIL.match(name) and name != "allclose"])
def test_other_words_compare_nothing(name: str) -> None:
    """What returns a value asserts nothing about it; `allclose` catches what `assert_values` raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(FUNCTIONS[name]))))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert {each for each in called if each.startswith("assert_")} <= NO_SUCH_VALUE


def test_old_names() -> None:
    """Nothing has an old name, and each leads to a word that exists."""
    assert set(NEW_NAMES) & set(grader.check.__all__) == set()
    assert set(NEW_NAMES.values()) <= set(grader.check.__all__)
    with pytest.raises(ImportError, match="`is_tensor` is named `assert_tensor` now"):
        from grader.check import is_tensor  # type: ignore[attr-defined]  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from grader.check import nonsense  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize("name", FUNCTIONS)
def test_words_are_explained(name: str) -> None:
    """Each parameter has a line, and so have what a word returns and how it fails."""
    word = FUNCTIONS[name]
    doc = inspect.getdoc(word) or ""
    text, *sections = re.split(r"^(Args|Returns|Yields|Raises):$", doc, flags=re.MULTILINE)
    told = dict(zip(sections[::2], sections[1::2], strict=True))
    parameters = re.findall(r"^ {4}\*{0,2}(\w+): ", told["Args"], re.MULTILINE)
    assert parameters == list(inspect.signature(word).parameters)
    assert "Raises" in told or not name.startswith(("assert_", "raises"))
    assert told.keys() & {"Returns", "Yields"} or returned(word) == "None" or text.startswith("Return ")
