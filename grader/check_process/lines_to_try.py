"""Lines that a student can run, and whether they show what is wrong.

What a student is to try has been tried: lines that would show nothing wrong are not printed. Those of a shown check are
run for the student and for the reference, and must print something else. In a copy without the reference, the check is
run again with arguments made anew from their text, as the student will make them, and must fail as it did; it must look
at what its calls return, and not at what becomes of their arguments. For a hidden check the author's example is run, in
a worker that knows no hidden input, and for the reference as well.

For `grade try` these lines are run, and what they print is shown.
"""

from __future__ import annotations

import ast
import re
from contextlib import closing
from dataclasses import replace

from grader.check_process.judge import AS_THEY_WERE
from grader.check_process.reproduce import MOST_CALLS, calls_as_lines
from grader.check_process.run_check import PlannedRun
from grader.check_process.value_source import rebuild_from_source
from grader.connection.connection import Connection, proxy_of_name
from grader.connection.record import Record
from grader.model import Check, DeviceKind, Outcome, Verdict
from grader.model.check import EXAMPLE_TO_TRY
from grader.model.endings import WorkerLost

_PRINTED = ("signature", "raised", "kind", "shape", "dtype", "device", "values")
"""What `print` shows. Sharing of memory, writes and times are seen in other ways."""

_ON_RANKS = "(called on {} ranks at once: to see it in plain Python, start a process for each, as torchrun does)"
_RAISED, _LOST = "raised: ", "lost: "
_COSTS = ("performance", "memory")
_PROGRAM, _PROBE = "run_program", "the probe `run_program`"
_CALL_S = 1.0
_MOST_KNOWN = 500
_LONGEST = 4000
_SHORT = 60
_VARIES = re.compile(r" at 0x[0-9a-f]+|\w+Backward\w*")
_DIGITS = re.compile(r"(\d\.\d{5})\d+")


class Reproducer:
    """Runs the lines that a message suggests to try, in fresh workers. Open it for a session, close it after a job."""

    def __init__(self) -> None:
        self._references: dict[tuple[str, str, DeviceKind, str], str] = {}
        self._fresh: dict[int, Connection] = {}

    def add_lines_to_try(self, outcome: Outcome, planned: PlannedRun, student: Connection) -> Outcome:
        """Return the outcome, with lines for the student to try if they show the mistake.

        The message of the outcome has the lines. The lines are the last calls of the check, or for a hidden check the
        example that its author wrote. An example that cannot be tried is added, too.

        Args:
            outcome: the outcome of the check.
            planned: the check, ready to run again.
            student: the connection to the student's code.
        """
        check = planned.row.check
        if not check.shown:
            shows = bool(check.try_this) and self._example_differs(check, outcome, student)
            return _with_text(outcome, _example_text(check.try_this)) if shows else outcome
        stub = outcome.verdict is Verdict.SKIPPED and outcome.cause == "raised"
        seen = outcome.verdict in (Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED) and student.record.lost is None
        if stub or not seen or outcome.cause not in _PRINTED:
            return outcome
        sent = student.record.sent
        if (ranks := max((call.ranks for call in sent), default=1)) > 1:
            # No line of plain Python makes a call on several ranks: it needs a process for each.
            return _with_text(outcome, _ON_RANKS.format(ranks))
        calls = [call.read() for call in sent[-MOST_CALLS:]]
        changes = bool(student.record.changes)
        lines = calls_as_lines(student.module, calls, student.folder, student.device, changes=changes)
        shows = lines is not None and self._lines_show_failure(lines.calls, outcome, student, planned)
        return _with_text(outcome, f"\n{lines.text}") if lines is not None and shows else outcome

    def _lines_show_failure(self, lines: str, outcome: Outcome, student: Connection, planned: PlannedRun) -> bool:
        """Return whether lines print other text with the student's code than with the reference.

        Return False if the output depends on a seed, or if the lines raise an exception with the reference that the
        outcome does not name. Without a reference, they must raise no such exception with the student's code, and the
        check must fail with the same message when its arguments are rebuilt from Python source.
        """
        # A worker that ran nothing else, as the lines will be run; for the repeat it is new enough.
        with closing(student.with_new_worker()) as own:
            got = _run_lines(own, lines)
            if _lacks_package(student, got):
                return False  # where the student types them, the package is there
            # What is drawn at random says nothing of what is wrong. The same worker draws again, from another seed.
            if _run_lines(own, lines, seed=1) != got:
                return False
            if student.reference is None:
                expected = not student.record.watched and _raised_nothing_unexpected(got, outcome)
                return expected and _fails_from_source(own, outcome, planned)
        right = self._reference_output(student.reference, outcome.check, lines)
        return _raised_nothing_unexpected(right, outcome) and right != got

    def _reference_output(self, reference: Connection, check: str, lines: str) -> str:
        """Return what lines print with the reference; outputs are cached for later submissions."""
        key = reference.module, check, reference.device, lines
        if key not in self._references:
            if len(self._references) >= _MOST_KNOWN:
                self._references.clear()
            self._references[key] = _run_lines(self._fresh_connection(reference), lines)
        return self._references[key]

    def _fresh_connection(self, connection: Connection) -> Connection:
        """Return a connection whose worker has seen no input of a check.

        The same connection serves all lines of a job.
        """
        if id(connection) not in self._fresh:
            self._fresh[id(connection)] = connection.with_new_worker()
        return self._fresh[id(connection)]

    def _example_differs(self, check: Check, outcome: Outcome, student: Connection) -> bool:
        """Return whether an example prints other lines for the student than for the reference.

        The example is that of a hidden check. Also return True if the example cannot be tried, as the student's worker
        was lost or there is no reference. Return False if it is advice on costs, and the student's code raised.
        """
        if outcome.cause in ("", "load") or _is_advice_on_costs(check, outcome):
            return False
        lost = outcome.verdict in (Verdict.TIMED_OUT, Verdict.OVER_LIMIT) or student.record.lost is not None
        if lost or student.reference is None or not _is_python(check.try_this):
            return True  # nothing can be tried
        text = _as_lines(check.try_this)
        # In a worker that has met no hidden input, so that what comes of it says nothing of one.
        got = _run_lines(self._fresh_connection(student), text)
        return not _lacks_package(student, got) and got != self._reference_output(student.reference, check.id, text)

    def close(self) -> None:
        """Close the connections to the workers of this job."""
        for connection in self._fresh.values():
            connection.close()
        self._fresh.clear()


