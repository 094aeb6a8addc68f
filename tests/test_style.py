"""Phrases that must not come back: what `docs/style.md` asks of messages, tasks and pages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PHRASES = {
    r"\b(is|are|was|were) asked\b": "expected, must, or who asks",
    r"\bAsked (is|are)\b|[,;] asked (is|are)\b": "expected, must",
    r"\basked {2,}": "expected, in a column beside got",
    r"\byours\b": "got, or: your result",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(is|are|was|were|be|been|being) told\b": "name who reads, gets or receives it",
    r"\b(told|tells?) of\b": "reports, shows, mentions",
    r"\bnobody (has set|asks for|asked for)\b": "uninitialized; unexpected",
    r"\bwhatever\b": "any, always, or an if",
    r"\bodd but fine\b(?!:)": "right but unusual",
    r"\b(is|are) none\b": "is not a ..., no ... is",
    r"(?<!here\s)\b(is|are|was|were) no (?!longer|more|less|fewer|larger|smaller|greater|one\b)": "is not a ...",
    r"\d no longer\b": "name what happened: removed, not gradable now",
    r"\bothers? keeps? (its|theirs)\b": "name what stays unchanged",
    r"\btheirs\b": "name whose",
    r"\bdear(er|est)?\b": "expensive",
}
"""Each phrase, as a regular expression, and what to write instead."""

GENERATED = {"docs/mistakes.md", "docs/check-words.md", "docs/first-hour.md", "docs/course-map.md"}
"""Pages that a program writes from other files, which are read themselves."""

OWN = {"CHANGELOG.md", "docs/style.md"}
"""What happened, and the page that shows what not to write."""

JSON_KEYS = {"yours_ms", "theirs_ms"}
"""Names that stand in reports, which other programs read."""

SUFFIXES = {".py", ".md", ".yaml", ".yml", ".html", ".txt"}


def strings_of(text: str) -> Iterator[tuple[int, str]]:
    """Each string of a Python file that has a blank, with its line; docstrings too. An f-string is one string."""
    tree = ast.parse(text)
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            said = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            said = node.value
        else:
            continue
        if " " in said:
            yield node.lineno, said


def comments_of(text: str) -> Iterator[tuple[int, str]]:
    """Each comment of a Python file, with its line."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def names_of(text: str) -> Iterator[tuple[int, str]]:
    """Each name of several words that a Python file defines, as words, with its line."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                pass
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case _:
                continue
        if "_" in name.strip("_") and name not in JSON_KEYS:
            yield node.lineno, name.replace("_", " ")


def phrases_of(text: str, *, python: bool) -> list[str]:
    """Each phrase of the list in a text, with its line and what to write instead."""
    return phrases_in([*strings_of(text), *comments_of(text), *names_of(text)] if python else [(1, text)])


def phrases_in(parts: Iterable[tuple[int, str]]) -> list[str]:
    """Each phrase of the list in parts of a file, with its line and what to write instead."""
    return [
        f"line {line + said.count(chr(10), 0, match.start())}: {match[0]!r}: write {instead}"
        for line, said in parts
        for phrase, instead in PHRASES.items()
        # A phrase may go over the end of a line, but a column of a message stays within one.
        for match in re.finditer(phrase if "{" in phrase else phrase.replace(" ", r"\s+"), said)
    ]


def files() -> list[Path]:
    """All files with words that somebody reads: the engine, the course and the pages."""
    folders = [path for top in ("grader", "exercises", "solutions") for path in (ROOT / top).rglob("*")]
    pages = [page for top in (".", "docs", "benchmarks", "tools", "gpu") for page in (ROOT / top).glob("*.md")]
    return sorted(
        path for path in (*folders, *pages) if path.suffix in SUFFIXES and name_of(path) not in GENERATED | OWN
    )


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_phrases_do_not_come_back() -> None:
    """No message, task, hint, docstring, comment, name or page has a phrase of the list."""
    assert [
        f"{name_of(path)}: {line}"
        for path in files()
        for line in phrases_of(path.read_text(encoding="utf-8"), python=path.suffix == ".py")
    ] == []


def test_phrases_do_not_come_back_in_tests() -> None:
    """No comment and no name of a test or a benchmark has a phrase of the list."""
    found = []
    for path in sorted(path for top in ("tests", "benchmarks", "tools", "gpu") for path in (ROOT / top).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        # What students hand in is as they write, and may not even be Python.
        if path.parent.name != "attacks" and "courses" not in path.parts and path != Path(__file__):
            found += [f"{name_of(path)}: {line}" for line in phrases_in([*comments_of(text), *names_of(text)])]
    assert found == []


def test_corrections_are_rare() -> None:
    """A module says at most once that "you may read" something that is wrong; other facts stand for themselves."""
    for module in sorted((ROOT / "exercises").iterdir()):
        texts = [path.read_text(encoding="utf-8") for path in module.rglob("*") if path.suffix in {".md", ".py"}]
        assert len(re.findall(r"(?i)\byou may (?:also )?(?:read|see)\b", " ".join(texts))) <= 1, module.name


_GIVES = re.compile(r"(?:;\s+gives?|(?:^|[.:]\s+)Gives)\b(?! up)")
"""A function returns, yields or raises: `docs/style.md`, under Terms."""


def gives(text: str) -> list[str]:
    """Each docstring of a Python file that says "gives" for what a function returns, with its line."""
    return [
        f"line {node.lineno}: {match[0]!r}: write return, yield or raise"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        if (match := _GIVES.search(ast.get_docstring(node) or ""))
    ]


def test_functions_return() -> None:
    """No docstring of the engine says "gives" for what a function returns, yields or raises."""
    paths = sorted((ROOT / "grader").rglob("*.py"))
    assert [f"{name_of(path)}: {line}" for path in paths for line in gives(path.read_text(encoding="utf-8"))] == []
    for said in ("Write a copy; give its path.", "Send a request.\n\n    Gives its reply.", "Gives the place."):
        assert len(gives(f'def f():\n    """{said}"""')) == 1
    assert gives('def f():\n    """Enter the sandbox; give up all rights. Give a queue work."""') == []


_CLAUSE = re.compile(
    r"^ {4}\*{0,2}\w+: (?:that (?!of\b)|has |who |whose |(?:by|from|in|on|to|with) which )", re.MULTILINE
)
"""An argument that is explained by a clause about no noun: "submission: that is graded"."""


def clauses(text: str) -> list[str]:
    """Each argument or attribute of a Python file that is explained by a clause without a noun, with its line."""
    return [
        f"line {node.lineno}: {match[0].strip()!r}: begin with a noun"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        for match in _CLAUSE.finditer(ast.get_docstring(node) or "")
    ]


def test_arguments_are_nouns() -> None:
    """No docstring of the engine explains an argument by a clause without a noun."""
    paths = sorted((ROOT / "grader").rglob("*.py"))
    assert [f"{name_of(path)}: {line}" for path in paths for line in clauses(path.read_text(encoding="utf-8"))] == []
    assert len(clauses('def f(x):\n    """F.\n\n    Args:\n        x: that is graded.\n    """')) == 1
    assert clauses('def f(x):\n    """F.\n\n    Args:\n        x: the submission that is graded.\n    """') == []


_ARGS = re.compile(r"^Args:\n((?:(?:    .*)?\n?)*)", re.MULTILINE)
"""The section of a docstring that explains arguments, without its indentation."""


def functions_of(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions and methods of a file that are not inside of functions, with the names of their classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions_of(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield f"{prefix}{node.name}", node


def unexplained_arguments(text: str) -> Iterator[str]:
    """Yield each public function that does not explain its three or more arguments, or explains one that it has not.

    The docstring of a command is its `--help`, which explains the options by themselves.
    """
    for name, function in functions_of(ast.parse(text)):
        given = function.args
        names = {argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)} - {"self", "cls"}
        rest = {argument.arg for argument in (given.vararg, given.kwarg) if argument}
        section = _ARGS.search(ast.get_docstring(function) or "")
        explained = set(re.findall(r"^    \*{0,2}(\w+): ", section[1], re.MULTILINE)) if section else set()
        is_command = any("command" in ast.unparse(decorator) for decorator in function.decorator_list)
        is_public = not any(part.startswith("_") for part in name.split(".")) and not is_command
        if is_public and len(names) >= 3 and (missing := names - explained):
            yield f"{name}: explain {', '.join(sorted(missing))} under `Args:`"
        if more := explained - names - rest - {"cls"}:
            yield f"{name}: there is no argument {', '.join(sorted(more))}"


def test_arguments_are_explained() -> None:
    """Each public function of the engine explains three or more arguments, and none explains another."""
    paths = [path for path in sorted((ROOT / "grader").rglob("*.py")) if "templates" not in path.parts]
    found = [f"{name_of(path)}: {line}" for path in paths for line in unexplained_arguments(path.read_text("utf-8"))]
    assert found == []
    said = list(
        unexplained_arguments('def f(a, b, c):\n    """F.\n\n    Args:\n        a: one.\n        b: two.\n    """')
    )
    assert said == ["f: explain c under `Args:`"]
    assert list(unexplained_arguments('def f(a):\n    """F.\n\n    Args:\n        b: two.\n    """')) == [
        "f: there is no argument b"
    ]
