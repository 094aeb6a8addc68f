"""`grade catch`: a student's own check, run on the known wrong and right answers of an exercise.

The check is the student's code, and what it says counts for nothing. It runs in a check process of its own, which holds
no check, no reference and no score of ours, as freely as any script that they start themselves; the answers run in
confined workers, as submissions do. It is for students who have solved the exercise and may read the reference.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from grader.course.answers import Answer, as_submitted, read_answer
from grader.course.layout import Places
from grader.course.marks import declared_checks
from grader.grading.runtime import Runtime
from grader.model import Course, Exercise, Verdict
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole
from grader.model.messages import CheckSelection, Setup
from grader.model.progress import Progress
from grader.report.safe import prose

_TEMPLATE = Path(__file__).parents[1] / "templates" / "own_check.py.txt"


def own_check_path(course: Course, exercise: Exercise) -> Path:
    """Return the path of the file with the student's own check of an exercise.

    For the exercise `passport` it is `my_checks/check_passport.py` in the course's folder.
    """
    return course.root / "my_checks" / Places.of(exercise).shown_checks.name


def write_template(course: Course, exercise: Exercise) -> Path | None:
    """Write a template of the student's own check, unless the file exists already.

    Returns:
        The path of the file; None if it exists already.

    Raises:
        CourseError: the file cannot be written.
    """
    path = own_check_path(course, exercise)
    if path.exists():
        return None
    rules = "\n".join(f"{name}  {text}" for name, text in exercise.contract.items())
    calls = ", ".join(f"student.{name}(...)" for name in _public_functions(exercise))
    words = {"title": exercise.title, "rules": rules.replace("\\", "\\\\"), "calls": calls or "student"}
    text = _TEMPLATE.read_text(encoding="utf-8").format(**words)
    with failing_as(f"{path.relative_to(course.root).as_posix()} cannot be written"):
        path.parent.mkdir(exist_ok=True)
        write_whole(path, text)
    return path


def _public_functions(exercise: Exercise) -> list[str]:
    """Return the names of the reference's public functions."""
    text = exercise.reference.read_text(encoding="utf-8") if exercise.reference else ""
    names = (node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return [name for name in names if not name.startswith("_")]


def run_own_check(
    course: Course, exercise: Exercise, setup: Setup, width: int, progress: Progress | None = None
) -> tuple[list[str], bool]:
    """Run a student's own check on all known answers, and return lines on the result.

    Args:
        course: the course of the exercise.
        exercise: an exercise with known answers.
        setup: the set-up of the lanes.
        width: the width of a line, in characters.
        progress: the progress that the run reports to, if there is one.

    Returns:
        Lines about the result, and True if the check passes each right answer and fails each wrong one.

    Raises:
        CourseError: the course's copy has no answers, the check cannot be read, or it has an error of its own.
        GraderError: a process of ours cannot be started.
    """
    assert exercise.reference is not None
    wrong = [read_answer(exercise, path) for path in exercise.wrong]
    right = [read_answer(exercise, path) for path in (exercise.reference, *exercise.right)]
    path = own_check_path(course, exercise)
    # Nothing of ours goes to that process but the answers, one after another, for its workers.
    own = replace(exercise, shown_checks=path, hidden_checks=None, probes=(), reference=None, shared={})
    with Runtime([own], setup, hidden=(course.root,), progress=progress) as runtime:
        where = path.relative_to(course.root).as_posix()
        if problem := runtime.collected().problems.get(own.id):
            raise CourseError(f"{where} cannot be read\n{problem}")
        if not runtime.checks_of(own):
            raise CourseError(f"{where} has no check; write a function check_... below @check(...)")
        against = partial(_run_check_on, exercise, own, runtime, setup, where)
        refused = [said for answer in right if (said := against(answer)) is not None]
        missed = [_rules_broken_by(exercise, answer) for answer in wrong if against(answer) is None]
    return [*caught_lines(len(right), refused, len(wrong), missed, width)], not refused and not missed


def _run_check_on(
    exercise: Exercise, own: Exercise, runtime: Runtime, setup: Setup, where: str, answer: Answer
) -> str | None:
    """Run the student's own check on a known answer.

    Args:
        exercise: the exercise of the answer.
        own: the same exercise with the student's own check in place of its checks.
        runtime: the runtime that runs the check.
        setup: the set-up of the lanes, with the seed.
        where: the path of the check's file, for messages.
        answer: the known answer.

    Returns:
        The message of the check if it fails; else None.

    Raises:
        CourseError: the check has an error of its own.
    """
    run = runtime.run(own, as_submitted(exercise, answer.source), setup.seed, CheckSelection(with_tries=False))
    for outcome in run.outcomes:
        if outcome.verdict is Verdict.BROKEN:
            why = outcome.detail.split("\n")[0] or outcome.message
            raise CourseError(f"{where}: check_{outcome.check} has an error of its own: {why}")
    against = (outcome for outcome in run.outcomes if outcome.verdict.is_decided)
    return next((outcome.message for outcome in against if outcome.verdict is not Verdict.PASSED), None)


def _rules_broken_by(exercise: Exercise, answer: Answer) -> tuple[str, ...]:
    """Return the rules that a wrong answer breaks, such as `("C2", "C10")`.

    They are those that the answer itself lists, and the rule of the check that must catch it.
    """
    files = [path for path in (exercise.shown_checks, exercise.hidden_checks) if path is not None]
    caught_by = answer.caught_by.split("[")[0]
    rules = {*answer.breaks, *(rule for path in files for id, rule, _ in declared_checks(path) if id == caught_by)}
    return tuple(sorted(filter(None, rules), key=lambda rule: (len(rule), rule)))  # C2 before C10


def caught_lines(
    right: int, refused: Sequence[str], wrong: int, missed: Sequence[tuple[str, ...]], width: int
) -> Iterator[str]:
    """Yield lines on how well a check distinguishes right answers from wrong ones.

    For `caught_lines(3, [], 5, [("C2",), ("C2",)], 80)` they are:

        All 3 right answers pass your check.
        Your check catches 3 of 5 known wrong answers.
            missed: 2 that break C2

    Args:
        right: the number of right answers.
        refused: the messages of the check, one for each right answer that it fails.
        wrong: the number of wrong answers.
        missed: the broken rules of each wrong answer that the check passes.
        width: columns of the terminal.
    """
    if refused:
        yield f"{len(refused)} of {right} right answers fail your check, so it is too strict. It says:"
        yield from prose(refused[0], width, "    ", "  ")
    else:
        yield f"All {right} right answers pass your check."
    yield f"Your check catches {wrong - len(missed) if missed else 'all'} of {wrong} known wrong answers."
    # Only their rules are named: the student is to find what the wrong answers do.
    for rules, count in Counter(missed).items():
        yield f"    missed: {count} that {'breaks' if count == 1 else 'break'} {' and '.join(rules) or 'a rule'}"
