"""What `grade` says between tries: it saves the progress after a run, then offers a hint, solutions, what comes next.

The solutions of a solved exercise are shown with what they cost, compared with the student's own code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import click

from grader.course.answers import as_submitted, public_text, read_answer
from grader.course.layout import is_entry
from grader.course.topics import read_topics
from grader.model import Check, Course, Exercise, Picture, Report
from grader.model.messages import Setup
from grader.model.picture import Bar, Card
from grader.model.score import counted, points_text
from grader.report.pictures import Drawing, lines_of
from grader.report.safe import for_terminal, prose
from grader.student import folder
from grader.student.own import own_exercise, own_files
from grader.student.pages import Row, next_row, rows_of

YOURS, REFERENCE = "yours", "reference"
_CONFINED = ("reduced", "full")
_EFFECTS = {
    r"(torch|np|numpy)\.save\w*\(|\.(write_text|write_bytes|to_csv)\(|\bopen\(.*, (mode=)?['\"][^'\"]*[wax+]": (
        "writes a file. The sandbox of grade discards it."
    ),
    r"\b(os\.(system|popen|spawn\w*|exec\w*)|subprocess\.\w+)\(": (
        "starts a program. The sandbox of grade does not allow that."
    ),
}
_OPERATIONS = (
    *(ast.Call, ast.Subscript, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.AugAssign),
    *(ast.IfExp, ast.If, ast.For, ast.While, ast.comprehension),
)
"""What counts in golf."""

_TRIES = 2
_FEW_TOPICS = 6
_WORDS = ("first", "second", "third")


def after_run(course: Course, report: Report, width: int) -> Iterator[str]:
    """Save how far the student is, and give advice."""
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
    texts += (*advice(course, report, after), *filter(None, [problem or before.problem]))
    if folder.is_behind(course.root):
        texts.append("The course has corrections. To get them and keep your work:  grade update")
    for text in texts:
        yield from prose(text, width, "", "  ")


def side_effects(exercise: Exercise) -> Iterator[str]:
    """What the sandbox does with files that the student's code writes, and with programs that it starts."""
    text = exercise.starter.read_text(encoding="utf-8", errors="replace") if exercise.starter.is_file() else ""
    for pattern, what in _EFFECTS.items():
        if match := re.search(rf"^[^#\n]*?({pattern})", text, re.MULTILINE):
            yield f"Line {text.count(chr(10), 0, match.end()) + 1} of {exercise.file_name} {what}"


def unchanged_lines(count: int, width: int) -> Iterator[str]:
    """How many exercises were not run, and why."""
    if count:
        since = "has not changed since it was" if count == 1 else "have not changed since they were"
        text = f"{counted(count, 'exercise')} {since} last run, so this is the result of that run (--fresh runs all)"
        yield from prose(text, width, "", "  ")


def advice(course: Course, report: Report, progress: folder.Progress) -> Iterator[str]:
    """Advice after a run, in sentences; `progress` is that after it."""
    lost = [item for item in report.exercises if item.state == "started" and item.score.earned < item.score.possible]
    if lost:
        # The exercise that the report says to fix next.
        exercise = lost[0].exercise
        standing = progress.of(exercise.id)
        if standing.tries >= _TRIES and standing.hints < len(exercise.hints):
            yield f"Stuck? Here is the {_WORDS[standing.hints]} of three hints:  grade hint {exercise.id}"
    elif len(report.exercises) == 1 and report.exercises[0].state == "done":
        yield from _after_full_marks(report.exercises[0].exercise)
        rows = rows_of(course, progress)
        following = next_row(course, rows, progress)
        if following is None:
            yield from ending(course, rows)
        else:
            yield f"Next: {following.exercise.number} {following.exercise.title}:  grade next"
    elif not any(item.checks for item in report.exercises):
        yield "To open the file:  grade open"
        yield "To have it graded each time you save it:  grade watch"


def _after_full_marks(exercise: Exercise) -> Iterator[str]:
    if exercise.reference is not None:
        others = f" and {counted(len(exercise.right), 'other right solution')}" if exercise.right else ""
        yield f"Compare your code with the reference{others}:  grade show {exercise.id} --reference"
    source = exercise.starter.read_bytes()
    if exercise.par is not None:
        with suppress(SyntaxError, ValueError):  # it has changed since it was graded
            yield _golf_line(operations(source), exercise.par)
    if b"def " in source:  # faults are planted in functions
        yield f"Play: find the fault that this plants in your code:  grade break {exercise.id}"


def operations(source: bytes) -> int:
    """How many operations the functions of a file have: each call, operator, index, condition and loop is one.

    What is raised counts for nothing, nor do decorators, annotations and docstrings.

    Raises:
        SyntaxError, ValueError: it is not valid Python.
    """
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    todo: list[ast.AST] = []
    for function in functions:
        todo += function.body if isinstance(function, ast.FunctionDef) else [function.body]
    count = 0
    while todo:
        node = todo.pop()
        # Functions within functions are in the list themselves.
        if not isinstance(node, ast.Raise | ast.FunctionDef | ast.Lambda):
            negative = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
            count += isinstance(node, _OPERATIONS) and not negative
            annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
            todo += [child for child in ast.iter_child_nodes(node) if child is not annotation]
    return count


