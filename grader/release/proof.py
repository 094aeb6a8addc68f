"""The proof that a copy has nothing of staff's: canaries, and a search for parts of their files.

A part ("piece") of staff's files is a text without its white space, so that the search finds it however it is indented
or wrapped. Where it comes from decides where it is a leak: checks of both kinds call the same functions, and a hint may
come close to the code.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import yaml

from grader.course.layout import (
    MISTAKES,
    NOTEBOOK,
    WRONG_FILE,
    Places,
    is_description,
    is_ours,
    is_probe,
    notebook_of,
    page_of,
    staff_files,
)
from grader.course.starter import code_of
from grader.grading.behaviour import is_sealed
from grader.model import Course, Exercise
from grader.model.errors import CourseError

_SHORTEST = 16
"""Characters of a statement that is a piece. A shorter one is an idiom: `return x + 1` tells nothing by itself."""
_SHORTEST_ALONE = 32
"""The same of a wrong answer, of what opens a block, and in files of other exercises, which use the same idioms."""
_SHORTEST_TEXT = 24
"""Characters of a comment, a line of a docstring, or a function."""
_WINDOW = 40
"""Characters of a long piece that are enough to know it by."""
_EXCERPT = 48
_CANARY = re.compile(rb"canary[\W_]{1,4}([0-9A-Za-z][\w-]{7,})", re.IGNORECASE)
_OPENING = ("import", "from", "@", "def", "class", "async")
_MARKS = re.compile(r"^[\s#>|*+-]+")
"""What stands before a line of code in a comment, a quotation, a list or a table."""
_COMMENT = re.compile(r"#.*")


class LeakError(CourseError):
    """A copy has what only staff may have."""


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
    """Something that must not be in a copy.

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

    def is_near(self, path: Path) -> bool:
        """Whether a file of the copy is of the same exercise, or the page of its module."""
        if self.exercise is None:
            return False
        module = self.exercise.module
        return path in (page_of(module), notebook_of(module)) or path.parent == Places.of(self.exercise).shown

    def is_leak(self, path: Path) -> bool:
        """Whether it may not stand in this file of the copy."""
        if self.kind is Kind.FUNCTION:
            return True
        if self.kind is Kind.INPUT:
            return self.is_near(path)
        if is_description(path):  # the third hint is nearly the code
            return False
        if self.kind is Kind.TEXT:
            return True
        if is_ours(path.name) and self.source is not Source.SOLUTION:
            return False  # checks of both kinds call the same functions
        return self.is_near(path) or len(self.text) >= _SHORTEST_ALONE

    def windows(self, starts: Collection[str], *, whole: bool = False) -> Iterator[str]:
        """Its parts that are enough to know it by, and that may be where parts begin in these ways."""
        size = len(self.text) if whole or self.kind is Kind.FUNCTION else min(_WINDOW, len(self.text))
        for first in range(len(self.text) - size + 1):
            window = self.text[first : first + size]
            if window[:_SHORTEST] in starts and window not in self.public:
                yield window


# -- what must not be in a copy


def pieces(course: Course) -> Iterator[Piece]:
    """All that must not be in a copy: of all exercises, also of those that are not in it."""
    owners = {course.root / Places.of(exercise).staff: exercise for exercise in course.exercises}
    for path in staff_files(course):
        exercise = next((owners[parent] for parent in path.parents if parent in owners), None)
        yield from _of_file(course.root, path, exercise)


