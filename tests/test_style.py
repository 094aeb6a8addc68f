"""Phrases that must not come back: what `docs/style.md` asks of messages, tasks and pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PHRASES = {
    r"\b(is|are|was|were) asked\b": "expected, must, or who asks",
    r"\bAsked (is|are)\b|[,;] asked (is|are)\b": "expected, must",
    r"\basked\s{2,}": "expected, in a column beside got",
    r"\byours\b": "got, or: your result",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(is|are|was|were|be|been|being) told\b": "name who reads, gets or receives it",
    r"\b(told|tells?) of\b": "reports, shows, mentions",
    r"\bnobody (has set|asks for|asked for)\b": "uninitialized; unexpected",
    r"\bwhatever\b": "any, always, or an if",
    r"\bodd but fine\b": "right but unusual",
    r"\b(is|are) none\b": "is not a ..., no ... is",
    r"(?<!here )\b(is|are|was|were) no (?!longer|more|less|fewer|larger|smaller|greater|one\b)": "is not a ...",
    r"\d no longer\b": "name what happened: removed, not gradable now",
    r"\bothers? keeps? (its|theirs)\b": "name what stays unchanged",
    r"\btheirs\b": "name whose",
    r"\bdear(er|est)?\b": "expensive",
    r"\ball (of )?it holds\b": "everything is verified",
}
"""Each phrase, as a regular expression, and what to write instead."""

NOT_YET: set[str] = set()
"""Files that still have such phrases. A file that has become clean fails the test until it leaves this list."""

GENERATED = {"docs/mistakes.md", "docs/check-words.md", "docs/first-hour.md", "docs/course-map.md"}
"""Pages that a program writes from other files, which are examined themselves."""


def literals(text: str) -> Iterator[tuple[int, str]]:
    """Each string of a Python file with a blank in it, docstrings included, with its line; an f-string as one."""
    tree = ast.parse(text)
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            said = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            said = node.value
        else:
            continue
        if " " in said:
            yield node.lineno, said


def phrases_of(path: Path) -> list[str]:
    """Each phrase of the list that a file has, with its line and what to write instead."""
    text = path.read_text(encoding="utf-8")
    parts = literals(text) if path.suffix == ".py" else [(1, text)]
    return [
        f"{path.relative_to(ROOT)}:{line + said.count(chr(10), 0, match.start())}: {match[0]!r}: write {instead}"
        for line, said in parts
        for phrase, instead in PHRASES.items()
        for match in re.finditer(phrase, re.sub(r"[ \n]{1,1}", " ", said) if False else said)
    ]


def files() -> list[Path]:
    """All files with words that somebody reads: the engine, the course, the pages and the templates."""
    engine = [path for path in (ROOT / "grader").rglob("*") if path.suffix in {".py", ".md", ".yaml", ".yml", ".html"}]
    course = [path for top in ("exercises", "solutions") for path in (ROOT / top).rglob("*")]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
    wanted = [path for path in (*engine, *course) if path.suffix in {".py", ".md", ".yaml", ".yml", ".html"}]
    return [
        path
        for path in sorted({*wanted, *pages})
        if path.relative_to(ROOT).as_posix() not in GENERATED | {"CHANGELOG.md", "docs/style.md"}
    ]
