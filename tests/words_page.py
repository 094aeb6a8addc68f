"""docs/check-words.md, made of the docstrings of `grader.check`: every word for checks, with what it takes.

The names that words had before are those of `grader.check.renamed`.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import grader.check
from grader.check.renamed import NEW_NAMES

WIDTH = 120
_RENAMED = """A course that was written before may have these names. Nothing is imported by them, and `grade verify`
says which name a word has now."""
_SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Yields):$", re.MULTILINE)
_ROW = re.compile(r"^ {4}(?=[\w*])", re.MULTILINE)


def page() -> str:
    """The whole page."""
    head = "Every word that check files import from `grader.check`, with what it takes: by `python tests/test_docs.py "
    head += "--write` from the docstrings. A word that begins with `assert_` fails the check, and so does `raises`. "
    head += "Every other word returns a value. [Writing exercises](writing-exercises.md) shows all of them in use."
    lines = ["# Words for checks", "", *_filled(head), ""]
    for title, modules in _rooms():
        words = [(name, getattr(grader.check, name)) for name in grader.check.__all__]
        mine = [(name, word) for name, word in words if word.__module__ in modules]
        if mine:
            lines += [f"## {title[0].upper()}{title[1:]}", ""]
            for name, word in mine:
                lines += [*_word(name, word), ""]
    lines += ["## Names of before", "", *_filled(_RENAMED), "", "| before | now |", "|---|---|"]
    lines += [f"| `{old}` | `{new}` |" for old, new in NEW_NAMES.items()]
    return "\n".join(lines).rstrip() + "\n"


def _rooms() -> Iterator[tuple[str, set[str]]]:
    """What the package's docstring says of its modules, and the modules; then where words of other rooms are."""
    doc = inspect.getdoc(grader.check) or ""
    found = re.findall(r"^((?:\w+, )*\w+) {2,}(.+)$", doc, re.MULTILINE)
    for names, title in found:
        yield title.split(":")[0].split(";")[0], {f"grader.check.{name}" for name in names.split(", ")}
    rest = {getattr(grader.check, name).__module__ for name in grader.check.__all__}
    yield "what else there is", {name for name in rest if not name.startswith("grader.check.")}


def _word(name: str, word: Any) -> Iterator[str]:
    doc = inspect.getdoc(word) or ""
    text, *sections = _SECTION.split(doc)
    signature = f"class {name}" if inspect.isclass(word) else f"{name}{_signature(word)}"
    yield from (f"### `{name}`", "", "```python", signature, "```")
    for part in text.strip().split("\n\n"):
        yield ""
        yield from _filled(part)
    if inspect.isclass(word):
        yield from _methods(word)
    for kind, rows in zip(sections[::2], sections[1::2], strict=True):
        if kind in ("Returns", "Yields"):
            yield from ["", *_filled(f"{kind}: {rows}")]
            continue
        yield from ["", "Raises:", ""] if kind == "Raises" else [""]
        for row in _ROW.split(rows.split("\n\n")[0].strip("\n"))[1:]:
            argument, _, told = " ".join(row.split()).partition(": ")
            yield from _filled(f"- `{argument}`: {told}", "  ")


def _methods(word: Any) -> Iterator[str]:
    methods = {name: each for name, each in vars(word).items() if inspect.isfunction(each) and name[0] != "_"}
    if methods:
        yield ""
    for name, each in methods.items():
        told = " ".join((inspect.getdoc(each) or "").split("\n\n")[0].split())
        yield from _filled(f"- `{name}{_signature(each)}`: {told}", "  ")


def _signature(word: Any) -> str:
    """The arguments as they are written, without types: they are told in words."""
    # From the text, as a default is then what its author wrote.
    node = ast.parse(textwrap.dedent(inspect.getsource(word))).body[0]
    assert isinstance(node, ast.FunctionDef)
    for each in ast.walk(node.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    node.args.args = [each for each in node.args.args if each.arg != "self"]
    return f"({ast.unparse(node.args)})".replace("'", '"')  # as our formatter writes it


def _filled(text: str, indent: str = "") -> list[str]:
    one = " ".join(text.split())
    return textwrap.wrap(one, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
