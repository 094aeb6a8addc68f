"""What student code raised, as its worker says: read, raised again as a plain builtin type, and put into words.

All of it is untrusted. The text of a line is taken from the submitted files, never from the worker
(`check_process.submitted_lines`).
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from grader.model import Verdict
from grader.model.endings import CheckFailed, NotUsable, WorkerLost
from grader.model.public_text import Public, say
from grader.model.unparsed import UNRESOLVED, carets, unresolved_merge_line
from grader.wire.frames import ProtocolError, expect, is_index

_NO_MEMORY = re.compile(r"can't allocate memory|not enough memory|Unable to allocate|out of memory", re.IGNORECASE)
_ARGUMENTS = re.compile(r"takes .*argument|missing .*argument|unexpected keyword|multiple values for")
_MOST_FRAMES = 50
_MOST_TEXT = 2100
_MOST_NAME = 300
_SHOWN_FRAMES = 3
_LONGEST = 400
_LONGEST_LINE = 200
_SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
_WRONG = "an exception is described wrongly"


class TracebackLine(NamedTuple):
    """One line of student code in the traceback of an exception.

    An example is `TracebackLine("double.py", 3, "double", "    return y")`, of which `double` is the function.
    """

    file: str
    line: int
    function: str
    text: str


@dataclass(frozen=True)
class Raised:
    """An exception of student code.

    Attributes:
        type: class name.
        builtin: name of the nearest builtin type.
        text: its message.
        lines: in the submission's own files, outermost first.
        absent: the package that an import did not find, if the exercise is solved without it; else "".
        caret: the first and the last column that a SyntaxError marks in the line, from 1; None for other exceptions.
        signature: the signature of a function that refused its arguments, or "".
        statement: the source of an assertion that failed in a probe, or "".
        what: the name in messages of what was called, such as "your `total`".
        owner: the owner of the code in messages: "your" or "the reference's".
        expected: a sentence that says which other error was expected, or None.
    """

    type: str
    builtin: str
    text: str
    lines: tuple[TracebackLine, ...]
    signature: str
    statement: str
    what: str
    owner: str
    expected: Public | None = None
    caret: tuple[int, int] | None = None
    absent: str = ""

    @classmethod
    def read(cls, row: Any, what: str, owner: str) -> Raised:
        """Read a worker's description of an exception.

        Each text is cut to the length that a message has room for.

        Args:
            row: the description as the worker sent it; untrusted.
            what: the name of the request in messages.
            owner: the owner of the code in messages: "your" or "the reference's".

        Raises:
            ProtocolError: the description has a wrong form.
        """
        expect(type(row) is dict, _WRONG)
        # It is raised again as this type, so it must be one of Python's.
        builtin = getattr(builtins, str(row.get("builtin")), None)
        expect(isinstance(builtin, type) and issubclass(builtin, BaseException), _WRONG)
        kind, text, statement = (str(row.get(key) or "")[:_MOST_TEXT] for key in ("type", "text", "statement"))
        signature, marks, name = str(row.get("signature") or "")[:_MOST_NAME], row.get("caret"), str(row["builtin"])
        are_columns = type(marks) is list and len(marks) == 2 and all(is_index(mark, _LONGEST_LINE) for mark in marks)
        caret = (marks[0], marks[1]) if are_columns else None
        absent = str(row.get("absent") or "")[:_MOST_NAME]
        lines = read_traceback(row)
        return cls(kind, name, text, lines, signature, statement, what, owner, caret=caret, absent=absent)


def read_traceback(row: Any) -> tuple[TracebackLine, ...]:
    """Return the lines of student code in an exception's traceback.

    Args:
        row: the worker's description of the exception, such as
            `{"lines": [["double.py", 3, "double", "    return y"]]}`; untrusted.

    Raises:
        ProtocolError: the lines in it have a wrong form.
    """
    rows = row.get("lines") if isinstance(row, dict) else None
    expect(isinstance(rows, list) and len(rows) <= _MOST_FRAMES, _WRONG)
    return tuple(_read_line(each) for each in rows or ())


def _read_line(row: Any) -> TracebackLine:
    match row:
        case [str(file), int(line), str(function), str(text)]:
            return TracebackLine(file[:_MOST_NAME], line, function[:_MOST_NAME], text[:_MOST_TEXT])
    raise ProtocolError(_WRONG)


def raised_by_student(error: BaseException) -> Raised | None:
    """Return the `Raised` of an exception that student code raised; None for any other exception."""
    raised = error.__dict__.get("_raised")
    return raised if isinstance(raised, Raised) else None


def note_expected_error(error: BaseException, expected: Public) -> None:
    """Record in an exception of student code which error the check expected instead."""
    if (raised := raised_by_student(error)) is not None:
        error.__dict__["_raised"] = replace(raised, expected=expected)


def exception_of(raised: Raised) -> BaseException:
    """Return an exception of student code as its nearest builtin type, for a check to raise.

    If a student's class derives from `ValueError`, its exception becomes a `ValueError` with the same text. A failed
    assertion in a probe becomes `CheckFailed`; an exceeded limit of memory or processes becomes `WorkerLost`.
    """
    # An exceeded limit is not an exception of the student's: WorkerLost derives from BaseException, so that a check
    # which expects a RuntimeError does not accept it.
    if (raised.type == "BlockingIOError" and "[Errno 11]" in raised.text) or "can't start new thread" in raised.text:
        text = say("{} started more processes or threads than the exercise allows", raised.what)
        return WorkerLost(Verdict.OVER_LIMIT, text)
    if raised.type == "MemoryError" or (raised.type == "RuntimeError" and _NO_MEMORY.search(raised.text)):
        return WorkerLost(Verdict.OVER_LIMIT, say("{} needed more memory than the exercise allows", raised.what))
    error: BaseException
    if raised.statement:  # an assertion that fails in a probe fails the check, with its message
        error = CheckFailed(raised.text or say("this does not hold: {}", raised.statement))
    else:
        kind: type[BaseException] = getattr(builtins, raised.builtin)
        if not issubclass(kind, Exception):  # SystemExit and its kin must not end a check
            kind = RuntimeError
        try:
            error = kind(raised.text)
        except TypeError:  # such as UnicodeDecodeError, which takes five arguments
            error = next(base for base in kind.__mro__ if base in (ValueError, OSError, Exception))(raised.text)
    error.__dict__["_raised"] = raised
    return error


def error_text(raised: Raised) -> str:
    """Return an exception's type and text as Python writes them.

    An example is "IndexError: list index out of range". A long text is cut, such as PyTorch's list of overloads. A hint
    follows if `^` was meant as a power.
    """
    text = raised.text if len(raised.text) <= _LONGEST else f"{raised.text[:_LONGEST]} ..."
    if raised.type == "NotImplementedError" and "bitwise_xor" in raised.text:
        text += "\nin Python `^` is the exclusive or, not a power; a power is `**`"
    return f"{raised.type}: {text}" if text else raised.type


def debugger_hint(raised: Raised, what: str) -> Public | None:
    """Return a sentence about a breakpoint or an `input()` that a student left in the code.

    An example is "your `total` stops at a breakpoint; remove it, because no one can type while it is graded". Return
    None for any other exception.
    """
    if raised.type == "BdbQuit":
        return say("{} stops at a breakpoint; remove it, because no one can type while it is graded", what)
    if raised.type == "EOFError" and "EOF when reading a line" in raised.text:
        return say("{} waits for `input()`; remove it, because no one can type while it is graded", what)
    return None


def refuses_arguments(raised: Raised) -> bool:
    """Return whether a call failed because the student's function takes other arguments.

    That is so for "total() takes 1 positional argument but 2 were given", unless a line of student code raised it.
    """
    return bool(raised.signature) and not raised.lines and _ARGUMENTS.search(raised.text) is not None


def shown_lines(lines: Sequence[TracebackLine], folder: str = "") -> list[str]:
    """Return the innermost lines of student code in a traceback, as a message shows them.

    For one line, in the folder `02_tensors`, they are:

        02_tensors/double.py, line 3, in double
            return y

    At most three lines of code are shown.

    Args:
        lines: the lines, outermost first.
        folder: the folder of the files, as the student types it; "" if that is unknown.
    """
    before = "" if folder in ("", ".") else f"{folder}/"
    texts = []
    # A recursion passes the same line many times; it is shown once.
    places = {(line.file, line.line): line for line in lines}
    for file, line, function, text in list(places.values())[-_SHOWN_FRAMES:]:
        inside = f", in {function}" if function and function != "<module>" else ""
        texts += [f"    {before}{file}, line {line}{inside}", *([f"        {text.strip()}"] if text.strip() else [])]
    return texts


def load_error(module: str, raised: Raised, folder: str, source: bytes = b"", *, before: bool) -> NotUsable:
    """Return the `NotUsable` that checks raise if the module does not load.

    Its message is "your double.py does not load: NameError: name 'y' is not defined", for example, with lines of the
    traceback.

    Args:
        module: the name of the module.
        raised: the exception that it raised.
        folder: the folder of the files, as the student types it; "" if that is unknown.
        source: the content of the file in which the exception was raised.
        before: True if the module loaded without an exception earlier.
    """
    what = f"your {module}.py"
    head = debugger_hint(raised, what) or f"{what} does not load: {error_text(raised)}"
    if raised.builtin == "SystemExit":
        head = f"{what} ends itself while it loads, by exit(), sys.exit() or SystemExit; remove that call"
    if raised.builtin in _SYNTAX_ERRORS and unresolved_merge_line(source):
        head = f"{what} does not load: {UNRESOLVED}"
    below = carets(raised.lines[-1].text.rstrip("\n"), *raised.caret) if raised.caret and raised.lines else []
    story = "\n".join([head, *shown_lines(raised.lines, folder), *below])
    # The reason may be shown in full, as no hidden input is known yet; if the file has loaded before, one may be.
    if before:
        return NotUsable(say("{} loaded once, but does not load again", what), story, at_load=False)
    return NotUsable(story)
