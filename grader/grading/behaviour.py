"""How an answer behaves: what became of each check, the names in its code, and sentences that its behaviour opens.

Two answers that fail the same checks in the same way, with the same wrong numbers, kinds, dtypes and errors for inputs
that were drawn, have the same mistake. What depends on how code is written, on its words or on the machine is taken out
before: places, names of files, texts of the student's own errors, and measured times. Of a count its power of two is
left, and of a loop what it goes over. Memory above a limit is compared by a ratio: two tables where one would be too
much are the same mistake as one.

A copy without wrong answers has their sentences, each sealed with what the wrong answer does in the shown checks: who
makes the mistake reads it, and who looks into the file does not. It does not stay secret, since anybody can write
wrong code on purpose; it keeps a list of mistakes from being read before they are made. Nothing of hidden checks, of
inputs or of an answer's text is in it.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.course.answers import Answer
from grader.intake.code import names_in_sources
from grader.model import WITHHELD, GradedCheck, Outcome, Verdict
from grader.model.check import ENDED

_PLACE = re.compile(r"^ {4}\S.*\.py, line \d+.*(?:\n {8}.*)?\n?| \([^()\n]+\.py, line \d+\)", re.MULTILINE)
_COUNTED = re.compile(rf"^(?:counted: |{re.escape(WITHHELD)}).*\n?", re.MULTILINE)
# When each kernel of the simulated GPU began depends on what ran before the call.
_TIMELINE = re.compile(r"^ *\|0 s .*\|(?:\n.* \|.*\| .*)*(?:\n[\d,]+ more follow)?\n?", re.MULTILINE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]+")
_PATH = re.compile(r"(?<![\w.])(?:/[\w.+-]+){2,}")
_FRACTION = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+")
_COUNT = re.compile(r"\b\d[\d,]*\b")
_OPERATIONS = re.compile(r": \{.*|(?<= operations) \(\d.*\)|(?<= lines) \(.*\)")  # which ones, after how many
_BYTES = re.compile(
    # A limit on the growth of a process is measured, too.
    r"(?P<before> new memory(?: at a time)?\nexpected at most [\d,]+, got )(?P<bytes>[\d,]+)"
    r"|(?P<call>\nyour call needs )(?P<peak>[\d,]+)(?= bytes at its peak)"
    r"|(?<=\nexpected its process to grow by at most )[\d,]+ MB (?P<when>[a-z ]+), got (?P<megabytes>[\d,]+) MB"
)
_LOOP = re.compile(r"\nsmall input  .*\nlarge input  .*, as in a loop over ([\d,]+) items")
_BY_PYTHON = re.compile(r"\n(?:Python's )?`[\w.]+` iterates over .*")  # how a loop is written: not another mistake
_SPELLED = re.compile(r"`[\w.]*?(\w+)`")  # `torch.mean` and `.mean` are one use
_OF_SPELLING = re.compile(
    # That Python's `max` or `math.prod` iterates over a tensor is another mistake than a loop that is written.
    r" \(line \d+\)| \(`\w+` is another name or form of it\)"
    r"|(?:(?<= a loop)|(?<= allows)): (?!Python's `\w+` |`\w+` iterates over ).*"
)
_OWN_ERROR = re.compile(r"\n {8}(?:raise|assert)\b[^\n]*\s*$")
_ERROR = re.compile(r"( raised \w+): .*", re.DOTALL)
_ANOTHER_ERROR = re.compile(r"( raised (\w+); expected [^\n]*\n\2): [^\n]*")
_NUMBER = re.compile(r"(?<![\w.])\d")
_DIGITS = 3
_MOST_RATIO = 4
"""Of the memory of two answers that have the same mistake: what else a line makes on the way differs as much. Mistakes
that differ in the order of their memory differ by more in a check that shows it."""

_LOST = (Verdict.FAILED, Verdict.CRASHED, Verdict.ERROR, Verdict.SKIPPED)
_SEEN_NOTHING = ("load", "name", "signature")
"""Causes before which nothing of the submission's behaviour was seen."""

COSTS = "performance"
"""The category of the checks that count or measure: they are run once, as what they say does not hang on inputs."""


