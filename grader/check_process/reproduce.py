"""Lines that make the calls of a failing shown check again in plain Python, with the same arguments; and their proof.

Arguments keep their memory: a slice of a thousand zeros is written as that, and arguments that share memory still share
it. Arguments that cannot be written like this, such as large ones, have no lines.

What a student is to try has been tried: lines that would show nothing wrong are not printed. Those of a shown check are
run for the student and for the reference, and must print something else. In a copy without the reference, the check is
run again with arguments made anew from their text, as the student will make them, and must fail as it did; it must look
at what its calls return, and not at what becomes of their arguments. For a hidden check the author's example is run, in
a worker that knows no hidden input, and for the reference as well.

For `grade try` these lines are run, and what they print is shown. For `grade trace` a check is run, or lines of the
student's, to see what takes virtual time on a simulated accelerator.
That is what the worker says, and it decides nothing: it is drawn for the student whose code ran there.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch

from grader.check.costs import moments_of
from grader.check.show import WHOLE, as_source
from grader.check_process.judge import AS_THEY_WERE, Attempt
from grader.connection.connection import Connection, is_proxy, named
from grader.connection.raised import raised_by_student, shown
from grader.connection.record import Call, Record
from grader.model import Check, Device, Outcome, Verdict
from grader.model.check import EXAMPLE_TO_TRY, LINES_TO_TRY
from grader.model.endings import CheckFailed, NotUsable, WorkerLost
from grader.model.picture import Moment
from grader.wire.call import copies
from grader.wire.memory import place_of
from grader.wire.table import parts

_MOST_CALLS = 3
_PRINTED = ("signature", "raised", "kind", "shape", "dtype", "device", "values")
"""What `print` shows. Sharing of memory, writes and times are seen in other ways."""

_ON_RANKS = "(called on {} ranks at once: to see it in plain Python, start a process for each, as torchrun does)"
_IMPORTS = {"np": "import numpy as np", "torch": "import torch"}
_RAISED, _LOST = "raised: ", "lost: "
_CALL_S = 1.0
_MOST_KNOWN = 500
_LONGEST = 4000
_SHORT = 60
_LONG = 30
_NAMES = ("x", "y", "z")
_MADE = ("torch.", "np.")
_VARIES = re.compile(r" at 0x[0-9a-f]+|\w+Backward\w*")
_DIGITS = re.compile(r"(\d\.\d{5})\d+")


def written(values: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Text that makes these values again, with their memory.

    Returns:
        Lines that come first, for memory that several values share, and the texts of the values.

    Raises:
        ValueError: no short text makes them.
    """
    leaves = [each for each in parts(values) if isinstance(each, (torch.Tensor, np.ndarray)) and 0 not in each.shape]
    places = [place_of(leaf) for leaf in leaves]
    setup: list[str] = []
    memories: dict[tuple[int, int], str] = {}
    for leaf, place in zip(leaves, places, strict=True):
        overlapping = [other for other in places if other[0] < place[1] and place[0] < other[1]]
        if len(overlapping) == 1 and _has_its_strides(leaf):
            continue
        if isinstance(leaf, np.ndarray) or any(other != place for other in overlapping):
            raise ValueError("values of which one lies in a part of the memory of another have no text")
        if place not in memories:
            memories[place] = f"memory{len(memories) + 1 if memories else ''}"
            setup.append(f"{memories[place]} = {_memory_source(leaf)}")

    def window(tensor: torch.Tensor) -> str:
        name = memories.get(place_of(tensor)) if tensor.numel() else None
        return _window_source(tensor, name) if name else ""

    return setup, [as_source(value, window) for value in values]


def remade(*values: Any) -> tuple[Any, ...]:
    """The values made anew from their text, as a student makes them; those without text are copied, proxies stay."""
    try:
        setup, texts = written([value for value in values if not is_proxy(value)])
    except ValueError:
        return copies(*values)
    names: dict[str, Any] = {"torch": torch, "np": np}
    # Text of a check's values, none of a worker's.
    exec("\n".join(setup), names)  # noqa: S102
    made = (eval(each, names) for each in texts)  # noqa: S307
    return tuple(value if is_proxy(value) else next(made) for value in values)


