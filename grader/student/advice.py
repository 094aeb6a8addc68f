"""Advice after a run, and what is saved of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.course.golf import count_operations
from grader.course.topics import read_topics
from grader.model import Course, Exercise, Report
from grader.model.report import PASSES_HERE
from grader.model.score import pluralize, points_text
from grader.report.safe import prose
from grader.student import folder
from grader.student.folder import CourseProgress
from grader.student.rows import LoadModule, Row, next_row, rows_of, unchanged_module
from grader.student.side_effects import side_effects

_CONFINED = ("reduced", "full")
_TRIES = 2
_FEW_TOPICS = 6
_WORDS = ("first", "second", "third")


def advice_after_run(
    course: Course, report: Report, width: int, load_module: LoadModule = unchanged_module
) -> Iterator[str]:
    """Save the student's progress after a run, and yield lines of advice.

    Args:
        course: the course; it must have all exercises if `must_keep_starters` is true of it.
        report: the report of the run.
        width: columns of the terminal.
        load_module: a function that returns a module with all its exercises; see `advice`.
    """
    before = folder.read_progress(course)
    after = before.after(report)
    problem = folder.write_progress(course, after)
    if not problem:
        folder.save_starters(course)
    texts: list[str] = []
    for graded in (graded for graded in report.exercises if graded.checks):
        changed = folder.changed_checks(course, graded.exercise)
        texts += (folder.CHANGED.format(name=path.name) for path in changed)
        if report.environment.confinement in _CONFINED:
            texts += side_effects(graded.exercise)
    texts += (
        *advice(course, report, after, saved=not problem, load_module=load_module),
        *filter(None, [problem or before.problem]),
    )
    if folder.is_behind(course.root):
        texts.append("The course has corrections. To get them and keep your work:  grade update")
    for text in texts:
        yield from prose(text, width, "", "  ")


def unchanged_lines(count: int, width: int) -> Iterator[str]:
    """Yield lines that say how many exercises were not run again, as they have not changed.

    Nothing is yielded if `count` is 0.
    """
    if count:
        since = "has not changed since it was" if count == 1 else "have not changed since they were"
        text = f"{pluralize(count, 'exercise')} {since} last run, so this is the result of that run (--fresh runs all)"
        yield from prose(text, width, "", "  ")


def advice(
    course: Course,
    report: Report,
    progress: CourseProgress,
    *,
    saved: bool = True,
    load_module: LoadModule = unchanged_module,
) -> Iterator[str]:
    """Yield sentences of advice after a run, such as "Next: 02-3 Views:  grade next".

    Args:
        course: the course.
        report: the report of the run.
        progress: the student's progress after the run.
        saved: True if the progress is saved, so that later commands show the reference of a solved exercise.
        load_module: a function that returns a module with all its exercises, as `course` may have only those that were
            run.
    """
    lost = [item for item in report.exercises if item.state == "started" and item.score.earned < item.score.possible]
    if lost:
        # The exercise that the report says to fix next.
        exercise = lost[0].exercise
        so_far = progress.of(exercise.id)
        if so_far.tries >= _TRIES and so_far.hints < len(exercise.hints):
            yield f"Stuck? Here is the {_WORDS[so_far.hints]} of three hints:  grade hint {exercise.id}"
    elif len(report.exercises) == 1 and report.exercises[0].passes_here:
        if report.exercises[0].state == "done":  # who is not done yet needs no game
            yield from _lines_after_full_marks(report.exercises[0].exercise, saved=saved)
        following = next_row(course, progress=progress, load_module=load_module)
        if following is None:
            everything = replace(course, modules=tuple(map(load_module, course.modules)))
            yield from ending_lines(course, rows_of(everything, progress))
        else:
            yield f"Next: {following.exercise.number} {following.exercise.title}:  grade next"
    elif not any(item.checks for item in report.exercises):
        yield "To open the file:  grade open"
        yield "To have it graded each time you save it:  grade watch"


def _lines_after_full_marks(exercise: Exercise, *, saved: bool) -> Iterator[str]:
    """Yield sentences on what a student may do after full marks for an exercise.

    They name `grade show --reference`, the score in golf if the exercise has a par, and `grade break`.

    Args:
        exercise: the exercise.
        saved: True if the progress is saved. Otherwise no line names the reference, since `grade show` would not show
            it.
    """
    if exercise.reference is not None and saved:
        others = f" and {pluralize(len(exercise.right), 'other right solution')}" if exercise.right else ""
        yield f"Compare your code with the reference{others}:  grade show {exercise.id} --reference"
    source = exercise.starter.read_bytes()
    try:
        functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError):  # it has changed since it was graded
        return
    if exercise.par is not None:
        yield _golf_line(count_operations(source), exercise.par)
    if functions:  # faults are planted in those
        yield f"Play: find the fault that this plants in your code:  grade break {exercise.id}"


def _golf_line(count: int, par: int) -> str:
    over = count - par
    how = f"{over} over par" if over > 0 else f"{-over} under par" if over else "par"
    return f"Golf: your functions have {pluralize(count, 'operation')} (calls, operators, indexes): {how}."


def ending_lines(course: Course, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the sentences that a student reads after the last exercise of the course."""
    done = [row for row in rows if row.state in ("done", PASSES_HERE)]
    known = len(rows) - len(done)
    earned, withheld = sum(row.earned for row in done), sum(row.exercise.withheld.points for row in done)
    yield ""
    if withheld:
        yield f"The shown checks of {pluralize(len(done), 'exercise')} pass: {points_text(earned)} points."
        yield f"Hidden checks decide {points_text(withheld)} more at hand-in. To hand in:  grade pack"
        return
    yield f"You have finished {course.title}: {pluralize(len(done), 'exercise')}, {points_text(earned)} points."
    taught = read_topics(course)
    ids = dict.fromkeys(id for row in done for id in row.exercise.topics if id in taught)
    if learned := [taught[id].name for id in ids]:
        more = f"; and {len(learned) - _FEW_TOPICS} more topics" if len(learned) > _FEW_TOPICS else ""
        yield f"Your code shows that you know: {'; '.join(learned[-_FEW_TOPICS:])}{more}."
    if known:
        yield f"You skipped {pluralize(known, 'exercise')} of modules that you know:  grade list --state known"
    if done:
        hardest = max(done, key=lambda row: row.exercise.difficulty).exercise
        yield f"Can you still debug the hardest one? Find the fault in your own code:  grade break {hardest.id}"
        if hardest.reference is not None and hardest.wrong:
            mistakes = pluralize(len(hardest.wrong), "known mistake")
            yield f"Can you test it? Write a check that catches {mistakes}:  grade catch {hardest.id}"
    yield "Then write an exercise of your own:  grade new --course DIR"