TraceKey = tuple[str, str, int]
"""Of a `Trace`: the verdict, the digest, and the size of its memory."""


@dataclass(frozen=True)
class Trace:
    """How one check ended, without what differs between answers that have the same mistake.

    Attributes:
        verdict: the verdict of the check.
        story: a digest of the function that was called last and of the detail that staff read, without what depends on
            how the code is written; `ENDED` if student code ended its process.
        has_value: True if a wrong number is in the detail.
        bytes: the memory above a limit that the detail shows, in bytes; 0 if it shows none.
        same_for_all: True if its inputs are those of all authors, so that it ends like that with every seed.
    """

    verdict: Verdict
    story: str = ""
    has_value: bool = False
    bytes: int = 0
    same_for_all: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, outcome: Outcome, category: str = "") -> Trace:
        """Return how a check ended, in a form that is equal for all answers with the same mistake.

        For example, paths, line numbers and the last digits of numbers in messages are left out.

        Args:
            outcome: the outcome of the check.
            category: the category of the check, such as "performance".
        """
        if outcome.verdict is Verdict.PASSED:
            return cls(outcome.verdict, same_for_all=outcome.same_for_all)
        if outcome.ended_process:
            return cls(outcome.verdict, ENDED, same_for_all=outcome.same_for_all)
        text = _COUNTED.sub("", outcome.detail)
        if _OWN_ERROR.search(text):  # its words are the student's own
            text = _ANOTHER_ERROR.sub(r"\1", _ERROR.sub(r"\1", text))
        for pattern in (_PLACE, _TIMELINE, _PATH, _ADDRESS):
            text = pattern.sub("", text)
        memory = _BYTES.search(text)
        text = _BYTES.sub(lambda match: f"{match['before'] or match['call'] or match['when']}more", text)
        if outcome.from_text:  # which rule of a text it breaks, by whichever spelling and in whichever line
            text = _OF_SPELLING.sub("", _SPELLED.sub(r"`\1`", text))
        elif outcome.speed:  # that it was too slow, and nothing of how it was measured
            text = ""
        elif category == COSTS:
            # A loop is known by what it goes over: one that needs more operations in a turn is the same mistake.
            loop = _LOOP.search(text)
            text = _BY_PYTHON.sub("", _OPERATIONS.sub("", _LOOP.sub("", text)))
            text = _COUNT.sub(lambda match: _size_of(match[0]), text)
            text += f"\na loop over {loop[1]} items" if loop else ""
        # The last digits of a sum depend on the order in which it was made, which is not a mistake.
        text = _FRACTION.sub(lambda match: f"{float(match[0]):.{_DIGITS}g}", text).strip()
        # A check of several functions may end with the same words in each of them.
        ended_in = outcome.called[-1].split(".")[0] if outcome.called else ""
        digest = hashlib.sha256(f"{ended_in}\n{text}".encode("utf-8", "backslashreplace")).hexdigest()[:16]
        has_value = category != COSTS and not outcome.from_text and bool(_NUMBER.search(text))
        return cls(outcome.verdict, digest, has_value, _bytes_in(memory) if memory else 0, outcome.same_for_all)

    def is_like(self, other: Trace) -> bool:
        """Return whether both checks ended alike: the traces are equal but for some memory.

        The larger memory is at most 4 times the other: 4,000 bytes are like 1,000.
        """
        few, many = sorted((self.bytes, other.bytes))
        return replace(self, bytes=0) == replace(other, bytes=0) and many <= _MOST_RATIO * few

    @property
    def key(self) -> TraceKey:
        """Return the key by which traces are looked up, such as `("failed", "0f3a...", 5)`.

        Its last part is the power of four of the bytes. Some traces that are alike have different keys, as their bytes
        lie on both sides of such a power.
        """
        return self.verdict.value, self.story, (self.bytes.bit_length() + 1) // 2

    @property
    def passed_or_not_run(self) -> bool:
        """Return whether the check passed or could not run on this machine.

        A check that needs a GPU is an example of the latter.
        """
        return self.verdict in (Verdict.PASSED, Verdict.NOT_RUN)

    @property
    def lost(self) -> bool:
        """Return whether the check lost points, and student code did not end its process."""
        return self.verdict in _LOST and self.story != ENDED


