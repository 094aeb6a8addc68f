"""What a check says of an exception that student code raised: its verdict and its texts.

A hidden check shows the line of the student's own file and the text of the exception, as far as both come from a small
set that is known before the run: a statement of a short file, and a text of Python's or PyTorch's without its numbers.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.check_process.hidden_words import ERRORS
from grader.check_process.submitted_lines import is_stub_line, lines_of, statement_spans, undefined_names
from grader.connection.connection import Connection
from grader.connection.raised import Raised, TracebackLine, debugger_hint, error_text, refuses_arguments, shown_lines
from grader.connection.student import unrun_assignment_text
from grader.model import Verdict
from grader.model.public_text import say

_DISK_FULL = re.compile(r"\[Errno (27|28|122)\]")  # EFBIG, ENOSPC, EDQUOT
_NO_NAME = re.compile(r"name '(\w+)' is not defined")
_MOST_STATEMENTS = 32
"""A file with more statements in its functions could reveal a hidden number by the line in which it raises."""


@dataclass(frozen=True)
class Reason:
    """The reason why a check ended.

    Attributes:
        verdict: the verdict of the check.
        public: the reason, in words that reveal no hidden input.
        story: the same with numbers.
        student_error_text: the line that raised and the text of the exception, as a hidden check shows them behind the
            public text: both come from a small set that is known.
        unreadable: True if nothing of the submission ran, so that no rule was examined.
        at_load: True if the public text was known before any hidden input was, so that it is shown in full.
        from_text: True if it follows from the text of the submission alone.
    """

    verdict: Verdict
    public: str = ""
    story: str = ""
    student_error_text: str = ""
    unreadable: bool = False
    at_load: bool = False
    from_text: bool = False


def reason_of_student_error(raised: Raised, student: Connection) -> Reason:
    """Return the `Reason` for an exception that student code raised.

    For a ValueError in `total`, the verdict is `CRASHED`, and the public text is "your `total` raised ValueError". A
    stub that raises NotImplementedError is skipped.
    """
    lines = shown_lines(raised.lines, student.folder)
    # A stub as it was given out. It loses the points, but is not a crash. PyTorch raises such errors, too, and so may a
    # function that has given a value before.
    is_new = raised.what not in student.answered
    last = raised.lines[-1] if raised.type == "NotImplementedError" and raised.lines and is_new else None
    if last is not None and is_stub_line(student.files.get(last[0], b""), last[1]):
        public = say("{} is not written yet (it raises NotImplementedError)", raised.what)
        return Reason(Verdict.SKIPPED, public, "\n".join([public, *lines]))
    if (public_left := debugger_hint(raised, raised.what)) is not None:
        return Reason(Verdict.CRASHED, public_left, "\n".join([public_left, *lines]))
    # The nearest builtin type only: a class of the student's own could carry the hidden input in its name.
    kind = raised.builtin if raised.builtin in ERRORS else "an exception of another kind"
    public = say("{} raised {}", raised.what, kind)
    story = f"{raised.what} raised {error_text(raised)}"
    place = public_lines(raised.lines, student)
    text = known_error_text(raised.text, "".join(line.text for line in place))
    if raised.type == "NameError" and (missing := _NO_NAME.match(raised.text)):
        names = undefined_names(student.files.get(f"{student.module}.py", b""))
        # So few that none can carry a hidden number.
        if missing[1] in names and len(names) <= _MOST_NAMES:
            text = f"name '{missing[1]}' is not defined"
    known = f": {text}" if text else ""
    if raised.expected is not None:
        known = f"\n{kind}{known}" if text else ""
        public = say("{}; {}", public, raised.expected)
        story = f"{raised.what} raised {raised.type}; {raised.expected}\n{error_text(raised)}"
    if raised.builtin == "OSError" and _DISK_FULL.search(raised.text):
        full = say("{} wrote more into files than is allowed", raised.what)
        return Reason(Verdict.OVER_LIMIT, full, f"{full} ({raised.text})")
    if raised.type == "SystemExit":
        public, known = say("{} called exit() or sys.exit()", raised.what), ""
        story = str(public)
    if refuses_arguments(raised):  # a worker's free text: for shown checks and staff only
        lines = [f"    your function is {raised.what.split('`')[1]}{raised.signature}; keep the starter's parameters"]
    if raised.type == "NameError" and (missing := _NO_NAME.match(raised.text)):
        lines += [f"    {where}" for where in [unrun_assignment_text(student, missing[1])] if where]
    after = [known, *shown_lines(place, student.folder), *placeholders_note(known)]
    return Reason(Verdict.CRASHED, public, "\n".join([story, *lines]), "\n".join(after))


def public_line_text(lines: Sequence[TracebackLine], student: Connection) -> str:
    """Return the line of `public_lines` as the end of a message; "" without a line.

    For example, "double.py, line 5" on a line of its own, and the text of line 5 on the next.
    """
    return "\n".join(["", *shown_lines(public_lines(lines, student), student.folder)])


def public_lines(lines: Sequence[TracebackLine], student: Connection) -> list[TracebackLine]:
    """Return the line of the student's file that a hidden check may show, in a list.

    It is the first line of a statement: the one that contains the traceback's innermost line in this file. The list is
    empty if the traceback has no such line, or if the file has more than `_MOST_STATEMENTS` statements. Student code
    chooses where it raises, so in a large file the line could carry a hidden input.
    """
    file = f"{student.module}.py"
    content = student.files.get(file, b"")
    starts = statement_spans(content)
    if not 0 < len(starts) <= _MOST_STATEMENTS:
        return []
    for line in reversed(lines):
        place = max((start for start, end in starts.items() if start <= line.line <= end), default=0)
        if line.file == file and place:
            return [TracebackLine(file, place, "", lines_of(content)[place - 1])]
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
_MORE = re.compile(r"\. Did you mean: '\w+'\?$| \(when checking argument in method \w+\)$| - got \(.*", re.DOTALL)


def known_error_text(text: str, line: str) -> str:
    """Return the text of an exception as a hidden check shows it, or "".

    Numbers are left out: "shapes cannot be multiplied (2x3 and 4x5)" ends with "(N and N)". Return "" if the text is
    not in `known_errors.txt`: student code may raise any exception with any text, so there are few texts to choose
    from.

    Args:
        text: the text of the exception, from the worker.
        line: the line of the student's file that is shown below it.
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


def placeholders_note(known: str) -> list[str]:
    """Return the line that explains "N" and "..." in a hidden check's text, in a list.

    The list is empty if the text has neither.
    """
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
    # A text in full says a name that the same text with `@` may have to leave out.
    in_full_first = sorted(texts.splitlines(), key=lambda each: _MARKS.search(each) is not None)
    return [(each, re.compile(marks.sub(lambda mark: _PARTS[mark[0]], re.escape(each)))) for each in in_full_first]
