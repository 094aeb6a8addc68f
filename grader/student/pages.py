"""What a student reads besides the report: `grade list`, `next`, `show`, `hint`, and advice after a run.

A row is an exercise with the student's state in it. Lines have 40 to 80 columns, and are readable without colour.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from grader.course.answers import as_submitted, public_text, read_answer
from grader.course.golf import operations
from grader.course.layout import Places, is_entry, kept_progress, staff_root
from grader.course.load import find_exercises, one_exercise
from grader.course.marks import declared_checks, marks_text
from grader.course.topics import read_topics
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, Report
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.model.report import PASSES_HERE
from grader.model.score import counted, in_points, points_text
from grader.report.pictures import lines_of
from grader.report.safe import filled, for_terminal, prose, two_sides
from grader.report.words import counts_text
from grader.student import folder
from grader.student.folder import Progress, Standing, typed

KNOWN = "known"
_NARROW = 64
_RULE = re.compile(r"C[0-9]+[.:)]?\s+")
_PARAGRAPH = re.compile(
    rf"^{_RULE.pattern}.*(\n(?!{_RULE.pattern}| *>>>| *$).+)*"  # a rule goes on in lines that stand further in
    rf"|^[^ \n].*(\n(?!{_RULE.pattern}| *>>>| |$).+)*|^.*$",
    re.MULTILINE,
)
_CONFINED = ("reduced", "full")
_WRITES = ("torch.save", "numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt")
_WRITING_METHODS = ("write_text", "write_bytes", "to_csv")
_STARTS = ("os.system", "os.popen", "os.spawn", "os.exec", "os.posix_spawn", "subprocess.")
_TRIES = 2
_FEW_TOPICS = 6
_NAME = 9
_WORDS = ("first", "second", "third")


@dataclass(frozen=True)
class Row:
    """One exercise and the student's state in it.

    Attributes:
        exercise: the exercise.
        standing: what is saved of it.
        state: not_started, started, shown_pass, done, or known: not started, and the last one of its module is done.
        earned: hundredths of a point, of the last run.
        fast: whether it is on the fast track: the last one of its module.
    """

    exercise: Exercise
    standing: Standing
    state: str = "not_started"
    earned: int = 0
    fast: bool = False

    @property
    def possible(self) -> int:
        """Hundredths of a point that the checks of this copy give: the scale of `grade`."""
        return self.exercise.points - self.exercise.withheld.points

    @property
    def is_open(self) -> bool:
        """Whether it is still to be solved."""
        return self.state in ("not_started", "started")


def rows_of(course: Course, progress: Progress | None = None) -> list[Row]:
    """A row for each exercise, in order, by default by the saved progress.

    Its file shows whether it was begun, the last run how far it is.
    """
    progress = progress or folder.read_progress(course)
    submission = read_submission(course.root, course.exercises, author="")
    rows = []
    for module in course.modules:
        mine = []
        for exercise in module.exercises:
            standing = progress.of(exercise.id)
            row = Row(exercise, standing, fast=exercise is module.exercises[-1])
            if (own := submission.of(exercise)).files and not own.untouched:
                begun = "started" if standing.state == "not_started" else standing.state
                row = replace(row, state=begun, earned=round(100 * standing.earned))
            mine.append(row)
        is_known = mine[-1:] and mine[-1].state == "done"
        rows += [replace(row, state=KNOWN) if is_known and row.state == "not_started" else row for row in mine]
    return rows


def chosen(
    course: Course, rows: Sequence[Row], names: Collection[str], topic: str | None, states: Collection[str]
) -> list[Row]:
    """Those of the given names, of a topic, in one of the states.

    Args:
        course: the course.
        rows: all of them.
        names: of exercises or modules; none for all.
        topic: a topic's id, or some words of its name.
        states: with a hyphen, as they are typed; none for all.

    Raises:
        CourseError: there is no such exercise, module or topic.
    """
    wanted = {exercise.id for name in names for exercise in find_exercises(course, name)}
    topics = _topics(course, topic) if topic else set()
    return [
        row
        for row in rows
        if (not names or row.exercise.id in wanted)
        and (topic is None or topics & set(row.exercise.topics))
        and (not states or row.state.replace("_", "-") in states)
    ]


def _topics(course: Course, topic: str) -> set[str]:
    names, word = {id: row.name.casefold() for id, row in read_topics(course).items()}, topic.casefold()
    if topics := {id for id in names if id.casefold() == word} or {id for id in names if word in names[id]}:
        return topics
    raise CourseError(f"this course has no topic {topic!r}; give an id such as T22, or a word such as stride")


def next_row(course: Course, start: str | None = None, progress: Progress | None = None) -> Row | None:
    """What to do next: the exercise in hand until it is solved, then the first unsolved one after it; None for none.

    Args:
        course: the course.
        start: an exercise or a module to go on from instead.
        progress: by default that which is saved.

    Raises:
        CourseError: there is no such exercise or module.
    """
    progress = progress or folder.read_progress(course)
    rows = rows_of(course, progress)
    ids = [row.exercise.id for row in rows]
    first = find_exercises(course, start)[0].id if start else progress.last
    place = ids.index(first) if first in ids else 0
    # Round the course: what was left out on the way comes when the end is reached.
    ahead = [*rows[place:], *rows[:place]]
    return next((row for row in ahead if row.is_open or (start and row.state == KNOWN)), None)


def exercise_in_hand(course: Course, name: str | None) -> Exercise:
    """The exercise of a name, or the one that comes next.

    Raises:
        CourseError: there is no such exercise, or nothing left to solve.
    """
    if name is not None:
        return one_exercise(course, name)
    row = next_row(course)
    if row is None:
        raise CourseError("you have solved all exercises; name one")
    return row.exercise


def solved_reference(course: Course, exercise: Exercise) -> Path:
    """The reference of an exercise that the student has solved.

    Raises:
        CourseError: it is not solved, or there is no reference.
    """
    if exercise.reference is None:
        raise CourseError(f"the reference of {exercise.id} is not in this copy of the course")
    if not folder.read_progress(course).of(exercise.id).solved:
        where = kept_progress(course).relative_to(course.root).as_posix()
        raise CourseError(
            f"the solutions are shown once you have full marks for {exercise.id} (recorded in {where}). Until then:  "
            f"grade hint {exercise.id}"
        )
    return exercise.reference


# -- lines


def list_lines(course: Course, rows: Sequence[Row], width: int) -> Iterator[str]:
    """The chosen exercises below their modules, with state and points; then the totals."""
    for module in course.modules:
        mine = [row for row in rows if row.exercise.module == module.id]
        if mine:
            yield from (click.style(line, bold=True) for line in two_sides(module.title, "", width))
            for row in mine:
                yield from _list_row(row, width)
    earned, possible = sum(row.earned for row in rows), sum(row.possible for row in rows)
    done = sum(row.state == "done" for row in rows)
    withheld = sum(row.exercise.withheld.points for row in rows)
    total = f"{points_text(earned)} / {points_text(possible)} points"
    if withheld:
        passing = sum(row.state == PASSES_HERE for row in rows)
        counts = f"shown checks pass in {passing} of {len(rows)}, {total}, {points_text(withheld)} more at hand-in"
        yield from prose(f"{done} done, {counts}" if done else counts.capitalize(), width)
    else:
        yield f"{done} of {len(rows)} done, {total}"
    if any(row.fast for row in rows):
        yield from prose("* fast track: if you solve this one, you may skip the rest of its module", width)


def _list_row(row: Row, width: int) -> list[str]:
    exercise, state = row.exercise, row.state.replace("_", " ")
    points = f"{points_text(row.earned)} / {points_text(row.possible)}"
    left = f"  {exercise.number:<5} {'*' if row.fast else ' '} {for_terminal(exercise.title, one_line=True)}"
    if width < _NARROW:
        return [*two_sides(left, "", width), f"          {state:<12}{points:>{width - 22}}"]
    minutes = f"{exercise.minutes} min" if exercise.minutes else ""
    return two_sides(left, f"{state:<12}{points:>12}{minutes:>9}", width)


def list_data(course: Course, rows: Sequence[Row]) -> dict[str, Any]:
    """The same for other programs."""
    return {"course": course.title, "exercises": [_row_data(row) for row in rows]}


def _row_data(row: Row) -> dict[str, Any]:
    exercise, standing = row.exercise, row.standing
    return {
        "id": exercise.id,
        "number": exercise.number,
        "title": exercise.title,
        "module": exercise.module,
        "state": row.state,
        "earned": in_points(row.earned),
        "possible": in_points(exercise.points),
        "solved": standing.solved,
        "tries": standing.tries,
        "hints": standing.hints,
        "fast_track": row.fast,
        "difficulty": exercise.difficulty,
        "minutes": exercise.minutes,
        "topics": list(exercise.topics),
        "path": Places.of(exercise).starter.as_posix(),
    }


def next_lines(row: Row, width: int) -> Iterator[str]:
    """What to do next: which exercise, where it is, which commands."""
    exercise = row.exercise
    yield from _head(exercise, width)
    verb = "Continue with it" if row.state == "started" else "Read the task at its top, change what is marked TODO"
    yield from prose(f"{verb}, save, then run", width)
    yield f"  grade {exercise.id}"
    yield from prose("To open the file:  grade open", width)


def show_lines(exercise: Exercise, width: int, *, rules: bool = False, plain: bool = False) -> Iterator[str]:
    """A task: where it is, how hard it is, how long it takes, its text, a picture.

    Args:
        exercise: the exercise.
        width: columns of the terminal.
        rules: also what broken rules cost where marks are given, and the checks that the student can read.
        plain: a sentence in place of a picture.

    Raises:
        CourseError: its text is lost.
    """
    if not exercise.task:
        shown = typed(exercise.starter)
        remedy = f"To restore the starter:  grade reset {exercise.id}"
        raise CourseError(f"{shown} is missing, or has lost its task. {remedy}")
    yield from _head(exercise, width)
    yield ""
    yield from _task(exercise.task, exercise.title, width)
    if exercise.example is not None:
        yield ""
        yield from lines_of(exercise.example, width, plain=plain)
    if rules:
        yield from _rules_lines(exercise, width)


def _rules_lines(exercise: Exercise, width: int) -> Iterator[str]:
    # In a copy the task has these sentences, made of all checks; some of the checks are not here.
    if not exercise.withheld.checks and (text := marks_text(exercise)) and text not in " ".join(exercise.task.split()):
        yield from ("", *prose(f"Where marks are given: {text[0].lower()}{text[1:]}", width))
    if exercise.shown_checks is not None:
        yield from ("", "Checks that you can read:", f"  {typed(exercise.shown_checks)}")
        for _, rule, title in declared_checks(exercise.shown_checks):
            yield from filled(f"{rule:<4}{for_terminal(title, one_line=True)}", "  ", width, "    ")
        if exercise.hidden_checks is not None:
            yield from prose("Hidden checks examine the same rules on other inputs.", width)


def _head(exercise: Exercise, width: int) -> Iterator[str]:
    title = f"{exercise.number} {for_terminal(exercise.title, one_line=True)}"
    yield from (click.style(line, bold=True) for line in two_sides(title, "", width))
    minutes = f", about {exercise.minutes} minutes" if exercise.minutes else ""
    points = points_text(exercise.points)
    facts = f"{exercise.kind}, difficulty {exercise.difficulty} of 4{minutes}, {points} points"
    yield from (f"  {line}" for line in prose(facts, width - 2))
    yield f"  {typed(exercise.starter)}"


def _task(doc: str, title: str, width: int) -> Iterator[str]:
    """The text of a task, in lines of this width; examples are left alone."""
    text = for_terminal(doc).rstrip()
    first, _, rest = text.partition("\n")
    text = rest if first.strip() == title else text  # the title stands above
    for lines in (match[0] for match in _PARAGRAPH.finditer(text.lstrip("\n"))):
        if not lines.strip() or lines.startswith(" "):
            yield lines.rstrip()
        else:
            text = " ".join(line.strip() for line in lines.split("\n"))
            yield from filled(text, "", width, "    " if _RULE.match(lines) else "")


def needs_whole_course(course: Course, report: Report) -> bool:
    """Return whether `after_run` needs the exercises that were not run: to name the next one, or to save starters."""
    return [item.passes for item in report.exercises] == [True] or staff_root(course.root) == course.root


def after_run(course: Course, report: Report, width: int) -> Iterator[str]:
    """Save how far the student is, and give advice.

    Args:
        course: the course; where `needs_whole_course` says so, with all of its exercises.
        report: of the run.
        width: columns of the terminal.
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
    texts += (*advice(course, report, after, saved=not problem), *filter(None, [problem or before.problem]))
    if folder.is_behind(course.root):
        texts.append("The course has corrections. To get them and keep your work:  grade update")
    for text in texts:
        yield from prose(text, width, "", "  ")