def _bytes_in(match: re.Match[str]) -> int:
    """Return the bytes that a match of `_BYTES` shows.

    For "got 4,000" they are 4000, and for "got 3 MB" they are 3 << 20.
    """
    number = match["bytes"] or match["peak"] or match["megabytes"]
    return int(number.replace(",", "")) << (20 if match["megabytes"] else 0)


def _size_of(number: str) -> str:
    return f"2^{int(number.replace(',', '')).bit_length()}"


Traces = Mapping[str, Trace]
"""By the check's id."""


def is_comparable(outcome: Outcome) -> bool:
    """Return whether the outcome shows how the student's code behaves.

    Other outcomes cannot be compared. A function that is missing, is not written or takes other arguments shows no
    behaviour. Nor does a worker that ended, or that used up its time or memory: any crash and any endless loop do that.
    """
    seen = outcome.verdict in (Verdict.PASSED, *_LOST) and not outcome.ended_process
    return seen and is_of_written_function(outcome)


def is_of_written_function(outcome: Outcome) -> bool:
    """Return False if the function is missing, is not written, or takes other arguments."""
    unwritten = outcome.verdict is Verdict.SKIPPED and outcome.cause == "raised"
    return not unwritten and outcome.cause not in _SEEN_NOTHING


def traces_of(rows: Iterable[GradedCheck]) -> dict[str, Trace]:
    """Return the traces of checks that can be compared with wrong answers, by check id.

    `is_comparable` decides which these are.
    """
    return {row.check.id: Trace.of(row.outcome, row.check.category) for row in rows if is_comparable(row.outcome)}


def failures_of(rows: Sequence[GradedCheck]) -> list[frozenset[str]]:
    """Return, for each function at fault, the ids of its failing checks.

    For `{"total": {"a", "b"}, "mean": {"c"}}`, as `failures_by_function` returns it, these are `[{"a", "b"}, {"c"}]`.
    """
    return [*failures_by_function(rows).values()]


def failures_by_function(rows: Sequence[GradedCheck]) -> dict[str, frozenset[str]]:
    """Return the ids of the failing checks, by the name of the function at fault.

    Each function is diagnosed by itself. If the checks a and b fail and call `total`, and c fails and calls `mean`, the
    result is `{"total": {"a", "b"}, "mean": {"c"}}`. Only checks that can be compared with wrong answers are among
    them.

    The function at fault is the one that the check called last. A check is left out if it called several functions and
    another failing check called only the last of these: then each of them may be at fault, see `suspects_of`. The key
    of a check that called no function is the check's id and a blank, as no function has such a name.
    """
    groups: dict[str, set[str]] = {}
    faulty = _faulty_functions(rows)
    for row in filter(_is_failure, rows):
        id, called = row.check.id, _functions_of(row)
        if not called:
            groups[f"{id} "] = {id}  # no function has such a name
        elif len(called) == 1 or called[-1] not in faulty:
            groups.setdefault(called[-1], set()).add(id)
    return {name: frozenset(ids) for name, ids in groups.items()}


def suspects_of(rows: Sequence[GradedCheck]) -> dict[str, frozenset[str]]:
    """Return the functions that may be at fault in each failing check, by the check's id.

    If the checks a and b fail, a calls `total`, and b calls `total` and then `mean`, the result is `{"a": {"total"},
    "b": {"total", "mean"}}`: a function is a suspect if the check called it last, or if some failing check called only
    that one. A check is left out if its outcome does not show how the student's code behaves.
    """
    faulty = _faulty_functions(rows)
    called = {row.check.id: _functions_of(row) for row in filter(_is_failure, rows)}
    return {id: frozenset(names[-1:]) | faulty.intersection(names) for id, names in called.items()}


def _faulty_functions(rows: Sequence[GradedCheck]) -> frozenset[str]:
    """Return the functions that some failing check called alone, so that they are at fault."""
    called = map(_functions_of, filter(_is_failure, rows))
    return frozenset(names[0] for names in called if len(names) == 1)


def _is_failure(row: GradedCheck) -> bool:
    return is_comparable(row.outcome) and Trace.of(row.outcome).lost


