"""Canvas: one flat zip, in which the name of a file begins with its author's, and the numbers of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from grader.intake.handed import Item, Layout, Part, Taken, Unmatched, grouped, mostly
from grader.model import Exercise

# `<name in lower case>[_LATE]_<user>_<attachment>_<file>`, `[LATE_]anon_<id>_<attachment>_<file>`. A name may have
# underscores: the two numbers are what can be held on to.
_NAMED = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<attachment>\d+)_(?P<file>.+)")
_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<name>anon)_(?P<user>[^_]+)_(?P<attachment>\d+)_(?P<file>.+)")
_PAGE = re.compile(r"(?:(?P<name>.+?)(?:_LATE)?_(?P<user>\d+)|(?:LATE_)?anon_[^_]+)_(?:text|link)\.html")


def _parsed(name: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(name) or _NAMED.fullmatch(name)


def _fits(items: Sequence[Item]) -> bool:
    files = [item for item in items if not item.is_folder]
    named = [item for item in files if _parsed(item.name)]
    return bool(named) and mostly(items, lambda item: item in named or bool(_PAGE.fullmatch(item.name)))


def _read(items: Sequence[Item], exercises: Sequence[Exercise]) -> Taken:
    found, unmatched = [], []
    for item in items:
        parsed = None if item.is_folder else _parsed(item.name)
        if parsed is not None:
            key, note = f"{parsed['name']}_{parsed['user']}", "handed in late, as Canvas says" if parsed["late"] else ""
            found.append((key, Part(item.path, PurePosixPath(parsed["file"])), note))
        elif page := _PAGE.fullmatch(item.name):
            author = f"{page['name']}_{page['user']}" if page["user"] else ""
            unmatched.append(Unmatched(item.name, author, "a text or an address that was typed into Canvas: no file"))
        else:
            unmatched.append(Unmatched(item.name, "", "its name does not begin with an author's, as Canvas has them"))
    return grouped(found, [row.author for row in unmatched if row.author]), unmatched


CANVAS = Layout("canvas", "a Canvas download", _fits, _read)
