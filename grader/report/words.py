"""The words of a report, the same in a terminal and on a page: verdicts, counts, totals, what comes next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.model import GradedCheck, GradedExercise, Mistake, Outcome, Report, Score, Verdict
from grader.model.score import Causes, held_back_text, pluralize, points_text
from grader.sandbox.start_messages import WARNED

VERDICTS = {
    Verdict.PASSED: ("pass", "green"),
    Verdict.FAILED: ("FAIL", "red"),
    Verdict.CRASHED: ("CRASH", "red"),
    Verdict.TIMED_OUT: ("TIME", "red"),
    Verdict.OVER_LIMIT: ("LIMIT", "red"),
    Verdict.ERROR: ("ERROR", "red"),
    Verdict.SKIPPED: ("skip", "yellow"),
    Verdict.NOT_RUN: ("not run", "cyan"),
    Verdict.INCONCLUSIVE: ("unsure", "cyan"),
    Verdict.BROKEN: ("BROKEN", "magenta"),
}
"""Each verdict as a word, and its colour. The word alone is enough, because a pipe and some readers lose colours."""


COUNTED: Mapping[str, tuple[str, str]] = {
    "ops": ("operation", "operations"),
    "bytes": ("byte of new memory", "bytes of new memory"),
    "peak": ("byte at the peak", "bytes at the peak"),
    "transfers": ("copy between devices", "copies between devices"),
    "transferred": ("byte between devices", "bytes between devices"),
    "syncs": ("wait for a device", "waits for a device"),
    "collectives": ("collective", "collectives"),
    "sent": ("byte sent to other ranks", "bytes sent to other ranks"),
    "escapes": ("conversion to Python or NumPy", "conversions to Python or NumPy"),
    "versions": ("write in place", "writes in place"),
    "warnings": ("warning", "warnings"),
}
"""What each counter counts, in words: one, and many."""


def counts_text(counters: Mapping[str, int]) -> str:
    """Return the numbers of a check's counters in words, without those that are 0.

    `{"ops": 3, "syncs": 0}` becomes "3 operations".
    """
    named = ((number, COUNTED.get(name, (name, name))) for name, number in counters.items() if number)
    return ", ".join(f"{number:,} {one if number == 1 else many}" for number, (one, many) in named)


def measured_lines(graded: GradedExercise, row: GradedCheck) -> Iterator[str]:
    """Yield a check's counts in words, and its measured speeds.

    If the counts of the reference are known, they have a line, too, such as "the reference: 3 operations".
    """
    for whose, counters in (
        ("", row.outcome.counters),
        ("the reference: ", graded.exercise.counters.get(row.check.id)),
    ):
        if counts := counts_text(counters or {}):
            yield whose + counts
    yield from (speed.told for speed in row.speed)


_WARNING = re.compile(f"{WARNED}([^\n]*)\n?")
_INSTALLED = re.compile(r"^(?:[A-Za-z]:)?[^:]*?[\\/](?:site|dist)-packages[\\/]")
"""The beginning of the path of a library's file, which says nothing to a student and leaves no room for the text."""


def printed_in(output: str) -> str:
    """Return what the student printed: an output without its warnings."""
    return _WARNING.sub("", output)


def warnings_in(output: str) -> str:
    """Return the different warnings in an output, a line for each: file, line, category and text."""
    return "\n".join(dict.fromkeys(_INSTALLED.sub("", line) for line in _WARNING.findall(output)))


def score_text(score: Score) -> str:
    """Return a score as a text such as "3 / 4": earned and possible points."""
    return f"{points_text(score.earned)} / {points_text(score.possible)}"


def total_score(rows: Sequence[GradedCheck]) -> Score:
    """Return the sum of the scores of several checks."""
    return sum((row.score for row in rows), Score(0, 0))


def rules_text(rows: Sequence[GradedCheck]) -> str:
    """Return the rules of several checks in one text, each once and in order, as "C2 C10"."""
    rules = {row.check.contract for row in rows if row.check.contract}
    return " ".join(sorted(rules, key=lambda rule: (len(rule), rule)))  # C2 before C10


def hidden_suffix(shown: bool) -> str:
    """Return " (hidden)" for a check that students do not have; "" for a shown check.

    It follows the title of the check.
    """
    return "" if shown else " (hidden)"