def _of_file(root: Path, path: Path, exercise: Exercise | None) -> Iterator[Piece]:
    data, shown_as, source = path.read_bytes(), path.relative_to(root).as_posix(), Source.SOLUTION
    if exercise is not None and path == exercise.hidden_checks:
        source = Source.CHECK
    elif exercise is not None and (path in exercise.wrong or path.name == WRONG_FILE):
        source = Source.WRONG
    public = _public(exercise, source)
    for mark in _CANARY.finditer(data):
        line = data.count(b"\n", 0, mark.start()) + 1
        yield Piece(mark[1].decode("ascii"), Kind.CANARY, source, f"{shown_as}:{line}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return  # a picture; where it is copied to, it is not among the files of a release
    if is_probe(path):
        return  # it runs beside student code, which can read it: it holds no secret
    for line, kind, part in _of_python(text) if path.suffix == ".py" else _of_prose(text):
        of_code = _SHORTEST_ALONE if source is Source.WRONG or part.endswith(":") else _SHORTEST
        least = {Kind.STATEMENT: of_code, Kind.INPUT: _SHORTEST}.get(kind, _SHORTEST_TEXT)
        if len(part) >= least and part not in public and (kind is not Kind.INPUT or source is Source.CHECK):
            yield Piece(part, kind, source, f"{shown_as}:{line}", exercise, public)


def _public(exercise: Exercise | None, source: Source) -> str:
    """What a starter's code says is said to everybody.

    Comments do not count in its digest, which was compared before, and so are no excuse. What the task says may stand
    in a hidden check or a wrong answer too, but no solution in it.
    """
    if exercise is None or not exercise.starter.is_file():
        return ""
    text, task = exercise.starter.read_bytes(), None
    with contextlib.suppress(SyntaxError, ValueError):  # then its code is all of it; to fix that may be the exercise
        task = ast.get_docstring(ast.parse(text)) if source is not Source.SOLUTION else None
    return _squeezed(code_of(text) + (task or ""))


def _of_prose(text: str, first: int = 1) -> Iterator[tuple[int, Kind, str]]:
    for number, line in enumerate(text.splitlines(), first):
        yield number, Kind.TEXT, _squeezed(line.strip("\"' #"))


def _of_python(text: str) -> Iterator[tuple[int, Kind, str]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        yield from _of_prose(text)
        return
    statements: list[tuple[int, str]] = []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    # Students read the title of a check in their reports.
    titles = {each.body[0].lineno for each in functions if each.decorator_list and ast.get_docstring(each) is not None}
    for tokens in _logical_lines(text):
        line, whole = tokens[0].start[0], "".join(token.string for token in tokens)
        if tokens[0].type == tokenize.COMMENT:
            yield line, Kind.TEXT, _squeezed(whole.lstrip("#"))
        elif all(token.type == tokenize.STRING for token in tokens):
            yield from () if line in titles else _of_prose(whole, line)
        else:
            statements.append((line, _squeezed(whole)))
            if tokens[0].string not in _OPENING:  # how functions are called is in the task
                yield line, Kind.STATEMENT, statements[-1][1]
    for function in functions:
        body, named = (
            "".join(part for line, part in statements if first <= line <= (function.end_lineno or 0))
            for first in (function.body[0].lineno, function.lineno)
        )
        # A short one with its name, since `return t[:n]` could be anywhere.
        yield function.lineno, Kind.FUNCTION, body if len(body) >= _SHORTEST_TEXT else named
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple) and _is_input(node):
            yield node.lineno, Kind.INPUT, _squeezed(ast.get_source_segment(text, node) or "")


def _is_input(node: ast.List | ast.Tuple) -> bool:
    """Whether it is made of numbers, such as a tensor's; names in a list are met everywhere."""
    leaves = [part for part in ast.walk(node) if not isinstance(part, ast.List | ast.Tuple | ast.expr_context)]
    plain = all(isinstance(part, ast.Constant | ast.UnaryOp | ast.unaryop) for part in leaves)
    return plain and any(isinstance(part, ast.Constant) and isinstance(part.value, int | float) for part in leaves)


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


def _squeezed(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


# -- the search


def prove(files: Mapping[str, bytes], secrets: Sequence[Piece]) -> None:
    """Search the files of a copy.

    Args:
        files: by path.
        secrets: what must not be in them.

    Raises:
        LeakError: with each place where something was found.
    """
    problems = [
        f"{path}: this is to have sealed sentences and nothing else; make the copy anew"
        for path in sorted(files)
        if Path(path).name == MISTAKES and not is_sealed(files[path])
    ]
    if problems := problems + _leaks(files, secrets):
        raise LeakError(*problems)


def prove_sentences(path: str, sentences: Sequence[str], secrets: Sequence[Piece]) -> None:
    """Search sentences that are sealed later, as if they stood in the copy: there they could not be searched.

    Raises:
        LeakError: one of them has what only staff may have, besides being the text of a wrong answer.
    """
    others = [piece for piece in secrets if (piece.kind, piece.source) != (Kind.TEXT, Source.WRONG)]
    if problems := _leaks({path: "\n".join(sentences).encode()}, others):
        raise LeakError(*(f"{problem}; it is to be sealed, and read by who makes that mistake" for problem in problems))


def _leaks(files: Mapping[str, bytes], secrets: Sequence[Piece]) -> list[str]:
    """Each line of the files that has a piece, with its place."""
    problems = [found for path in sorted(files) for found in _canaries(path, files[path], secrets)]
    targets = [(Path(path), _streams(path, files[path])) for path in sorted(files)]
    starts = [{text[at : at + _SHORTEST] for text, _ in streams for at in range(len(text))} for _, streams in targets]
    # Nearly no piece is anywhere: one look into a set tells that, and only the rest is searched for in each file.
    there = set[str]().union(*starts)
    suspects = [piece for piece in secrets if piece.kind is not Kind.CANARY and any(piece.windows(there))]
    for (path, streams), mine in zip(targets, starts, strict=True):
        found: dict[int, str] = {}
        for piece in (piece for piece in suspects if piece.is_leak(path)):
            windows = piece.windows(mine, whole=piece.kind is Kind.STATEMENT and not piece.is_near(path))
            places = ((_line_of(window, streams), window) for window in windows)
            line, window = next(((line, window) for line, window in places if line and line not in found), (0, ""))
            if line:
                what = f"{piece.kind.value} of {piece.source.value} stands here: {window[:_EXCERPT]} ({piece.where})"
                found[line] = f"{path.as_posix()}:{line}: {what}; take it out here, or change it there"
        problems += found.values()
    return problems


def _canaries(path: str, data: bytes, secrets: Sequence[Piece]) -> Iterator[str]:
    for piece in secrets:
        if piece.kind is Kind.CANARY and piece.text in path:
            yield f"{path}: its name has the canary of {piece.where}"
        elif piece.kind is Kind.CANARY and (at := data.find(piece.text.encode())) >= 0:
            line = data.count(b"\n", 0, at) + 1
            yield f"{path}:{line}: has the canary of {piece.where}"


_Stream = tuple[str, Sequence[int]]
"""A text without white space, and the number of the line of each of its characters."""


def _streams(path: str, data: bytes) -> list[_Stream]:
    """A file's text, read in several ways."""
    plain = list(enumerate(data.decode("utf-8", "replace").splitlines(), 1))
    quoted = [(number, _MARKS.sub("", line)) for number, line in plain]
    readings = [plain, quoted, [(number, _COMMENT.sub("", line)) for number, line in quoted]]
    if path.endswith((".yaml", NOTEBOOK)):  # of JSON the same can be asked
        # The texts as they are read: on the disk they may be wrapped, and signs escaped.
        scalars = (each for each in yaml.scan(data, yaml.SafeLoader) if isinstance(each, yaml.ScalarToken))
        readings.append([(scalar.start_mark.line + 1, scalar.value) for scalar in scalars])
    lines = [[(number, _squeezed(line)) for number, line in reading] for reading in readings]
    return [("".join(text for _, text in rows), [number for number, text in rows for _ in text]) for rows in lines]


def _line_of(window: str, streams: Sequence[_Stream]) -> int:
    """The line of a text; 0 if it is not there."""
    return next((lines[text.find(window)] for text, lines in streams if window in text), 0)