def _fails_from_source(fresh: Connection, outcome: Outcome, planned: PlannedRun) -> bool:
    """Return whether a check fails with the same message if its arguments are rebuilt from Python source."""
    again = planned.run(fresh, rewrite=rebuild_from_source).outcome
    return (again.verdict, again.message) == (outcome.verdict, outcome.message.replace(f"\n{AS_THEY_WERE}", ""))


def _with_text(outcome: Outcome, text: str) -> Outcome:
    return replace(outcome, message=f"{outcome.message}\n{text}")


def _example_text(text: str) -> str:
    # Code on a line of its own is not broken where it is shown, and runs as it stands.
    between = "\n    " if len(text) > _SHORT and _is_python(text) else " "
    return f"{EXAMPLE_TO_TRY}{between}{text}"


def _is_advice_on_costs(check: Check, outcome: Outcome) -> bool:
    """Return whether an example only says where costs come from, but a crash came before any cost was measured.

    Whoever reads "look for a `for`" below a RuntimeError looks for a loop that is not there.
    """
    return outcome.verdict is Verdict.CRASHED and check.category in _COSTS and not _is_python(check.try_this)


def _is_python(text: str) -> bool:
    """Return whether an example is code with at least one call, and not advice in words.

    "total(x)" is code.
    """
    try:
        tree = ast.parse(_as_lines(text))
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.Call) for node in ast.walk(tree))


def _as_lines(text: str) -> str:
    return text.replace(", and ", ", ")


def _raised_nothing_unexpected(printed: str, outcome: Outcome) -> bool:
    """Return whether lines raised nothing, or only an exception that the message of the outcome names."""
    return not printed.startswith((_RAISED, _LOST)) or printed.removeprefix(_RAISED) in outcome.message


def _lacks_package(connection: Connection, printed: str) -> bool:
    """Return whether lines could not import a module, in an exercise that forbids packages."""
    return bool(connection.without) and printed == f"{_RAISED}ModuleNotFoundError"


def _run_lines(connection: Connection, lines: str, seed: int = 0) -> str:
    """Run lines of Python, and return what they print.

    If they fail, return how: "raised: ValueError" or "lost: timed_out".

    Args:
        connection: the connection to the worker that runs them.
        lines: the lines, in Python.
        seed: the seed of the generators that student code draws from.
    """
    limits = connection.limits
    connection.begin_check(Record(seed=seed), replace(limits, call_s=min(_CALL_S, limits.call_s)))
    try:
        printed = proxy_of_name(connection, "run_snippet", "")(connection.module, lines)
    except WorkerLost as lost:
        return f"{_LOST}{lost.verdict}"
    except Exception as error:  # any exception of student code
        return f"{_RAISED}{type(error).__name__}"
    finally:
        connection.begin_check(Record(), limits)
    return _DIGITS.sub(r"\1", _VARIES.sub("", str(printed)[:_LONGEST]))


def run_typed_lines(check: Check, student: Connection, lines: str) -> Outcome:
    """Run a student's own lines in a fresh worker, and return what they print.

    It is the message of the outcome.

    Args:
        check: the check in whose place they run.
        student: the connection to the student.
        lines: the lines as the student typed them.
    """
    outcome = Outcome(check.id, Verdict.NOT_RUN, device=student.device)
    try:
        with closing(student.with_new_worker()) as fresh:
            fresh.begin_check(Record())
            printed = proxy_of_name(fresh, _PROGRAM, "")(lines)
    except WorkerLost as lost:  # who typed the lines knows of no probe
        return replace(
            outcome,
            verdict=lost.verdict,
            message=lost.message.replace(_PROBE, "these lines").replace("before it returned ", ""),
        )
    return replace(outcome, message=printed if isinstance(printed, str) else "")
