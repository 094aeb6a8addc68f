"""The reference of an exercise that was solved: its code, and what it costs beside the student's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from grader.course.answers import public_text
from grader.grading import Sheet, grade_submission
from grader.intake.folder import read_submission
from grader.jobs import Setup
from grader.lanes.open import open_lane
from grader.model import Course, Exercise, GradedCheck
from grader.report.lines import cut
from grader.report.safe import columns, for_terminal
from grader.report.words import counted_as


def reference_lines(path: Path) -> list[str]:
    """The code of a reference."""
    return for_terminal(public_text(path.read_text(encoding="utf-8"))).rstrip("\n").split("\n")


def counted_pair(course: Course, exercise: Exercise, setup: Setup, width: int) -> Iterator[str]:
    """A table of what was counted in the checks that a student can see: theirs, and the reference's.

    Raises:
        GraderError: a process of ours cannot be had.
    """
    assert exercise.reference is not None
    mine = read_submission(course.root, [exercise], author="you")
    text = exercise.reference.read_bytes()
    reference = replace(mine, author="reference", files={exercise.id: {exercise.file_name: text}})
    sheet = Sheet(course, [exercise], setup, runs_untouched=True)
    with open_lane([exercise], setup, hidden=(course.root,)) as lane:
        both = [grade_submission(sheet, item, lane).exercises[0].checks for item in (mine, reference)]
    # Where both counted nothing, there is nothing to compare.
    rows = [
        (first, counts) for first, second in zip(*both, strict=True) if (counts := [*_counts(first, second, width)])
    ]
    if not rows:
        yield "Nothing is counted in the checks of this exercise."
        return
    yield f"{'':{width - 24}}{'yours':>12}{'reference':>12}"
    for first, counts in rows:
        yield cut(f"{first.check.contract:<4}{for_terminal(first.check.title, one_line=True)}", width)
        yield from counts


def _counts(mine: GradedCheck, reference: GradedCheck, width: int) -> Iterator[str]:
    names = [name for name in mine.outcome.counters if name in reference.outcome.counters]
    for name in names:
        pair = mine.outcome.counters[name], reference.outcome.counters[name]
        if any(pair):
            left = cut(f"    {counted_as(name)}", width - 25)
            yield f"{left}{' ' * (width - 24 - columns(left))}{pair[0]:>12,}{pair[1]:>12,}"