def _has_its_strides(leaf: Any) -> bool:
    """Whether the text of a tensor or an array gives one with its strides, in memory that holds nothing else."""
    if isinstance(leaf, np.ndarray):
        return bool(leaf.flags.c_contiguous or leaf.flags.f_contiguous)
    whole = leaf.untyped_storage().nbytes() == leaf.numel() * leaf.itemsize
    return bool(whole and (leaf.is_contiguous() or (leaf.dim() == 2 and leaf.T.is_contiguous())))


def _memory_source(tensor: torch.Tensor) -> str:
    """Text that makes the whole memory of a tensor."""
    count, rest = divmod(tensor.untyped_storage().nbytes(), tensor.itemsize)
    if rest or tensor.is_conj() or tensor.is_neg():
        raise ValueError("its memory is not made of its elements")
    whole = tensor.detach().as_strided((count,), (1,), 0)
    if count > WHOLE and bool((whole == whole[0]).all()):
        return f"torch.full(({count},), {whole[0].item()!r}, dtype={tensor.dtype})"
    return as_source(whole.clone())


def _window_source(tensor: torch.Tensor, name: str) -> str:
    """A tensor as a window on its memory, which has a name."""
    offset, shape, strides = int(tensor.storage_offset()), tuple(tensor.shape), tuple(tensor.stride())
    if tensor.dim() == 1 and strides == (1,):
        end = offset + shape[0]
        count = tensor.untyped_storage().nbytes() // tensor.itemsize
        return name if shape[0] == count else f"{name}[{offset or ''}:{end if end < count else ''}]"
    return f"{name}.as_strided({shape}, {strides}, {offset})"


class Lines(NamedTuple):
    """What a student can type: all of it with a heading that says where, and of these the lines that make the calls."""

    text: str
    calls: str


def reproduce(
    module: str, calls: Sequence[Call], folder: str, device: Device = Device.NONE, *, changes: bool = False
) -> Lines | None:
    """The last calls of a check as lines of Python; None if one of them cannot be written.

    Args:
        module: name of the exercise module.
        calls: what the check called.
        folder: where the lines run, as the student types it.
        device: what the worker saw.
        changes: whether the calls change their arguments, so that each needs its own.
    """
    # The last calls: a check ends at the first thing that does not hold, so the culprit is likely among them.
    last, rows = calls[-_MOST_CALLS:], list[tuple[str, list[str], list[str]]]()
    for call in last:
        try:
            setup, texts = written([*call.args, *call.kwargs.values()])
        except ValueError:
            return None
        words = [*([""] * len(call.args)), *(f"{key}=" for key in call.kwargs)]
        if (row := (call.name, setup, [*map("".join, zip(words, texts, strict=True))])) not in rows:
            rows.append(row)
    if not rows:
        return None
    body = [] if changes else _named_once(rows)
    for name, setup, arguments in rows:
        body += [*setup, f"print({name}({', '.join(arguments)}))"]
    used = {node.id for node in ast.walk(ast.parse("\n".join(body))) if isinstance(node, ast.Name)}
    imports = [line for name, line in _IMPORTS.items() if name in used]
    imports += device.lines_to_simulate
    imports.append(f"from {module} import {', '.join(sorted({call.name for call in last}))}")
    place = f", in the folder {folder}" if folder not in ("", ".") else ""
    return Lines("\n    ".join([f"{LINES_TO_TRY}{place}:", *imports, *body]), "\n".join(body))


def _named_once(rows: Sequence[tuple[str, list[str], list[str]]]) -> list[str]:
    """Give a name to each long argument that several calls have; return the lines that make them.

    Args:
        rows: of each call the function, lines that come first, and the arguments, in which names are put.
    """
    times = Counter(text for _, _, arguments in rows for text in set(arguments))
    long = [text for text, count in times.items() if count > 1 and len(text) > _LONG and text.startswith(_MADE)]
    taken = {
        node.id
        for name, *rest in rows
        for node in ast.walk(ast.parse("\n".join([name, *rest[0]])))
        if isinstance(node, ast.Name)
    }
    free = (name for name in _NAMES if name not in taken)
    names = dict(zip(long, free, strict=False))
    for _, _, arguments in rows:
        arguments[:] = [names.get(text, text) for text in arguments]
    return [f"{name} = {text}" for text, name in names.items()]


