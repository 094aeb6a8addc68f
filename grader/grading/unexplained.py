"""Functions that no known wrong answer explains: groups that behave alike, and a draft of a new wrong answer of one.

Each function of a submission belongs to a group of its own. Where its failing checks can be compared, it was run with
inputs that are the same for everybody, and those belong together that did the same with them. Others are grouped by how
their checks ended: such a group says what went wrong, and nothing by which a mistake could be recognised. Who has no
such function, has not written it yet or returns nothing reads that in the message, and is in no group.

Of a draft its author must write the sentence alone. What tells whose it is goes out: comments, docstrings, the block
that runs the file as a program, the author's names. The rest is the student's code as Python prints it.
"""

from __future__ import annotations

import builtins
import hashlib
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grader.course.answers import UNWRITTEN
from grader.grading.behaviour import COSTS, is_comparable
from grader.grading.diagnosis import can_diagnose, has_known_mistakes
from grader.intake.collect import anonymous_code
from grader.model import Exercise, GradedCheck, GradedExercise, Outcome, Verdict
from grader.model.errors import SubmissionError
from grader.model.score import Causes, function_of

_SHORTEST_NAME = 4
_DRAWN = re.compile(r"\d[\d.e+-]*")
_MISSED = "they were graded before behaviour was saved; run the batch once more with --rerun all"
_NOT_COMPARABLE = (
    "no failing check shows how they behave; for example, they do not load, they end Python, or a time limit ended them"
)


@dataclass(frozen=True)
class SimilarSubmissions:
    """Submissions in which the same function fails and behaves alike, but like no known wrong answer.

    Attributes:
        exercise: the exercise.
        function: the function that fails; "" where no function was called.
        name: a few digits, the same as long as they behave so.
        why_not: the reason why no wrong answer can be made of it, or "".
        members: the number of the result in the store, by author.
    """

    exercise: Exercise
    function: str
    name: str
    why_not: str
    members: dict[str, int]


def is_unexplained(graded: GradedExercise) -> bool:
    """Return whether a handed-in exercise lost points for which no mistake is known.

    A failure that its own message explains, such as a missing function, does not count.
    """
    score = graded.score
    lost = score.earned + score.undecided < score.possible
    return graded.handed_in and graded.state == "started" and lost and bool(_unexplained_checks(graded))


def lost_checks(graded: GradedExercise, function: str = "") -> list[GradedCheck]:
    """Return the checks that lost points, of one function or of all functions.

    Args:
        graded: the exercise.
        function: the name of the function; "" for all functions. If no check of this function lost points, all checks
            that lost points are returned.
    """
    rows = [row for row in graded.checks if row.verdict.is_lost]
    return [row for row in rows if function and function_of(row) == function] or rows


def _unexplained_checks(graded: GradedExercise) -> dict[str, list[GradedCheck]]:
    """Return the unexplained checks that lost points, by function.

    Any other check is explained by a known mistake, or by its own message.
    """
    explained = {name for mistake in graded.mistakes for name in mistake.functions}
    told = {id for mistake in graded.mistakes for id in mistake.checks}
    rows: dict[str, list[GradedCheck]] = {}
    for row in lost_checks(graded):
        if row.check.id not in told and function_of(row) not in explained and not _is_self_explanatory(row.outcome):
            rows.setdefault(function_of(row), []).append(row)
    if "" in rows and len(rows) == 2:  # a rule on the text of the one function that fails
        others = rows.pop("")
        (function,) = rows
        rows[function] = [row for row in lost_checks(graded) if row in rows[function] or row in others]
    return rows


def _is_self_explanatory(outcome: Outcome) -> bool:
    """Return whether the message alone explains the failure.

    It does if the function is missing, is not written yet, or returned None.
    """
    unwritten = outcome.verdict is Verdict.SKIPPED and outcome.cause == "raised"
    return unwritten or outcome.cause == "name" or outcome.got_none


def add_to_group(groups: dict[str, SimilarSubmissions], author: str, number: int, graded: GradedExercise) -> None:
    """Add an author to the groups of submissions that behave alike.

    There is one for each function of the exercise that no known mistake explains; a new group is made if needed.

    Args:
        groups: the groups by a digest of their behaviour; the mapping is changed.
        author: the author of the submission.
        number: the number of the result in the store.
        graded: the exercise.
    """
    for function, rows in _unexplained_checks(graded).items():
        key, why_not = graded.behaviours.get(function, ""), ""
        if not key:
            # Where no mistake is known yet, a draft may be made of any answer whose checks say something of its code.
            unseen = _MISSED if has_known_mistakes(graded.exercise) else ""
            comparable = can_diagnose(graded) and any(is_comparable(row.outcome) for row in rows)
            key, why_not = _digest_of_outcomes(rows), unseen if comparable else _NOT_COMPARABLE
        digest = hashlib.sha256(f"{graded.exercise.id}\0{function}\0{key}".encode()).hexdigest()
        group = groups.setdefault(digest, SimilarSubmissions(graded.exercise, function, digest, why_not, {}))
        group.members[author] = number


