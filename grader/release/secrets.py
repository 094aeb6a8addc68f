"""What must not be in a copy: pieces of staff's files.

A piece is a text without its white space, so that it is found however it is indented or wrapped. It is told apart where
it comes from, since not everything that stands twice is a leak: checks of both kinds call the same functions, and a
hint may come close to the code.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from grader.course.layout import Places, is_probe, staff_files
from grader.course.starter import code_of
from grader.model import Course, Exercise

SHORTEST = 16
"""Characters of a statement that is a piece. A shorter one is an idiom: `return x + 1` tells nothing by itself."""
SHORTEST_ALONE = 32
"""The same of a wrong answer, of what opens a block, and in files of other exercises, which use the same idioms."""
SHORTEST_TEXT = 24
"""Characters of a comment, a line of a docstring, or a function."""

_CANARY = re.compile(rb"canary[\W_]{1,4}([0-9A-Za-z][\w-]{7,})", re.IGNORECASE)
_OPENING = ("import", "from", "@", "def", "class", "async")


class Kind(Enum):
    """What a piece is of."""

    FUNCTION = "a function's body"
    STATEMENT = "a statement"
    INPUT = "an input"
    TEXT = "a text for staff"
    CANARY = "a canary"


class Source(Enum):
    """Where it comes from."""

    CHECK = "a hidden check"
    WRONG = "a wrong answer"
    SOLUTION = "a solution"


@dataclass(frozen=True)
class Piece:
    """Something that must not be found.

    Attributes:
        text: without white space; of a canary as it is.
        kind: what it is.
        source: where it comes from.
        where: the file and line.
        exercise: whose it is; None of a file that belongs to no exercise.
        public: what of its words everybody knows, in the same way.
    """

    text: str
    kind: Kind
    source: Source
    where: str
    exercise: Exercise | None = None
    public: str = ""


def squeezed(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


def pieces(course: Course) -> Iterator[Piece]:
    """All that must not be in a copy: of all exercises, also of those that are not in it.

    What a starter's code says is said to everybody. Its digest was compared before; comments do not count in it, and
    so are no excuse. What the task says may stand in a hidden check or a wrong answer too, but no solution in it.
    """
    owners = {course.root / Places.of(exercise).staff: exercise for exercise in course.exercises}
    for path in staff_files(course):
        exercise = next((owners[parent] for parent in path.parents if parent in owners), None)
        for piece in _of_file(course.root, path, exercise):
            if piece.kind is Kind.INPUT and piece.source is not Source.CHECK:
                continue
            if piece.kind is Kind.CANARY or piece.text not in piece.public:
                yield piece


def _public(exercise: Exercise | None, source: Source) -> str:
    if exercise is None or not exercise.starter.is_file():
        return ""
    text = exercise.starter.read_bytes()
    with contextlib.suppress(SyntaxError, ValueError):  # then its code is all of it; to mend that may be the exercise
        if source is not Source.SOLUTION:
            return squeezed(code_of(text) + (ast.get_docstring(ast.parse(text)) or ""))
    return squeezed(code_of(text))


def _of_file(root: Path, path: Path, exercise: Exercise | None) -> Iterator[Piece]:
    data, shown_as = path.read_bytes(), path.relative_to(root).as_posix()
    source = _source(path, exercise)
    public = _public(exercise, source)
    for found in _CANARY.finditer(data):
        line = data.count(b"\n", 0, found.start()) + 1
        yield Piece(found[1].decode("ascii"), Kind.CANARY, source, f"{shown_as}:{line}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return  # a picture; where it is copied to, it is not among the files of a release
    # A probe runs beside student code, which can read it: it holds no secret.
    found_in = () if is_probe(path) else _of_python(text) if path.suffix == ".py" else _of_prose(text)
    for line, kind, piece in found_in:
        alone = source is Source.WRONG or piece.endswith(":")
        of_code = SHORTEST_ALONE if alone else SHORTEST
        if len(piece) >= {Kind.STATEMENT: of_code, Kind.INPUT: SHORTEST}.get(kind, SHORTEST_TEXT):
            yield Piece(piece, kind, source, f"{shown_as}:{line}", exercise, public)


def _source(path: Path, exercise: Exercise | None) -> Source:
    if exercise is not None and path == exercise.hidden_checks:
        return Source.CHECK
    return Source.WRONG if exercise is not None and path in exercise.wrong else Source.SOLUTION


Found = Iterator[tuple[int, Kind, str]]


def _of_prose(text: str, first: int = 1) -> Found:
    for number, line in enumerate(text.splitlines(), first):
        yield number, Kind.TEXT, squeezed(line.strip("\"' #"))


def _of_python(text: str) -> Found:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        yield from _of_prose(text)
        return
    statements: list[tuple[int, str]] = []
    titles = {node.body[0].lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_titled(node)}
    for tokens in _logical_lines(text):
        line = tokens[0].start[0]
        if tokens[0].type == tokenize.COMMENT:
            yield line, Kind.TEXT, squeezed(tokens[0].string.lstrip("#"))
        elif all(token.type == tokenize.STRING for token in tokens):
            yield from () if line in titles else _of_prose("".join(token.string for token in tokens), line)
        else:
            statements.append((line, squeezed("".join(token.string for token in tokens))))
            if tokens[0].string not in _OPENING:  # how functions are called is in the task
                yield line, Kind.STATEMENT, statements[-1][1]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, Kind.FUNCTION, _body(node, statements)
        elif isinstance(node, ast.List | ast.Tuple) and _is_input(node):
            yield node.lineno, Kind.INPUT, squeezed(ast.get_source_segment(text, node) or "")


def _is_input(node: ast.List | ast.Tuple) -> bool:
    """Whether it is made of numbers, such as a tensor's; names in a list are met everywhere."""
    leaves = [part for part in ast.walk(node) if not isinstance(part, ast.List | ast.Tuple | ast.expr_context)]
    plain = all(isinstance(part, ast.Constant | ast.UnaryOp | ast.unaryop) for part in leaves)
    return plain and any(isinstance(part, ast.Constant) and isinstance(part.value, int | float) for part in leaves)


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef, statements: Sequence[tuple[int, str]]) -> str:
    """What a function does; a short one with its name, since `return t[:n]` could be anywhere."""
    body, whole = (
        "".join(part for line, part in statements if first <= line <= (node.end_lineno or 0))
        for first in (node.body[0].lineno, node.lineno)
    )
    return body if len(body) >= SHORTEST_TEXT else whole


def _logical_lines(text: str) -> Iterator[list[tokenize.TokenInfo]]:
    """The statements of a file as tokens, without comments, which come by themselves."""
    tokens: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield [token]
        elif token.type == tokenize.NEWLINE:
            yield tokens
            tokens = []
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            tokens.append(token)


def _is_titled(node: ast.FunctionDef) -> bool:
    """Whether it is a check with a title, which students read in their reports."""
    return bool(node.decorator_list) and ast.get_docstring(node) is not None