class Tries:
    """Tries what a student may try, in a worker of its own. Open it for one session, close it after each job."""

    def __init__(self) -> None:
        self._references: dict[tuple[str, str, Device, str], str] = {}
        self._fresh: dict[int, Connection] = {}

    def explained(self, outcome: Outcome, check: Check, student: Connection, attempt: Attempt) -> Outcome:
        """The outcome with lines or an example to try, if they show what is wrong.

        Args:
            outcome: of the check.
            check: the check.
            student: whose code it was run with.
            attempt: runs it again.
        """
        if not check.shown:
            shows = bool(check.try_this) and self._example_shows(check, outcome, student)
            return _with_text(outcome, _example(check.try_this)) if shows else outcome
        stub = outcome.verdict is Verdict.SKIPPED and outcome.cause == "raised"
        seen = outcome.verdict in (Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED) and student.record.lost is None
        if stub or not seen or outcome.cause not in _PRINTED:
            return outcome
        sent = student.record.sent
        if (ranks := max((call.ranks for call in sent), default=1)) > 1:
            # No line of plain Python makes a call on several ranks: it needs a process for each.
            return _with_text(outcome, _ON_RANKS.format(ranks))
        calls = [call.read() for call in sent[-_MOST_CALLS:]]
        changes = bool(student.record.changes)
        lines = reproduce(student.module, calls, student.folder, student.device, changes=changes)
        shows = lines is not None and self._lines_show(lines.calls, outcome, student, attempt)
        return _with_text(outcome, f"\n{lines.text}") if lines is not None and shows else outcome

    def _lines_show(self, lines: str, outcome: Outcome, student: Connection, attempt: Attempt) -> bool:
        """Whether lines suit the reference and print something else for the student.

        Of a probe's call only its own arguments are known, which may not be the student's. Without a reference the
        lines must suit the student, and what they print is all that the check looks at.
        """
        # A worker that ran nothing else, as the lines will be run; for the repeat it is new enough.
        with closing(student.fresh()) as own:
            got = _tried(own, lines)
            if _lacks_a_package(student, got):
                return False  # where the student types them, the package is there
            # What is drawn at random says nothing of what is wrong. The same worker draws again, from another seed.
            if _tried(own, lines, seed=1) != got:
                return False
            if student.reference is None:
                return not student.record.watched and _suits(got, outcome) and _fails_alike(own, outcome, attempt)
        expected = self._of_reference(student.reference, outcome.check, lines)
        return _suits(expected, outcome) and expected != got

    def _of_reference(self, reference: Connection, check: str, lines: str) -> str:
        """What comes of lines for the reference: known from an earlier submission, or tried in the job's worker."""
        key = reference.module, check, reference.device, lines
        if key not in self._references:
            if len(self._references) >= _MOST_KNOWN:
                self._references.clear()
            self._references[key] = _tried(self._fresh_of(reference), lines)
        return self._references[key]

    def _fresh_of(self, connection: Connection) -> Connection:
        """A connection whose worker has met no input of a check; one for all that is tried in a job."""
        if id(connection) not in self._fresh:
            self._fresh[id(connection)] = connection.fresh()
        return self._fresh[id(connection)]

    def _example_shows(self, check: Check, outcome: Outcome, student: Connection) -> bool:
        """Whether an example of a hidden check that did not pass gives something else than for the reference."""
        if outcome.cause in ("", "load"):
            return False
        lost = outcome.verdict in (Verdict.TIMED_OUT, Verdict.OVER_LIMIT) or student.record.lost is not None
        if lost or student.reference is None or not _is_python(check.try_this):
            return True  # nothing can be tried
        text = _as_lines(check.try_this)
        # In a worker that has met no hidden input, so that what comes of it says nothing of one.
        got = _tried(self._fresh_of(student), text)
        return not _lacks_a_package(student, got) and got != self._of_reference(student.reference, check.id, text)

    def close(self) -> None:
        """End the workers."""
        for connection in self._fresh.values():
            connection.close()
        self._fresh.clear()


def _fails_alike(fresh: Connection, outcome: Outcome, attempt: Attempt) -> bool:
    """Whether with arguments that are made anew a check fails as it did."""
    again = attempt(fresh, rewrite=remade).outcome
    return (again.verdict, again.message) == (outcome.verdict, outcome.message.replace(f"\n{AS_THEY_WERE}", ""))