def side_effects(exercise: Exercise) -> Iterator[str]:
    """Say what the sandbox does with files that the student's code writes, and with programs that it starts."""
    try:
        tree = ast.parse(exercise.starter.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # `grade` says what is wrong with it
        return
    calls = sorted((node for node in ast.walk(tree) if isinstance(node, ast.Call)), key=lambda node: node.lineno)
    imported = _imported(tree)
    names = [(node, _dotted(node.func, imported)) for node in calls]
    writes = (node.lineno for node, name in names if name in _WRITES or _writes(node, name))
    starts = (node.lineno for node, name in names if name.startswith(_STARTS))
    if line := next(writes, None):
        yield f"Line {line} of {exercise.file_name} writes a file. The sandbox of grade discards it."
    if line := next(starts, None):
        yield f"Line {line} of {exercise.file_name} starts a program. The sandbox of grade does not allow that."


def _imported(tree: ast.Module) -> dict[str, str]:
    """The names that a file imports, each with its dotted name: `np` is numpy."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names |= {one.asname: f"{prefix}{one.name}" for one in node.names if one.asname}
            names |= {one.name: f"{prefix}{one.name}" for one in node.names if prefix and not one.asname}
    return names


def _dotted(node: ast.expr, imported: Mapping[str, str]) -> str:
    """The dotted name of what is called; of a method of some value, a dot and its name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(imported.get(node.id, node.id) if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))