def _functions_of(row: GradedCheck) -> list[str]:
    """Return the functions and classes that a check called, in the order of their last calls.

    For the calls `f`, `C.method` and `f` these are `["C", "f"]`.
    """
    names = (name.split(".")[0] for name in reversed(row.outcome.called))
    return [*dict.fromkeys(names)][::-1]


def behaviour_of(traces: Traces) -> str:
    """Return a digest of how the failing checks ended; "" if no check lost points.

    Two students whose `total` fails in the same way have the same 16 hex digits here, so that they can be grouped.

    Args:
        traces: how each check ended, by its id.
    """
    lost = sorted((id, trace.key) for id, trace in traces.items() if trace.lost)
    return hashlib.sha256(repr(lost).encode()).hexdigest()[:16] if lost else ""


# -- names in code -----------------------------------------------------------------------------------------------------
# A sentence says what the code does, and names some of it in backticks. It must not say so of code that visibly does
# something else. That a result has another dtype, or that a function loops, can come about in many ways: a sentence
# which names one of them, such as `torch.Tensor`, is printed only to whoever wrote that. Where a wrong value shows the
# mistake, one of the functions that it names is enough. What it names of the reference alone is what the student lacks.

_QUOTED = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[A-Za-z_]\w*")
_KEYWORD = re.compile(r"[A-Za-z_]\w* ?=(?!=).+")


@dataclass(frozen=True)
class Names:
    """The names that code must and must not use if a wrong answer's sentence is true of it.

    `Names((("mean", "dim"), ("sum",)), ("keepdim",))` fits code that uses `mean` and `dim`, or `sum`, but not
    `keepdim`.

    Attributes:
        any_of: sets of names; the code has all names of one of these sets, if there are any.
        none_of: names that the code does not have, as the sentence says that they are missing.
        listed: the sets of `any_of` that the sentence alone has, as other spellings of the mistake: whoever wrote one
            of them made it, even if what is to be missing is there.
    """

    any_of: tuple[tuple[str, ...], ...] = ()
    none_of: tuple[str, ...] = ()
    listed: tuple[tuple[str, ...], ...] = ()

    def fits(self, used: Collection[str]) -> bool:
        """Return whether the sentence of the wrong answer is true of code that uses these names."""
        names = set(used)
        if any(names.issuperset(each) for each in self.listed):
            return True
        fits = not self.any_of or any(names.issuperset(each) for each in self.any_of)
        return fits and not names.intersection(self.none_of)

    def __or__(self, other: Names) -> Names:
        """Return `Names` that fit code if `self` or `other` fits it.

        It is for a sentence that two wrong answers share.
        """
        any_of = tuple(dict.fromkeys(self.any_of + other.any_of)) if self.any_of and other.any_of else ()
        listed = tuple(dict.fromkeys(self.listed + other.listed)) if any_of else ()
        return Names(any_of, tuple(name for name in self.none_of if name in other.none_of), listed)

    @property
    def is_empty(self) -> bool:
        """Return whether any code fits: no name is required, and none is excluded."""
        return not (self.any_of or self.none_of)


def names_in_sentence(
    answer: Answer, reference: Path | None, functions: Collection[str] = (), *, has_value: bool = False
) -> Names:
    """Return the names that decide whether a wrong answer's sentence is true of code.

    If the sentence is "You use `view`; use `reshape`.", the wrong answer uses `view`, and the reference uses `reshape`,
    the code must use `view` and must not use `reshape`: `Names((("view",),), ("reshape",))`.

    Args:
        answer: the wrong answer.
        reference: the path of the reference, from which the answer differs; None without a reference.
        functions: the functions whose code is compared; all code if it is empty.
        has_value: True if a failing check shows a wrong number. Then the code need use only one of the functions and
            keyword arguments that the sentence quotes.
    """
    quoted = {name for text in _QUOTED.findall(answer.sentence) for name in _names_in_quote(text)}
    if not quoted:
        return Names()
    right = reference.read_bytes() if reference is not None else b""
    used, of_reference = (set(names_in_sources(source, functions=functions)) for source in (answer.source, right))
    # `torch.mean(x, 0)` and `x.mean(0)` are one mistake, of a tensor by any name.
    own = quoted.intersection(used) - _names_introduced_in(answer.source) - of_reference
    # A sentence that lists spellings, such as (`repeat`, `stack`), is true of each, whichever the answer has.
    others = [(name,) for name in sorted(quoted - used - of_reference)]
    called = sorted(own & (_names_called_in(answer.source) | _keywords_quoted_as_used(answer.sentence, answer.source)))
    every = [(name,) for name in called] if has_value else [tuple(sorted(own))] if own else []
    missing = quoted.intersection(of_reference) - used - _names_introduced_in(right)
    if not (own or others or missing):  # what it names is right elsewhere, and wrong as it is used here
        return Names(tuple((name,) for name in sorted(quoted & used & of_reference)))
    listed = tuple(others) if every else ()
    return Names((*every, *listed), tuple(sorted(missing)), listed)


