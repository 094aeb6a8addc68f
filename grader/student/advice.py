"""What `grade` says between tries: progress is saved after a run, then a hint, the reference, what comes next.

The reference of a solved exercise is shown with what it costs beside the student's own code and the starter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from grader.course.answers import as_submitted, public_text
from grader.grading.lanes import open_lanes
from grader.grading.plan import RunPlan
from grader.grading.submission import grade_submission
from grader.intake.collect import read_submission
from grader.model import Check, Course, Exercise, Picture, Report
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.model.picture import Bar, Card
from grader.model.score import counted
from grader.report.pictures import Drawing, lines_of
from grader.report.safe import cut, for_terminal, prose
from grader.student.given import is_behind, keep_starters, starter_of
from grader.student.progress import Progress, next_row, read_progress, rows_of, write_progress

_TRIES = 2
_WORDS = ("first", "second", "third")


def after_run(course: Course, report: Report, width: int) -> Iterator[str]:
    """Save how far the student is, and give advice."""
    before = read_progress(course)
    after = before.after(report)
    problem = write_progress(course, after)
    if not problem:
        keep_starters(course)
    lines = [*advice(course, report, after, saved=not problem), problem or before.problem]
    if is_behind(course.root):
        lines.append("The course was changed since you got it:  grade update  brings that, and keeps your work")
    for line in filter(None, lines):
        yield from prose(line, width)


def unchanged_lines(count: int, width: int) -> Iterator[str]:
    """How many exercises were not run, and why."""
    if count:
        since = "has not changed since it was" if count == 1 else "have not changed since they were"
        text = f"{counted(count, 'exercise')} {since} last run, so this is the result of that run (--fresh runs all)"
        yield from prose(text, width)


def advice(course: Course, report: Report, progress: Progress, *, saved: bool = True) -> Iterator[str]:
    """Advice after a run, in sentences.

    Args:
        course: the course.
        report: of the run.
        progress: after it.
        saved: whether later commands know the progress: they show the reference to those who have solved the exercise.
    """
    lost = [item for item in report.exercises if item.state == "started" and item.score.earned < item.score.possible]
    if lost:
        # The exercise that the report says to fix next.
        exercise = lost[0].exercise
        standing = progress.of(exercise.id)
        if standing.tries >= _TRIES and standing.hints < len(exercise.hints):
            yield f"Stuck? The {_WORDS[standing.hints]} of three hints:  grade hint {exercise.id}"
    elif len(report.exercises) == 1 and report.exercises[0].state == "done":
        exercise = report.exercises[0].exercise
        if exercise.reference is not None and saved:
            yield f"Compare it with the reference:  grade show {exercise.id} --reference"
        elif exercise.reference is None:
            yield "The reference is not in this copy of the course."
        following = next_row(course, rows_of(course, progress), progress)
        if following is not None:
            yield f"Next: {following.exercise.number} {following.exercise.title}:  grade next"
        else:
            yield "You have solved the course."


def hints(
    course: Course, exercise: Exercise, width: int, *, again: bool = False, everything: bool = False
) -> Iterator[str]:
    """The lines of the next hint of an exercise; progress saves which were seen.

    Args:
        course: the course.
        exercise: the exercise.
        width: columns of the terminal.
        again: those that were seen, instead.
        everything: all of them, instead.

    Raises:
        CourseError: the student has seen no hint yet.
    """
    progress = read_progress(course)
    total, standing = len(exercise.hints), progress.of(exercise.id)
    seen = min(standing.hints, total)
    if again and not seen:
        raise CourseError(f"you have seen no hint of {exercise.id} yet: grade hint {exercise.id}")
    if everything:
        numbers = range(1, total + 1)
    elif again:
        numbers = range(1, seen + 1)
    else:
        numbers = range(seen + 1, min(seen + 1, total) + 1)
    if not numbers:
        yield f"You have seen all {total} hints: grade hint {exercise.id} --again"
        return
    for number in numbers:
        yield click.style(f"Hint {number} of {total} for {exercise.id}", bold=True)
        yield from prose(exercise.hints[number - 1].strip(), width, "  ")
    if left := total - numbers[-1]:
        yield f"{left} more: grade hint {exercise.id}"
    if numbers[-1] > seen:
        now = progress.with_(exercise.id, replace(standing, hints=numbers[-1]))
        if problem := write_progress(course, now):
            yield from prose(f"{problem}; grade hint --all shows all of them", width)


def reference_lines(path: Path) -> list[str]:
    """The code of a reference."""
    return for_terminal(public_text(path.read_text(encoding="utf-8"))).rstrip("\n").split("\n")


def counted_lines(course: Course, exercise: Exercise, setup: Setup, width: int, drawing: Drawing) -> Iterator[str]:
    """A score card: what was counted in the checks that a student can see, of theirs, the reference, the starter.

    Raises:
        GraderError: a process of ours cannot be had.
    """
    assert exercise.reference is not None
    mine = read_submission(course.root, [exercise], author="you")
    texts = {"yours": None, "reference": exercise.reference.read_bytes(), "starter": starter_of(course, exercise)}
    plan = RunPlan(course, [exercise], setup, runs_untouched=True)
    counters: dict[str, Mapping[str, Mapping[str, int]]] = {}
    checks: Sequence[Check] = ()
    with open_lanes([exercise], setup, hidden=(course.root,)) as lanes:
        for name, text in texts.items():
            if name == "yours" or text is not None:
                files = mine.files if text is None else {exercise.id: as_submitted(exercise, text)}
                graded = grade_submission(plan, replace(mine, author=name, files=files), lanes).exercises[0]
                counters[name] = {row.check.id: row.outcome.counters for row in graded.checks}
                checks = checks or [row.check for row in graded.checks]
    found = [(check, cards) for check in checks if (cards := _cards(check.id, counters))]
    if not found:
        yield "Nothing is counted in the checks of this exercise."
    for check, cards in found:
        yield cut(f"{check.contract:<4}{for_terminal(check.title, one_line=True)}", width)
        for line in lines_of(Picture(cards=cards), width - 4, drawing):
            yield from prose(line, width, "    ", "  ") if drawing.plain else [f"    {line}"]


def _cards(check: str, counters: Mapping[str, Mapping[str, Mapping[str, int]]]) -> tuple[Card, ...]:
    """A card for each counter that both have; where both are 0 there is nothing to see."""
    mine, reference = counters["yours"].get(check, {}), counters["reference"].get(check, {})
    cards = []
    for name in (name for name in mine if name in reference and (mine[name] or reference[name])):
        bars = [Bar(whose, rows[check][name]) for whose, rows in counters.items() if name in rows.get(check, {})]
        cards.append(Card(name, tuple(bars)))
    return tuple(cards)
