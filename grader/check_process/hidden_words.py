"""Which words a hidden check may say: those that are known before any submission is.

A public text is a template of ours with words (`model.public_text`), or a text of the check's author. Each word must
belong to a closed set, or stand in the check's own file, as a literal or as an f-string whose fields hold such words.
Student code, in any answer, can only choose which of these few texts is shown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from grader.check import show
from grader.check.costs import ESCAPES
from grader.check.names import words_of
from grader.model import Limits
from grader.model.public_text import DictKey, Limit, Public
from grader.wire.dtypes import DTYPES

ERRORS = words_of(
    """ArithmeticError AssertionError AttributeError BufferError EOFError ImportError IndexError KeyError
    KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotImplementedError OSError OverflowError
    PermissionError RecursionError RuntimeError StopIteration TypeError UnboundLocalError UnicodeError ValueError
    ZeroDivisionError"""
)
"""Errors that a hidden check names."""

_CLOSED = {
    *DTYPES,
    *(form for name in DTYPES for form in (f"torch.{name}", show.with_article(name))),
    *(form for place in show.DEVICES for form in (place, repr(place), f"device(type={place!r})")),
    *(*show.TYPES, *show.KINDS),
    *(form for name in ERRORS for form in (name, show.with_article(name))),
    *("", "True", "False", "None", "the result", "the argument", "the module", "another dtype", "another device"),
    *("an exception of another kind", "your file", "the reference", *ESCAPES, "other"),
}
"""Words that every hidden check may show."""

_OWNED = re.compile(r"(?:your|the reference's|the probe) (?:`([\w.]+)`(?: object)?|(\w+)\.py)")
_WITH_ARTICLE = re.compile(r"an? ([A-Za-z_]\w*)")
_ITEM = re.compile(r"(.+)\[([0-3]|'(?:\w+)')\]|item ([0-3]|'(?:\w+)') of (.+)")
_ALLOWED = "the allowed number of"
_LONGEST_FIELD = 120
_DEPTH = 2


class Words:
    """The words that messages of a file's hidden checks may have: those that are known before any submission.

    Args:
        texts: the sources of the check file and of probe files.
        names: further names that are known beforehand, such as the exercise's id.
        limits: the limits of the exercise.
    """

    def __init__(self, texts: Sequence[str], names: Iterable[str] = (), limits: Limits | None = None) -> None:
        trees = [ast.parse(text) for text in texts]
        constants = {name: value for tree in trees for name, value in _constants(tree)}
        nodes = [node for tree in trees for node in ast.walk(tree)]
        values = [node.value for node in nodes if isinstance(node, ast.Constant)]
        self._literals = {value for value in values if isinstance(value, str)}
        self._keys = {DictKey(value) for value in values}
        # An assertion of a probe is shown as the line where it begins.
        for text, tree in zip(texts, trees, strict=True):
            lines = text.encode("utf-8", "replace").splitlines()  # of bytes, whose lines are those of the parser
            asserts = (node for node in ast.walk(tree) if isinstance(node, ast.Assert))
            self._literals |= {lines[node.lineno - 1].decode("utf-8", "replace").strip() for node in asserts}
        self._numbers = {
            form for value in values if isinstance(value, (int, float)) for form in _limit_spellings(value)
        }
        if limits is not None:
            known = (*vars(limits).values(), limits.output_kb / 1024)
            self._numbers |= {form for value in known for form in _limit_spellings(value)}
        self._names = {*names, *(text for text in self._literals if text.isidentifier())}
        self._names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        self._names |= {node.id for node in nodes if isinstance(node, ast.Name)}
        self._forms = [_fstring_pattern(node, constants) for node in nodes if isinstance(node, ast.JoinedStr)]

    def shown_text(self, text: str) -> str | None:
        """Return a text as a student may read it, or None.

        If the check file contains "the rows", `say("{} is wrong", "the rows")` becomes "the rows is wrong". If a word
        of the text was not known before the run, return None.
        """
        if not isinstance(text, Public):
            return text if self._is_known(text) else None
        words = [self._shown_word(word) for word in text.words]
        return None if None in words else text.template.format(*words)

    def _shown_word(self, word: str) -> str | None:
        # A limit, or a key, that a check computed from its inputs could reveal them.
        if isinstance(word, Limit):
            return str(word) if str(word) in self._numbers else _ALLOWED
        if isinstance(word, DictKey):
            return str(word) if str(word) in self._keys else "a key"
        return self.shown_text(word)

    def _is_known(self, text: str, depth: int = 0) -> bool:
        """Return whether a hidden check may show a text.

        Its parts must be literals, names or f-strings of the check file, or closed words such as "the result". If the
        check file has the f-string `f"row {name}"`, "row x" may be shown if "x" may. `depth` counts the f-strings
        around this text.
        """
        if text in _CLOSED or text in self._literals:
            return True
        if owned := _OWNED.fullmatch(text):
            return all(part in self._names for part in (owned[1] or owned[2]).split("."))
        if text in self._names or ((kind := _WITH_ARTICLE.fullmatch(text)) and kind[1] in self._names):
            return True
        if item := _ITEM.fullmatch(text):
            key, whole = item[2] or item[3], item[1] or item[4]
            known = key.isdigit() or key.strip("'") in self._literals
            return known and self._is_known(whole, depth)
        if depth == _DEPTH:
            return False
        fits = filter(None, (form.fullmatch(text) for form in self._forms))
        return any(all(self._is_known(field, depth + 1) for field in match.groups()) for match in fits)


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (name, text) for each upper-case constant at the top of a module.

    `MOST = 3` yields ("MOST", "3"). The constants are strings and numbers.
    """
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str() | int() | float() as value)):
                if name.isupper():
                    yield name, str(value)


def _fstring_pattern(node: ast.JoinedStr, constants: Mapping[str, str]) -> re.Pattern[str]:
    """Return a pattern that matches what an f-string can write, with a group for each field.

    For `f"{x}/rows"` it is "(.{0,120}?)/rows". A field that is one of the constants has its text in place.
    """
    parts = []
    for part in node.values:
        match part:
            case ast.Constant(value=str(text)):
                parts.append(re.escape(text))
            case ast.FormattedValue(value=ast.Name(id=name), format_spec=None) if name in constants:
                parts.append(re.escape(constants[name]))
            case _:
                parts.append(rf"(.{{0,{_LONGEST_FIELD}}}?)")
    return re.compile("".join(parts), re.DOTALL)


def _limit_spellings(value: float | int | None) -> set[str]:
    """Return the ways in which a message may write a limit of the exercise, such as "1,000" and "1000"."""
    return set() if value is None or isinstance(value, bool) else {f"{value:,}", f"{value:g}", str(value)}