def _names_in_quote(text: str) -> set[str]:
    """Return the names in a quoted expression.

    The first part of a dotted name is left out: `array` is returned for `np.array`.
    """
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError):
        return set(_NAME.findall(text))
    parts = {each.attr for each in nodes if isinstance(each, ast.Attribute)}
    roots = [each.value for each in nodes if isinstance(each, ast.Attribute)]
    return parts | {each.id for each in nodes if isinstance(each, ast.Name) and each not in roots}


def _keywords_quoted_as_used(sentence: str, source: bytes) -> set[str]:
    """Return the keyword arguments that a sentence quotes with the value that code passes.

    A keyword argument that is quoted like this, such as `correction=0`, is the mistake. One that is quoted with another
    value is the remedy, and is left out.
    """
    pairs = {"".join(text.split()) for text in _QUOTED.findall(sentence) if _KEYWORD.fullmatch(text)}
    try:
        keywords = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.keyword) and node.arg]
    except (SyntaxError, ValueError):
        return set()
    return {str(each.arg) for each in keywords if f"{each.arg}={''.join(ast.unparse(each.value).split())}" in pairs}


def _names_called_in(source: bytes) -> set[str]:
    """Return the names of the functions and methods that code calls."""
    try:
        called = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError):
        return set()
    return {each.attr if isinstance(each, ast.Attribute) else each.id for each in called
            if isinstance(each, ast.Attribute | ast.Name)}  # fmt: skip


def _names_introduced_in(source: bytes) -> set[str]:
    """Return the names that code introduces: of its variables, arguments and imported packages.

    Args:
        source: the source of the answer; source that is not Python introduces none.
    """
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return set()
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    roots = (each for node in nodes if isinstance(node, ast.Import) for each in node.names)
    return names | {each.asname or each.name.split(".")[0] for each in roots}


# -- sealed sentences --------------------------------------------------------------------------------------------------

SEALED_SEEDS = (0, 1)
"""Those with which an answer must do the same: the first is that of a student's own copy."""

_VERSION = 9
_HALF = 16
_ENTRY = re.compile(r"[0-9a-f]{32}")
_SEALED = re.compile(r"[0-9A-Za-z+/]+={0,2}")

Sealed = Mapping[str, str]
"""By a name that a behaviour gives, what is sealed with it."""


def behaviour_key(exercise: str, behaviour: Sequence[Traces]) -> str:
    """Return the 32 hex digits under which sentences on a known mistake are saved encrypted.

    Students get these sentences with the course, but only an answer with the same mistake can decrypt them: its failing
    checks end in the same way, and so return the same key. See `seal`.

    Args:
        exercise: the id of the exercise.
        behaviour: for each seed, how each failing check ended, by its id: `[{"shape": Trace(...)}, {"shape":
            Trace(...)}]`.
    """
    return behaviour_key_prefix(exercise, behaviour[0]) + _digest_of_traces("name", exercise, behaviour).hex()[:_HALF]


def behaviour_key_prefix(exercise: str, first: Traces) -> str:
    """Return the first 16 hex digits of a `behaviour_key`, which the first seed determines.

    The sentences on known mistakes are encrypted in a file, each under such a key. If no key in the file begins with
    these digits, no sentence can be decrypted, and the checks need not be run with the second seed.

    Args:
        exercise: the id of the exercise.
        first: how each failing check ended with the first seed, by its id, such as `{"shape": Trace(...)}`.
    """
    return _digest_of_traces("name", exercise, [first]).hex()[:_HALF]


