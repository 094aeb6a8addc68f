"""What a hidden check may say: only words that are known before any submission is; and what it says of an exception.

A public text is a template of ours with words (`model.public_text`), or a text of the check's author. Each word must
belong to a closed set, or stand in the check's own file, as a literal or as an f-string whose fields hold such words.
Student code, in any answer, can only choose which of these few texts is shown.

Where student code raised an exception, a hidden check shows the line of the student's own file and the text of the
exception, as far as both come from a small set that is known before the run: a statement of a short file, and a text of
Python's or PyTorch's without its numbers.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.check import show
from grader.check.costs import ESCAPES
from grader.check.text import words_of
from grader.connection.connection import Connection
from grader.connection.raised import Line, Raised, left_over, refuses_arguments, shown, shown_lines
from grader.connection.student import not_run
from grader.model import Limits, Verdict
from grader.model.public_text import Key, Limit, Public, say
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
    *(f"torch.{name}" for name in DTYPES),
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
    """What the checks of a file may say of hidden inputs.

    Args:
        texts: of the check file and of probe files.
        names: further names that are known beforehand, such as the exercise's id.
        limits: of the exercise.
    """

    def __init__(self, texts: Sequence[str], names: Iterable[str] = (), limits: Limits | None = None) -> None:
        trees = [ast.parse(text) for text in texts]
        constants = {name: value for tree in trees for name, value in _constants(tree)}
        nodes = [node for tree in trees for node in ast.walk(tree)]
        values = [node.value for node in nodes if isinstance(node, ast.Constant)]
        self._literals = {value for value in values if isinstance(value, str)}
        self._keys = {Key(value) for value in values}
        # An assertion of a probe is shown as the line where it begins.
        for text, tree in zip(texts, trees, strict=True):
            lines = text.encode("utf-8", "replace").splitlines()  # of bytes, whose lines are those of the parser
            asserts = (node for node in ast.walk(tree) if isinstance(node, ast.Assert))
            self._literals |= {lines[node.lineno - 1].decode("utf-8", "replace").strip() for node in asserts}
        self._numbers = {form for value in values if isinstance(value, (int, float)) for form in _written(value)}
        if limits is not None:
            known = (*vars(limits).values(), limits.output_kb / 1024)
            self._numbers |= {form for value in known for form in _written(value)}
        self._names = {*names, *(text for text in self._literals if text.isidentifier())}
        self._names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        self._names |= {node.id for node in nodes if isinstance(node, ast.Name)}
        self._forms = [_form(node, constants) for node in nodes if isinstance(node, ast.JoinedStr)]

    def shown(self, text: str) -> str | None:
        """The text as a student may read it; None if a word of it is not known beforehand."""
        if not isinstance(text, Public):
            return text if self._knows(text) else None
        words = [self._word(word) for word in text.words]
        return None if None in words else text.template.format(*words)

    def _word(self, word: str) -> str | None:
        # A limit, or a key, that a check computed from its inputs could reveal them.
        if isinstance(word, Limit):
            return str(word) if str(word) in self._numbers else _ALLOWED
        if isinstance(word, Key):
            return str(word) if str(word) in self._keys else "a key"
        return self.shown(word)

    def _knows(self, text: str, depth: int = 0) -> bool:
        if text in _CLOSED or text in self._literals:
            return True
        if owned := _OWNED.fullmatch(text):
            return all(part in self._names for part in (owned[1] or owned[2]).split("."))
        if text in self._names or ((kind := _WITH_ARTICLE.fullmatch(text)) and kind[1] in self._names):
            return True
        if item := _ITEM.fullmatch(text):
            key, whole = item[2] or item[3], item[1] or item[4]
            known = key.isdigit() or key.strip("'") in self._literals
            return known and self._knows(whole, depth)
        if depth == _DEPTH:
            return False
        fits = filter(None, (form.fullmatch(text) for form in self._forms))
        return any(all(self._knows(field, depth + 1) for field in match.groups()) for match in fits)


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names in capitals that a module gives a plain value once, as an f-string writes it."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str() | int() | float() as value)):
                if name.isupper():
                    yield name, str(value)


def _form(node: ast.JoinedStr, constants: Mapping[str, str]) -> re.Pattern[str]:
    """The pattern of an f-string, with a group for each field."""
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


def _written(value: float | int | None) -> set[str]:
    """A number as a limit is written."""
    return set() if value is None or isinstance(value, bool) else {f"{value:,}", f"{value:g}", str(value)}


# -- student code raised an exception ----------------------------------------------------------------------------------

_DISK_FULL = re.compile(r"\[Errno (27|28|122)\]")  # EFBIG, ENOSPC, EDQUOT
_NO_NAME = re.compile(r"name '(\w+)' is not defined")
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
    # A stub as it was given out. It loses the points, but is not a crash. PyTorch raises such errors, too, and so may a
    # function that has given a value before.
    is_new = raised.what not in student.answered
    last = raised.lines[-1] if raised.type == "NotImplementedError" and raised.lines and is_new else None
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
    if raised.type == "NameError" and (missing := _NO_NAME.match(raised.text)):
        lines += [f"    {where}" for where in [not_run(student, missing[1])] if where]
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


_KNOWN_ERRORS = Path(__file__).with_name("known_errors.txt")
_TYPES = ("Tensor", "NoneType", "int", "float", "list", "tuple", "function", "torch")
_MOST_NAMES = 12
"""A line with more names could tell a hidden number by the one that stands in the text."""

_MARKS = re.compile(r"[*@]")
_PARTS = {
    r"\#": r"(?:\(?-?\d+(?:x\d+)*\)?|[\[(][-\d, ]*[\])])",
    r"\*": r"([\w.:]+(?: int| char)?|[-+*/@%&|^<>=]+)",
    "@": r"(\w+)",
}
_NO_MARK = re.compile(r"(?:name|variable|attribute|argument) '\w+'|reshape\(\.\.\.\)")
_MORE = re.compile(r"\. Did you mean: '\w+'\?$| \(when checking argument in method \w+\)$")


def known_error(text: str, line: str) -> str:
    """The text of an exception as a hidden check shows it; "" if it is not a known one.

    Student code may raise any exception with any text, so there are few texts to choose from.

    Args:
        text: of the exception, from the worker.
        line: of the student's file, which is shown below it.
    """
    names = set(re.findall(r"\w+", line))
    names = names if len(names) <= _MOST_NAMES else set()
    for template, pattern in _error_patterns():
        if match := pattern.fullmatch(_MORE.sub("", text.strip())):
            kinds = list(_TYPES)
            words = []
            for mark, word in zip(_MARKS.findall(template), match.groups(), strict=True):
                known = word in (names if mark == "@" else kinds)
                kinds = [] if known and mark == "*" else kinds
                words.append(word if known else "...")
            first, *rest = _MARKS.split(template.replace("#", "N"))
            return first + "".join(map("".join, zip(words, rest, strict=True)))
    return ""


def left_out(known: str) -> list[str]:
    """The line that explains the marks in a known error of a hidden check; none if it has none."""
    text = _NO_MARK.sub("", known)
    number, word = re.search(r"(?<!\w)N(?!\w)", text) is not None, "..." in text
    line = {
        (True, True): "(N and ... stand for numbers and words that a hidden check leaves out)",
        (True, False): "(N stands for numbers that a hidden check leaves out)",
        (False, True): "(... stands for a word that a hidden check leaves out)",
    }.get((number, word))
    return [line] if line else []


@functools.cache
def _error_patterns() -> Sequence[tuple[str, re.Pattern[str]]]:
    _, texts = _KNOWN_ERRORS.read_text(encoding="utf-8").split("\n\n")
    marks = re.compile("|".join(map(re.escape, _PARTS)))
    return [(each, re.compile(marks.sub(lambda mark: _PARTS[mark[0]], re.escape(each)))) for each in texts.splitlines()]


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
_read_once = functools.lru_cache(maxsize=8)


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