def _writes(call: ast.Call, name: str) -> bool:
    """Whether a call is one of a method that writes a file, or opens one to write it."""
    _, dot, method = name.rpartition(".")
    if method != "open":
        return bool(dot) and method in _WRITING_METHODS
    modes = [part.value for part in call.keywords if part.arg == "mode"]
    modes += call.args[(0 if dot and name != "io.open" else 1) :][:1]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(set(text) & set("wax+") and set(text) <= set("rwaxbt+") for text in texts)


def unchanged_lines(count: int, width: int) -> Iterator[str]:
    """How many exercises were not run, and why."""
    if count:
        since = "has not changed since it was" if count == 1 else "have not changed since they were"
        text = f"{counted(count, 'exercise')} {since} last run, so this is the result of that run (--fresh runs all)"
        yield from prose(text, width, "", "  ")


def advice(course: Course, report: Report, progress: Progress, *, saved: bool = True) -> Iterator[str]:
    """Give advice after a run, in sentences.

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
            yield f"Stuck? Here is the {_WORDS[standing.hints]} of three hints:  grade hint {exercise.id}"
    elif len(report.exercises) == 1 and report.exercises[0].passes:
        if report.exercises[0].state == "done":  # who is not done yet needs no game
            yield from _after_full_marks(report.exercises[0].exercise, saved=saved)
        following = next_row(course, progress=progress)
        if following is None:
            yield from ending(course, rows_of(course, progress))
        else:
            yield f"Next: {following.exercise.number} {following.exercise.title}:  grade next"
    elif not any(item.checks for item in report.exercises):
        yield "To open the file:  grade open"
        yield "To have it graded each time you save it:  grade watch"


def _after_full_marks(exercise: Exercise, *, saved: bool) -> Iterator[str]:
    if exercise.reference is not None and saved:
        others = f" and {counted(len(exercise.right), 'other right solution')}" if exercise.right else ""
        yield f"Compare your code with the reference{others}:  grade show {exercise.id} --reference"
    source = exercise.starter.read_bytes()
    try:
        functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError):  # it has changed since it was graded
        return
    if exercise.par is not None:
        yield _golf_line(operations(source), exercise.par)
    if functions:  # faults are planted in those
        yield f"Play: find the fault that this plants in your code:  grade break {exercise.id}"


def _golf_line(count: int, par: int) -> str:
    over = count - par
    how = f"{over} over par" if over > 0 else f"{-over} under par" if over else "par"
    return f"Golf: your functions have {counted(count, 'operation')} (calls, operators, indexes): {how}."


def ending(course: Course, rows: Sequence[Row]) -> Iterator[str]:
    """What a student reads after the last exercise."""
    done = [row for row in rows if row.state in ("done", PASSES_HERE)]
    known = len(rows) - len(done)
    earned, withheld = sum(row.earned for row in done), sum(row.exercise.withheld.points for row in done)
    yield ""
    if withheld:
        yield f"The shown checks of {counted(len(done), 'exercise')} pass: {points_text(earned)} points."
        yield f"Hidden checks decide {points_text(withheld)} more at hand-in. To hand in:  grade pack"
        return
    yield f"You have finished {course.title}: {counted(len(done), 'exercise')}, {points_text(earned)} points."
    taught = read_topics(course)
    ids = dict.fromkeys(id for row in done for id in row.exercise.topics if id in taught)
    if learned := [taught[id].name for id in ids]:
        more = f"; and {len(learned) - _FEW_TOPICS} more topics" if len(learned) > _FEW_TOPICS else ""
        yield f"Your code shows that you know: {'; '.join(learned[-_FEW_TOPICS:])}{more}."
    if known:
        yield f"You skipped {counted(known, 'exercise')} of modules that you know:  grade list --state known"
    if done:
        hardest = max(done, key=lambda row: row.exercise.difficulty).exercise
        yield f"Can you still debug the hardest one? Find the fault in your own code:  grade break {hardest.id}"
        if hardest.reference is not None and hardest.wrong:
            mistakes = counted(len(hardest.wrong), "known mistake")
            yield f"Can you test it? Write a check that catches {mistakes}:  grade catch {hardest.id}"
    yield "Then write an exercise of your own:  grade new --course DIR"


def hints(
    course: Course, exercise: Exercise, width: int, *, again: bool = False, everything: bool = False
) -> Iterator[str]:
    """Give the lines of the next hint of an exercise; progress saves which were seen.

    Args:
        course: the course.
        exercise: the exercise.
        width: columns of the terminal.
        again: those that were seen, instead.
        everything: all of them, instead.

    Raises:
        CourseError: the student has seen no hint yet.
    """
    progress = folder.read_progress(course)
    total, standing = len(exercise.hints), progress.of(exercise.id)
    seen = min(standing.hints, total)
    if again and not seen:
        raise CourseError(f"you have seen no hint of {exercise.id} yet; the first one:  grade hint {exercise.id}")
    first, last = (1, total) if everything else (1, seen) if again else (seen + 1, min(seen + 1, total))
    numbers = range(first, last + 1)
    if not numbers:
        yield f"You have seen all {total} hints. To read them again:  grade hint {exercise.id} --again"
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


def counted_lines(course: Course, exercise: Exercise, setup: Setup, width: int) -> Iterator[str]:
    """What the checks that a student can see counted: of their code, of all right solutions, and of the starter.

    Raises:
        GraderError: a process of ours cannot be started.
    """
    from grader.student.own import own_exercise, own_files

    assert exercise.reference is not None
    texts = {"reference": exercise.reference.read_bytes(), "starter": folder.starter_of(course, exercise)}
    texts |= {path.stem: read_answer(exercise, path).source for path in exercise.right}
    mine = own_files(course, [exercise])
    answers = {"yours": mine} | {
        name: replace(mine.with_files(exercise, as_submitted(exercise, text)), author=name)
        for name, text in texts.items()
        if text is not None
    }
    with own_exercise(course, exercise, setup) as own:
        graded = {name: own.graded(answer, with_tries=False).exercises[0] for name, answer in answers.items()}
    counts = {
        name: {row.check.id: counts_text(row.outcome.counters) for row in it.checks} for name, it in graded.items()
    }
    checks = [row.check for row in graded["yours"].checks if any(said.get(row.check.id) for said in counts.values())]
    if not checks:
        yield "The checks of this exercise count nothing, so there are no numbers to compare."
    for check in checks:
        yield from prose(f"{check.contract:<4}{for_terminal(check.title, one_line=True)}", width, "", "    ")
        for name, said in counts.items():
            if check.id in said:
                yield from prose(f"{name:<{_NAME}} {said[check.id] or 'nothing'}", width, "    ", "  ")