def _with_text(outcome: Outcome, text: str) -> Outcome:
    return replace(outcome, message=f"{outcome.message}\n{text}")


def _example(text: str) -> str:
    # Code on a line of its own is not broken where it is shown, and runs as it stands.
    between = "\n    " if len(text) > _SHORT and _is_python(text) else " "
    return f"{EXAMPLE_TO_TRY}{between}{text}"


def _is_python(text: str) -> bool:
    """Whether an example is lines to run, of which one calls something; else it is advice in words."""
    try:
        tree = ast.parse(_as_lines(text))
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.Call) for node in ast.walk(tree))


def _as_lines(text: str) -> str:
    return text.replace(", and ", ", ")


def _suits(printed: str, outcome: Outcome) -> bool:
    """What is raised is right only where the check expects it, and names it."""
    return not printed.startswith((_RAISED, _LOST)) or printed.removeprefix(_RAISED) in outcome.message


def _lacks_a_package(connection: Connection, printed: str) -> bool:
    """Whether lines raised because the exercise is solved without a package."""
    return bool(connection.without) and printed == f"{_RAISED}ModuleNotFoundError"


def _tried(connection: Connection, lines: str, seed: int = 0) -> str:
    """What comes of lines: what they print and give, or the type of what they raise.

    Args:
        connection: to the worker that runs them.
        lines: in Python.
        seed: of the generators that student code draws from.
    """
    limits = connection.limits
    connection.begin_check(Record(seed=seed), replace(limits, call_s=min(_CALL_S, limits.call_s)))
    try:
        printed = named(connection, "tried", "")(connection.module, lines)
    except WorkerLost as lost:
        return f"{_LOST}{lost.verdict}"
    except Exception as error:  # any exception of student code
        return f"{_RAISED}{type(error).__name__}"
    finally:
        connection.begin_check(Record(), limits)
    return _DIGITS.sub(r"\1", _VARIES.sub("", str(printed)[:_LONGEST]))


# -- what lines print, for `grade try` ---------------------------------------------------------------------------------


def typed(check: Check, student: Connection, lines: str) -> Outcome:
    """Run lines in a worker of their own: the message of the outcome says what they print."""
    outcome = Outcome(check.id, Verdict.NOT_RUN, device=student.device)
    try:
        with closing(student.fresh()) as fresh:
            fresh.begin_check(Record())
            printed = named(fresh, "typed", "")(lines)
    except WorkerLost as lost:
        return replace(outcome, verdict=lost.verdict, message=lost.message)
    return replace(outcome, message=printed if isinstance(printed, str) else "")


# -- what took virtual time, for `grade trace` -------------------------------------------------------------------------

_MOST_MOMENTS = 4000


def traced(check: Check, student: Connection, lines: str, attempt: Callable[[Connection], Any]) -> Outcome:
    """An outcome that carries the moments.

    Args:
        check: the check.
        student: whose worker is called.
        lines: what is run in the place of the check; "" for the check itself.
        attempt: runs the check.
    """
    outcome = Outcome(check.id, Verdict.NOT_RUN, device=student.device)
    try:
        if not lines and check.shown:
            attempt(student)
            return replace(outcome, moments=_moments(student))
        # In a worker that has met no hidden input, so the moments reveal none.
        with closing(student.fresh()) as fresh:
            fresh.begin_check(Record())
            fresh.names()
            try:
                named(fresh, "tried", "")(fresh.module, lines)
            except Exception as error:  # any exception of the lines: what they did until then is drawn
                raised = raised_by_student(error)
                outcome = replace(outcome, message=f"raised {shown(raised) if raised else type(error).__name__}")
            return replace(outcome, moments=_moments(fresh))
    except NotUsable as error:
        return replace(outcome, verdict=Verdict.ERROR, message=error.story)
    except CheckFailed as error:
        return replace(outcome, verdict=Verdict.FAILED, message=error.story)
    except WorkerLost as lost:
        return replace(outcome, verdict=lost.verdict, message=lost.message)


def _moments(connection: Connection) -> tuple[Moment, ...]:
    return tuple(moments_of(named(connection, "moments", "")(), _MOST_MOMENTS))
