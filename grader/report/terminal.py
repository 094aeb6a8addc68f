"""A report for a terminal: 80 columns, ASCII of our own, readable without colour."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click

from grader.course.layout import Places
from grader.model import GradedCheck, GradedExercise, Report, Verdict
from grader.model.score import points_text
from grader.report.safe import columns, for_terminal

WIDTH = 80
_WORDS = {
    Verdict.PASSED: ("pass", "green"),
    Verdict.FAILED: ("FAIL", "red"),
    Verdict.CRASHED: ("CRASH", "red"),
    Verdict.TIMED_OUT: ("TIME", "red"),
    Verdict.OVER_LIMIT: ("LIMIT", "red"),
    Verdict.SKIPPED: ("skip", "yellow"),
    Verdict.NOT_RUN: ("not run", "cyan"),
    Verdict.INCONCLUSIVE: ("unsure", "cyan"),
    Verdict.BROKEN: ("BROKEN", "magenta"),
}
_COUNTERS = {
    "ops": ("operation", "operations"),
    "bytes": ("byte of new memory", "bytes of new memory"),
    "peak": ("byte at the peak", "bytes at the peak"),
    "transfers": ("copy between devices", "copies between devices"),
    "transferred": ("byte between devices", "bytes between devices"),
    "syncs": ("wait for a device", "waits for a device"),
    "collectives": ("collective", "collectives"),
    "sent": ("byte sent to other ranks", "bytes sent to other ranks"),
    "escapes": ("way out of PyTorch", "ways out of PyTorch"),
    "versions": ("write in place", "writes in place"),
    "warnings": ("warning", "warnings"),
}
_MOST_OUTPUT_LINES = 12
_TITLE = 52


def exercise_lines(graded: GradedExercise) -> Iterator[str]:
    """One exercise: its checks in short, the first that did not pass in full, what was printed, what to do next."""
    exercise = graded.exercise
    score = f"{points_text(graded.score.earned)} / {points_text(graded.score.possible)} points"
    yield click.style(_row(f"{exercise.number} {exercise.title}", score), bold=True)
    # One message at a time: the next thing to mend, not a wall of text.
    first = next((row for row in graded.checks if _needs_words(row)), None)
    if first is not None and _is_shared(first, graded.checks):
        yield from _message(first)
        yield from _output(graded)
        return
    for row in graded.checks:
        yield _check_row(row)
        if row is first:
            yield from _message(row)
        else:
            yield from _measured(row)
    yield from _output(graded)
    if graded.withheld_points:
        checks, points = exercise.withheld.checks, points_text(graded.withheld_points)
        yield f"  {checks} more checks decide {points} points when you hand in."
    broken = [row for row in graded.checks if row.outcome.verdict is Verdict.BROKEN]
    if broken:
        yield f"  {len(broken)} of our own checks are broken; their points are not lost. Tell your instructor."


def summary_lines(report: Report) -> Iterator[str]:
    """The table of all exercises, the total, and what to do next."""
    yield _rule()
    for graded in report.exercises:
        score = f"{points_text(graded.score.earned):>6} / {points_text(graded.score.possible)}"
        yield _row(f"{graded.exercise.number} {graded.exercise.title}", f"{_state(graded):<12} {score:<12}")
    yield _rule()
    yield from _total(report)
    yield from _next(report)


def _total(report: Report) -> Iterator[str]:
    rows = [row for graded in report.exercises for row in graded.checks]
    total = report.score
    withheld = sum(graded.withheld_points for graded in report.exercises)
    if withheld:
        yield (
            f"shown {points_text(total.earned)} / {points_text(total.possible - withheld)} points; "
            f"{points_text(withheld)} more are decided by hidden checks when you hand in"
        )
    else:
        yield click.style(f"{points_text(total.earned)} / {points_text(total.possible)} points", bold=True)
    rest = total.undecided - withheld
    if rest > 0:
        kinds = sorted({row.outcome.verdict.value.replace("_", " ") for row in rows if row.score.undecided})
        yield f"{points_text(rest)} points are undecided ({', '.join(kinds)}): neither earned nor lost"


def _next(report: Report) -> Iterator[str]:
    lost = [
        graded for graded in report.exercises if graded.score.earned + graded.score.undecided < graded.score.possible
    ]
    started = [graded for graded in lost if graded.state == "started"]
    waiting = [graded for graded in report.exercises if graded.state == "not_started"]
    # What was begun comes before what is new.
    if started:
        yield f"Next: mend {started[0].exercise.id}, then run  grade {started[0].exercise.id}"
    elif waiting:
        exercise = waiting[0].exercise
        yield f"Next: {exercise.number} {exercise.title}. Open"
        yield f"      {Places.of(exercise).starter.as_posix()}"
    elif all(graded.state == "done" for graded in report.exercises):
        yield "All that could run here passed."


def _check_row(row: GradedCheck) -> str:
    # The word says it all: colours are lost in a pipe, and to some readers.
    word, colour = _WORDS[row.outcome.verdict]
    kind = "" if row.check.shown else " (hidden)"
    title = _cut(for_terminal(row.check.title, one_line=True), _TITLE + 6 - len(kind)) + kind
    points = f"{points_text(row.score.earned)} / {points_text(row.score.possible)}"
    return f"  {click.style(f'{word:<7}', fg=colour)} {title:<{_TITLE + 6}} {points:>11}"


def _measured(row: GradedCheck) -> Iterator[str]:
    """What was counted and measured, in words."""
    counts = [_count(name, number) for name, number in row.outcome.counters.items() if number]
    if counts:
        yield from _wrapped(", ".join(counts), "          ")
    for found in row.speed:
        yield from _wrapped(for_terminal(found.told), "          ")


def _count(name: str, number: int) -> str:
    """A counter in words; names are ours."""
    one, many = _COUNTERS.get(name, (name, name))
    return f"{number:,} {one if number == 1 else many}"


def _message(row: GradedCheck) -> Iterator[str]:
    for line in for_terminal(row.outcome.message).split("\n"):
        if not line:
            yield ""
            continue
        yield from _wrapped(line, "          ")


def _wrapped(line: str, indent: str) -> list[str]:
    """A long line wrapped under its own indentation; code is left alone, since a broken line would not run."""
    # A message's own indentation is kept, so that what belongs together stays in one column.
    own = indent + line[: len(line) - len(line.lstrip())]
    if len(indent) + len(line) <= WIDTH or line.startswith("    "):
        return [indent + line]
    return textwrap.wrap(line.lstrip(), WIDTH, initial_indent=own, subsequent_indent=own + "  ", break_long_words=False)


def _output(graded: GradedExercise) -> Iterator[str]:
    text = for_terminal(graded.output).rstrip("\n")
    if not text:
        return
    lines = text.split("\n")
    yield "  You printed:"
    for line in lines[:_MOST_OUTPUT_LINES]:
        yield f"    | {_cut(line, WIDTH - 6)}"
    if len(lines) > _MOST_OUTPUT_LINES:
        yield f"    | ... {len(lines) - _MOST_OUTPUT_LINES} more lines"


def _needs_words(row: GradedCheck) -> bool:
    return row.outcome.verdict not in (Verdict.PASSED, Verdict.NOT_RUN)


def _is_shared(first: GradedCheck, rows: Sequence[GradedCheck]) -> bool:
    """Whether all checks ended for one and the same reason, such as a file that does not load."""
    head = first.outcome.message.split("\n")[0]
    same = [row for row in rows if row.outcome.message.split("\n")[0] == head]
    return len(rows) > 1 and len(same) == len([row for row in rows if row.outcome.verdict is not Verdict.NOT_RUN])


def _state(graded: GradedExercise) -> str:
    return graded.state.replace("_", " ")


def _row(left: str, right: str) -> str:
    room = WIDTH - len(right) - 1
    left = _cut(for_terminal(left, one_line=True), room)
    return f"{left:<{room}} {right}".rstrip()


def _cut(text: str, room: int) -> str:
    if columns(text) <= room:
        return text
    # Room for the dots.
    kept = text[: room - 4]
    while columns(kept) > room - 4:  # characters of two columns
        kept = kept[:-1]
    return f"{kept} ..."


def _rule() -> str:
    return "-" * WIDTH