def state_text(graded: GradedExercise) -> str:
    """Return the state of an exercise as text, such as "not started".

    It is "in part" if only some of its checks ran.
    """
    return "in part" if graded.left_out else graded.state.replace("_", " ")


def score_of_run_checks(graded: GradedExercise) -> Score:
    """Return the score of an exercise by the checks that ran.

    Withheld checks and those that this run left out do not count.
    """
    elsewhere = graded.withheld_points + graded.left_out_score.possible
    score = graded.score
    return Score(score.earned, score.possible - elsewhere, score.undecided - elsewhere)


def message_beside_picture(outcome: Outcome) -> str:
    """Return the message of a check without the lines that repeat what its picture shows."""
    said = outcome.picture.said if outcome.picture else ""
    return outcome.message.replace(f"\n{said}", "", 1) if said else outcome.message


@dataclass(frozen=True)
class CheckLine:
    """A row of a short report about an exercise: one check, or several that ended alike.

    Attributes:
        rows: one check, or several.
        text: a text on what several have in common; "" for one.
        verdict: the verdict of several; None if the row continues the one above it.
        in_full: True if the message of the check follows.
    """

    rows: tuple[GradedCheck, ...]
    text: str = ""
    verdict: Verdict | None = None
    in_full: bool = False


def condense(rows: Sequence[GradedCheck]) -> Iterator[CheckLine]:
    """Yield the rows of a short report about an exercise.

    Failures come first, then undecided checks, then those that passed. The first failure of each function has its
    message. Checks that fail for the same reason as the first one share a row, and so do those of functions that are
    not written yet, and those that passed.
    """
    groups = Causes.of(rows)
    if groups.cause is not None:
        yield CheckLine((groups.cause,), in_full=True)
    if count := len(groups.same):
        yield CheckLine(
            groups.same, f"{count} more {'check fails' if count == 1 else 'checks fail'} for the same reason"
        )
    # Of a file with many functions, what is wrong in each of them.
    yield from (CheckLine((row,), in_full=row in groups.firsts) for row in groups.lost)
    if count := len(groups.unwritten):
        text = f"{count} {'check needs' if count == 1 else 'checks need'} code that is not written yet"
        yield CheckLine(groups.unwritten, text, Verdict.SKIPPED)
    for number, row in enumerate(groups.open):
        yield CheckLine((row,), in_full=groups.cause is None and number == 0)
    if groups.passed:
        yield CheckLine(groups.passed, pluralize(len(groups.passed), "check"), Verdict.PASSED)


def has_more_messages(graded: GradedExercise) -> bool:
    """Return whether a short report leaves out a message of a failed check.

    Messages on unwritten functions, and of checks that failed for the same reason, do not count.
    """
    groups = Causes.of(graded.checks)
    return any(row.outcome.message for row in groups.lost if row not in groups.firsts)


def rows_in_full(graded: GradedExercise) -> list[GradedCheck]:
    """Return the checks whose messages a short report shows: the first failure of each function."""
    groups = Causes.of(graded.checks)
    return [*([groups.cause] if groups.cause else []), *groups.firsts]


def mistake_texts(graded: GradedExercise, row: GradedCheck) -> list[str]:
    """Return a sentence for each known mistake that explains a check's failure.

    A sentence begins with "This looks like: ". It is printed below the message of the check.
    """
    return [f"This looks like: {mistake.sentence}" for mistake in graded.mistakes if explains(mistake, row)]


def other_mistakes(graded: GradedExercise, rows: Iterable[GradedCheck] = ()) -> list[str]:
    """Return sentences on the known mistakes of an answer, except those that explain `rows`.

    Args:
        graded: the exercise, with the known mistakes that the answer behaves like.
        rows: the failed checks whose known mistakes the caller prints itself.
    """
    printed = list(rows)
    rest = (mistake for mistake in graded.mistakes if not any(explains(mistake, row) for row in printed))
    return [f"{mistake.lead or 'This looks like: '}{mistake.sentence}" for mistake in rest]