def named_groups(groups: Mapping[str, SimilarSubmissions]) -> list[SimilarSubmissions]:
    """Return the groups with names, the largest group first.

    The digests "3f9a1..." and "3f9b2..." become the names "3f9a" and "3f9b". All names have the same length: the
    smallest from `_SHORTEST_NAME` on at which they differ.

    Args:
        groups: the groups, by their whole digests.
    """
    sizes = range(_SHORTEST_NAME, 65)
    length = next(size for size in sizes if len({digest[:size] for digest in groups}) == len(groups))
    named = [
        replace(group, name=digest[:length], members=dict(sorted(group.members.items())))
        for digest, group in groups.items()
    ]
    return sorted(named, key=lambda one: (-len(one.members), bool(one.why_not), one.exercise.number, one.name))


def _digest_of_outcomes(rows: Sequence[GradedCheck]) -> str:
    """Return a digest of how checks ended, without the numbers in their messages.

    It is made of ids, verdicts, causes and first lines of messages.
    """
    ends = [
        (row.check.id, row.outcome.verdict.value, row.outcome.cause, _DRAWN.sub("", row.outcome.message.split("\n")[0]))
        for row in rows
    ]
    return hashlib.sha256(repr(ends).encode("utf-8", "backslashreplace")).hexdigest()[:16]


# -- a draft of a wrong answer -----------------------------------------------------------------------------------------

_CAUGHT = (Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OVER_LIMIT)
_SENTENCE = f"{UNWRITTEN}: say what the mistake is, and what is right instead, in one sentence for students."


def draft_text(graded: GradedExercise, source: bytes, people: Sequence[str], function: str = "") -> str:
    """Turn a student's wrong code into a draft of a new wrong answer for the course.

    The draft is the text of a Python file. Its docstring has a sentence that the course's author must write, and the
    line "caught by: CHECK"; if points were lost on several rules, also a line such as "breaks: C1, C2". Below it is the
    student's code without names of people, comments and docstrings.

    Args:
        graded: the student's graded exercise.
        source: the source of the student's module.
        people: the names of its authors, which are removed.
        function: the function that is wrong; "" for any.

    Raises:
        ValueError: the code cannot be made a wrong answer.
    """
    try:
        plain = anonymous_code(source, people, _words_to_keep(graded.exercise))
    except SubmissionError as error:
        raise ValueError(str(error)) from None
    caught_by, rule = _check_that_catches(graded, function)
    others = {row.check.contract for row in lost_checks(graded) if row.score.possible} - {rule, ""}
    rules = sorted({*others, rule}, key=lambda name: (len(name), name)) if others else []
    breaks = f"breaks: {', '.join(rules)}\n" if rules else ""
    # Two blank lines before functions, as people write it.
    code = re.sub(r"(?:^|\n\n)(?=@|def |class |async def )", "\n\n\n", plain).removeprefix("\n\n")
    return f'"""{_SENTENCE}\n\ncaught by: {caught_by}\n{breaks}"""\n\n{code}\n'


def _check_that_catches(graded: GradedExercise, function: str) -> tuple[str, str]:
    """Return the failed check for the line "caught by" of a draft.

    Args:
        graded: the exercise as it was graded.
        function: the function that is wrong; "" for any.

    Returns:
        The id of the check, and the rule that the check belongs to.

    Raises:
        ValueError: no check failed in a way that can be compared.
    """
    rows = [
        row for row in lost_checks(graded, function) if row.outcome.verdict in _CAUGHT and is_comparable(row.outcome)
    ]
    rows = [row for row in rows if row.check.category != COSTS] or rows
    if not rows:
        raise ValueError("no check failed in a way that can be compared")
    cause = Causes.of(graded.checks).cause
    chosen = cause if cause in rows else rows[0]
    assert chosen is not None
    return chosen.check.id, chosen.check.contract


def _words_to_keep(exercise: Exercise) -> set[str]:
    """Return the words that stay in a draft, even where an author has such a name.

    They are the words of the exercise, and those of Python.
    """
    texts = [exercise.file_name, *exercise.contract.values()]
    texts += [
        path.read_text(encoding="utf-8", errors="replace")
        for path in (exercise.starter, exercise.reference)
        if path is not None and path.is_file()
    ]
    words = {word.lower() for text in texts for word in re.findall(r"[^\W\d_]+", text)}
    return words | {word.lower() for word in (*keyword.kwlist, *vars(builtins))}
