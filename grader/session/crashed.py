"""Student code raised an exception: the verdict, and what its author reads; of a hidden check as well.

A hidden check shows the line of the student's own file and the text of the exception, as far as both come from a small
set that is known before the run: a statement of a short file, and a text of Python's or PyTorch's without its numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grader.connection.connection import Connection
from grader.connection.raised import Line, Raised, left_over, refuses_arguments, shown, shown_lines
from grader.model import Verdict
from grader.model.public import say
from grader.session.words import ERRORS, known_error, left_out

_DISK_FULL = re.compile(r"\[Errno (27|28|122)\]")  # EFBIG, ENOSPC, EDQUOT
_MOST_STATEMENTS = 32
"""A file with more statements in its functions could reveal a hidden number by the line in which it raises."""


@dataclass(frozen=True)
class Ground:
    """Why a check ended.

    Attributes:
        verdict: how it ended.
        public: why, in words that reveal no hidden input.
        story: the same with numbers.
        of_small_set: what a hidden check shows behind the public text: it comes from a small set that is known.
        unreadable: whether nothing of the submission ran, so that no rule was examined.
        at_load: whether the public text was known before any hidden input was, so that it is shown in full.
    """

    verdict: Verdict
    public: str = ""
    story: str = ""
    of_small_set: str = ""
    unreadable: bool = False
    at_load: bool = False


def student_raised(raised: Raised, student: Connection) -> Ground:
    """The verdict and the texts where student code raised an exception, whose lines exist in its files."""
    lines = shown_lines(raised.lines, student.folder)
    # A stub as it was given out. It loses the points, but is not a crash. PyTorch raises such errors, too.
    last = raised.lines[-1] if raised.type == "NotImplementedError" and raised.lines else None
    if last is not None and is_stub(student.files.get(last[0], b""), last[1]):
        public = say("{} is not written yet (it raises NotImplementedError)", raised.what)
        return Ground(Verdict.SKIPPED, public, "\n".join([public, *lines]))
    if (public_left := left_over(raised, raised.what)) is not None:
        return Ground(Verdict.CRASHED, public_left, "\n".join([public_left, *lines]))
    # The nearest builtin type only: a class of the student's own could carry the hidden input in its name.
    kind = raised.builtin if raised.builtin in ERRORS else "an exception of another kind"
    public = say("{} raised {}", raised.what, kind)
    story = f"{raised.what} raised {shown(raised)}"
    place = known_line(raised.lines, student)
    text = known_error(raised.text, "".join(line.text for line in place))
    known = f": {text}" if text else ""
    if raised.expected is not None:
        known = f"\n{kind}{known}" if text else ""
        public = say("{}; {}", public, raised.expected)
        story = f"{raised.what} raised {raised.type}; {raised.expected}\n{shown(raised)}"
    if raised.builtin == "OSError" and _DISK_FULL.search(raised.text):
        full = say("{} wrote more into files than is allowed", raised.what)
        return Ground(Verdict.OVER_LIMIT, full, f"{full} ({raised.text})")
    if raised.type == "SystemExit":
        public, known = say("{} called exit() or sys.exit()", raised.what), ""
        story = str(public)
    if refuses_arguments(raised):  # a worker's free text: for shown checks and staff only
        lines = [f"    your function is {raised.what.split('`')[1]}{raised.signature}; keep the starter's parameters"]
    after = [known, *shown_lines(place, student.folder), *left_out(known)]
    return Ground(Verdict.CRASHED, public, "\n".join([story, *lines]), "\n".join(after))


def where_known(lines: Sequence[Line], student: Connection) -> str:
    """The line of student code that a hidden check shows; "" without such a line."""
    return "\n".join(["", *shown_lines(known_line(lines, student), student.folder)])


def known_line(lines: Sequence[Line], student: Connection) -> list[Line]:
    """The innermost of these lines that a hidden check may show, if any: a statement of a function of a short file.

    Student code chooses where it raises, so there are at most `_MOST_STATEMENTS` lines to choose from.
    """
    file = f"{student.module}.py"
    content = student.files.get(file, b"")
    starts = _statements(content)
    if not 0 < len(starts) <= _MOST_STATEMENTS:
        return []
    for line in reversed(lines):
        place = max((start for start, end in starts.items() if start <= line.line <= end), default=0)
        if line.file == file and place:
            return [Line(file, place, "", lines_of(content)[place - 1])]
    return []


def existing(claimed: Iterable[Line], files: Mapping[str, bytes]) -> tuple[Line, ...]:
    """The lines that exist in the submitted files, with their text taken from there."""
    lines = []
    # A worker names its lines by number; their text comes from what was handed in, so that none can be made up.
    for file, number, function, _ in claimed:
        content = files.get(file, b"")
        if 0 < number <= len(lines_of(content)):
            name = function if _has_word(content, function) else ""
            lines.append(Line(file, number, name, lines_of(content)[number - 1]))
    return tuple(lines)


Function = ast.FunctionDef | ast.AsyncFunctionDef

# A file may have a million lines, and every check that fails needs some of them: it is read once.
_read_once = lru_cache(maxsize=8)


@_read_once
def text_of(content: bytes) -> str:
    """A file as text."""
    return content.decode("utf-8-sig", "replace")


@_read_once
def lines_of(content: bytes) -> Sequence[str]:
    """The lines of a file."""
    return text_of(content).splitlines()


@_read_once
def _has_word(content: bytes, word: str) -> bool:
    return bool(word) and re.search(rf"\b{re.escape(word)}\b", text_of(content)) is not None


def is_stub(content: bytes, line: int) -> bool:
    """Whether a line is a `raise NotImplementedError` that a function always comes to, as a starter has it."""
    return any(
        statement.lineno <= line <= (statement.end_lineno or 0)
        for function in _functions(content)
        for statement in function.body
        if isinstance(statement, ast.Raise) and statement.exc is not None
        if ast.unparse(statement.exc).split("(")[0] == "NotImplementedError"
    )


def may_lack_return(files: Mapping[str, bytes], names: Collection[str]) -> bool:
    """Whether one of these functions has no `return` that gives something."""
    called = [each for content in files.values() for each in _functions(content) if each.name in names]
    return any(not any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(each)) for each in called)


@_read_once
def _statements(content: bytes) -> Mapping[int, int]:
    """The first and the last line of each statement in functions; a compound one ends with its first line."""
    ends: dict[int, int] = {}
    for function in _functions(content):
        for node in ast.walk(function):
            if isinstance(node, ast.stmt) and node is not function:
                body = getattr(node, "body", None)
                ends[node.lineno] = max(node.lineno, body[0].lineno - 1 if body else node.end_lineno or 0)
    return ends


@_read_once
def _functions(content: bytes) -> Sequence[Function]:
    try:
        tree = ast.parse(text_of(content))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, Function)]