def diagnosis_text(graded: GradedExercise) -> str:
    """Return the known mistakes of an exercise in one text; "" if no mistake is known.

    Those that explain the first failure come first.
    """
    cause = Causes.of(graded.checks).cause
    shown = [mistake.sentence for mistake in graded.mistakes if cause and explains(mistake, cause)]
    return " ".join([*shown, *other_mistakes(graded, [cause] if cause else [])]).removeprefix("This looks like: ")


def explains(mistake: Mistake, row: GradedCheck) -> bool:
    """Return True if a known mistake explains a check's failure.

    The mistake must list the check. If the functions of both are known, they must have one in common.
    """
    called = {name.split(".")[0] for name in row.outcome.called}
    elsewhere = called and mistake.functions and called.isdisjoint(mistake.functions)
    return row.check.id in mistake.checks and not elsewhere


def exercise_notes(graded: GradedExercise) -> Iterator[str]:
    """Yield sentences about points that do not count, and about checks without a result.

    An example is "3 hidden checks will decide 2 more points at hand-in."
    """
    if graded.state == "not_started" and any(row.outcome.verdict is Verdict.PASSED for row in graded.checks):
        yield "The file is the unchanged starter, so no points count yet."
    if held := held_back_text(graded.held_back, graded.held_by):
        yield held
    if graded.left_out:
        ran = len(graded.checks)
        yield f"{ran} of {ran + len(graded.left_out)} checks ran."
    if graded.withheld_points:
        checks, points = graded.exercise.withheld.checks, points_text(graded.withheld_points)
        more = "more point" if graded.withheld_points == 100 else "more points"
        yield f"{pluralize(checks, 'hidden check')} will decide {points} {more} at hand-in."
    if broken := sum(row.outcome.verdict is Verdict.BROKEN for row in graded.checks):
        yield f"{pluralize(broken, 'check')} of the course did not work. You lose no points; tell your instructor."


def total_text(report: Report) -> str:
    """Return a text with the total score of the checks that ran, such as "8 / 10 points".

    If some checks did not run here, their points follow: "8 / 10 points, 2 more at hand-in".
    """
    total = sum((score_of_run_checks(graded) for graded in report.exercises), Score(0, 0))
    withheld = sum(graded.withheld_points for graded in report.exercises)
    left_out = sum(graded.left_out_score.possible for graded in report.exercises)
    later = f", {points_text(withheld)} more at hand-in" if withheld else ""
    others = f", {points_text(left_out)} more in checks that did not run" if left_out else ""
    return f"{score_text(total)} points{later}{others}"


def undecided_lines(report: Report) -> Iterator[str]:
    """Yield a sentence about the undecided points of checks that ran, if there are any.

    An example is "2 points are undecided (inconclusive): neither earned nor lost".
    """
    rows = [row for graded in report.exercises for row in graded.checks]
    rest = sum(score_of_run_checks(graded).undecided for graded in report.exercises)
    if rest > 0:
        kinds = sorted({row.outcome.verdict.value.replace("_", " ") for row in rows if row.score.undecided})
        yield f"{points_text(rest)} points are undecided ({', '.join(kinds)}): neither earned nor lost"


def next_step_lines(report: Report) -> Iterator[str]:
    """Yield what to do next, in one or two lines.

    An example is "Next: fix double, then run  grade double".
    """
    lost = (row for row in report.exercises if row.score.earned + row.score.undecided < row.score.possible)
    started = [graded for graded in lost if graded.state == "started"]
    waiting = [graded for graded in report.exercises if graded.state == "not_started"]
    # What was begun comes before what is new.
    if started:
        yield f"Next: fix {started[0].exercise.id}, then run  grade {started[0].exercise.id}"
    elif waiting:
        exercise = waiting[0].exercise
        yield f"Next: {exercise.number} {exercise.title}:"
        yield f"      {exercise.path.as_posix()}"
    elif left_out := [graded.exercise.id for graded in report.exercises if graded.left_out]:
        yield f"The checks that ran passed. To run all checks:  grade {left_out[0]}"
    elif all(graded.state == "done" for graded in report.exercises):
        yield "All checks that can run here passed."
    elif withheld := sum(graded.withheld_points for graded in report.exercises):
        yield f"Shown checks pass, {points_text(withheld)} points at hand-in: read each rule again."