def _golf_line(count: int, par: int) -> str:
    over = count - par
    how = f"{over} over par" if over > 0 else f"{-over} under par" if over else "par"
    return f"Golf: your functions have {counted(count, 'operation')} (calls, operators, indexes): {how}."


def ending(course: Course, rows: Sequence[Row]) -> Iterator[str]:
    """What a student reads after the last exercise."""
    done = [row for row in rows if row.state == "done"]
    known = len(rows) - len(done)
    earned = sum(row.earned for row in done)
    yield ""
    yield f"You have finished {course.title}: {counted(len(done), 'exercise')}, {points_text(earned)} points."
    taught = read_topics(course)
    ids = dict.fromkeys(id for row in done for id in row.exercise.topics if id in taught)
    if learned := [taught[id].name for id in ids]:
        more = f"; and {len(learned) - _FEW_TOPICS} more topics" if len(learned) > _FEW_TOPICS else ""
        yield f"Your code shows that you know: {'; '.join(learned[-_FEW_TOPICS:])}{more}."
    if known:
        yield f"You skipped {counted(known, 'exercise')} of modules that you know:  grade list --state known"
    yield "Find faults in your own code, and test your own checks:  grade break EXERCISE  and  grade catch EXERCISE"
    yield "Then write an exercise of your own:  grade new --course DIR"


def hints(course: Course, exercise: Exercise, width: int, *, everything: bool = False) -> Iterator[str]:
    """The lines of the next hint of an exercise, or of all; progress saves which were seen."""
    progress = folder.read_progress(course)
    total, standing = len(exercise.hints), progress.of(exercise.id)
    seen = min(standing.hints, total)
    numbers = range(1, total + 1) if everything else range(seen + 1, min(seen + 1, total) + 1)
    if not numbers:
        yield f"You have seen all {total} hints. To read them again:  grade hint {exercise.id} --all"
        return
    for number in numbers:
        yield click.style(f"Hint {number} of {total} for {exercise.id}", bold=True)
        yield from prose(exercise.hints[number - 1].strip(), width, "  ")
    if left := total - numbers[-1]:
        more = "is 1 more hint" if left == 1 else f"are {left} more hints"
        yield from prose(f"There {more}:  grade hint {exercise.id}", width)
    if numbers[-1] > seen:
        now = progress.with_(exercise.id, replace(standing, hints=numbers[-1]))
        if problem := folder.write_progress(course, now):
            yield from prose(f"{problem}; grade hint --all shows all of them", width)


def solution_lines(exercise: Exercise) -> Iterator[str]:
    """The code of the reference, and of the other right solutions."""
    assert exercise.reference is not None
    for number, path in enumerate((exercise.reference, *exercise.right)):
        answer = read_answer(exercise, path)
        text = for_terminal(public_text(answer.source.decode("utf-8"))).strip("\n")
        if is_entry(path):
            text = f"# {answer.sentence}\n{text}"
        title = "The reference" if number == 0 else f"Another right solution: {path.stem}"
        yield from ("", click.style(title, bold=True), *(f"    {line}".rstrip() for line in text.split("\n")))


def counted_lines(course: Course, exercise: Exercise, setup: Setup, width: int, drawing: Drawing) -> Iterator[str]:
    """What the checks that a student can see counted: of their code, of all right solutions, and of the starter.

    Raises:
        GraderError: a process of ours cannot be started.
    """
    assert exercise.reference is not None
    mine = own_files(course, [exercise])
    texts = {YOURS: None, REFERENCE: exercise.reference.read_bytes(), "starter": folder.starter_of(course, exercise)}
    texts |= {path.stem: read_answer(exercise, path).source for path in exercise.right}
    counters: dict[str, Mapping[str, Mapping[str, int]]] = {}
    checks: Sequence[Check] = ()
    with own_exercise(course, exercise, setup) as own:
        for name, text in texts.items():
            if name == YOURS or text is not None:
                other = mine if text is None else mine.with_files(exercise, as_submitted(exercise, text))
                handed_in = replace(other, author=name)
                (graded,) = own.graded(handed_in, with_tries=False).exercises
                counters[name] = {row.check.id: row.outcome.counters for row in graded.checks}
                checks = checks or [row.check for row in graded.checks]
    shown = [(check, cards) for check in checks if (cards := _cards(check.id, counters))]
    if not shown:
        yield "The checks of this exercise count nothing, so there are no numbers to compare."
    for check, cards in shown:
        yield from prose(f"{check.contract:<4}{for_terminal(check.title, one_line=True)}", width, "", "    ")
        for line in lines_of(Picture(cards=cards), width - 4, drawing):
            yield from prose(line, width, "    ", "  ") if drawing.plain else [f"    {line}"]


def _cards(check: str, counters: Mapping[str, Mapping[str, Mapping[str, int]]]) -> tuple[Card, ...]:
    """A card for each counter that the student's code and the reference have, unless it is 0 for both."""
    mine, reference = counters[YOURS].get(check, {}), counters[REFERENCE].get(check, {})
    cards = []
    for name in (name for name in mine if name in reference and (mine[name] or reference[name])):
        bars = [Bar(whose, rows[check][name]) for whose, rows in counters.items() if name in rows.get(check, {})]
        cards.append(Card(name, tuple(bars)))
    return tuple(cards)
