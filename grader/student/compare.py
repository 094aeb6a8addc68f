"""The reference of an exercise that was solved: its code, and what it costs beside the student's and the starter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.course.answers import as_submitted, public_text
from grader.grading.lanes import open_lanes
from grader.grading.plan import RunPlan
from grader.grading.submission import grade_submission
from grader.intake.collect import read_submission
from grader.model import Check, Course, Exercise, Picture
from grader.model.messages import Setup
from grader.model.picture import Bar, Card
from grader.report.pictures import Drawing, lines_of
from grader.report.safe import cut, filled, for_terminal
from grader.student.given import starter_of


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
            yield from filled(line.split(" "), "    ", width) if drawing.plain else [f"    {line}"]


def _cards(check: str, counters: Mapping[str, Mapping[str, Mapping[str, int]]]) -> tuple[Card, ...]:
    """A card for each counter that both have; where both are 0 there is nothing to see."""
    mine, reference = counters["yours"].get(check, {}), counters["reference"].get(check, {})
    cards = []
    for name in (name for name in mine if name in reference and (mine[name] or reference[name])):
        bars = [Bar(whose, rows[check][name]) for whose, rows in counters.items() if name in rows.get(check, {})]
        cards.append(Card(name, tuple(bars)))
    return tuple(cards)