@dataclass(frozen=True)
class SealedFacts:
    """The sealed facts of a known mistake, beside its sentence.

    Attributes:
        names: the names that must stand in the code, and those that must not.
        functions: the functions that have the mistake.
        rule: the rule that it breaks.
    """

    names: Names = Names()
    functions: tuple[str, ...] = ()
    rule: str = ""


def seal(exercise: str, behaviour: Sequence[Traces], sentences: Mapping[str, SealedFacts]) -> str:
    """Encrypt sentences on known mistakes, so that only answers with the mistake decrypt them.

    The key is computed from how the failing checks of such an answer end.

    Args:
        exercise: the id of the exercise.
        behaviour: for each seed, how each failing check ended, by its id.
        sentences: the sentences on the mistakes of all answers that end like this, each with its facts.
    """
    rows = {sentence: asdict(told) for sentence, told in sentences.items()}
    text = json.dumps(rows, ensure_ascii=False).encode()
    # No behaviour seals twice: answers that behave alike are sealed together.
    return base64.b64encode(_encrypt_or_decrypt(text, _digest_of_traces("seal", exercise, behaviour))).decode()


def unseal(exercise: str, behaviour: Sequence[Traces], mistakes: Sealed) -> dict[str, SealedFacts]:
    """Decrypt the sentences on known mistakes that fit how an answer's failing checks end.

    Args:
        exercise: the id of the exercise.
        behaviour: for each seed, how each failing check of the answer ended, by its id.
        mistakes: the encrypted sentences, by `behaviour_key`.

    Returns:
        The facts of each mistake, by its sentence. The mapping is empty if no sentence fits, or if the encrypted text
        was changed.
    """
    text = _encrypt_or_decrypt(
        base64.b64decode(mistakes.get(behaviour_key(exercise, behaviour), "")),
        _digest_of_traces("seal", exercise, behaviour),
    )
    with suppress(ValueError, TypeError, AttributeError):  # there is nothing, or somebody changed it
        rows: dict[str, dict[str, Any]] = json.loads(text)
        return {
            sentence: SealedFacts(_names_from_row(row["names"]), tuple(row["functions"]), row["rule"])
            for sentence, row in rows.items()
        }
    return {}


def _names_from_row(row: Mapping[str, Any]) -> Names:
    any_of, listed = (tuple(tuple(names) for names in row[key]) for key in ("any_of", "listed"))
    return Names(any_of, tuple(row["none_of"]), listed)


def sealed_file(mistakes: Sealed) -> bytes:
    """Return the content of an exercise's file of sealed mistakes, which is JSON."""
    rows = {name: mistakes[name] for name in sorted(mistakes)}
    return (json.dumps({"version": _VERSION, "mistakes": rows}, indent=1) + "\n").encode()


def is_sealed(data: bytes) -> bool:
    """Return whether a file has encrypted sentences on known mistakes, and nothing else.

    It is then byte for byte what `sealed_file` writes.
    """
    try:
        rows = json.loads(data)["mistakes"]
        opaque = all(map(_ENTRY.fullmatch, rows)) and all(map(_SEALED.fullmatch, rows.values()))
        return bool(data == sealed_file(rows)) and opaque and all(len(text) % 4 == 0 for text in rows.values())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False


def read_sealed(path: Path) -> Sealed:
    """Read the sealed mistakes in a file.

    The mapping is empty if the file is damaged or of another version.
    """
    data = path.read_bytes() if path.is_file() else b""
    return json.loads(data)["mistakes"] if is_sealed(data) else {}


def _digest_of_traces(use: str, exercise: str, behaviour: Sequence[Traces]) -> bytes:
    rows = [sorted((id, trace.key) for id, trace in traces.items()) for traces in behaviour]
    return hashlib.sha256(repr((use, exercise, rows)).encode()).digest()


def _encrypt_or_decrypt(data: bytes, key: bytes) -> bytes:
    """Encrypt or decrypt data with a key: the same operation does both."""
    veil = hashlib.shake_256(key).digest(len(data))
    return bytes(one ^ other for one, other in zip(data, veil, strict=True))
