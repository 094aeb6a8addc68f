"""Lines that are run in a worker: those of a failing check for `grade try`, and any others."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from grader.course.layout import results_path
from grader.grading.runtime import Runtime
from grader.grading.store import open_store
from grader.model import Course, DeviceKind, Exercise, GradedCheck
from grader.model.check import EXAMPLE_TO_TRY, LINES_TO_TRY
from grader.model.errors import CourseError
from grader.model.messages import CheckSelection, Setup
from grader.model.progress import Progress
from grader.model.score import Causes
from grader.student.own import OwnExercise, read_own_file


def run_lines_to_try(
    course: Course, exercise: Exercise, setup: Setup, progress: Progress
) -> tuple[GradedCheck, list[str], str]:
    """Run the lines that the message of a failing check proposes to try, in a worker.

    It is the first failing check with such lines. The exercise is graded first, unless its file is unchanged.

    Args:
        course: the course of the exercise.
        exercise: the exercise, which is graded again if it has changed.
        setup: the set-up of the lanes.
        progress: the progress that the run reports to.

    Returns:
        The check, the lines, and what they printed.

    Raises:
        CourseError: the file cannot be read, or no check has lines to try.
        GraderError: a process of ours cannot be started.
    """
    handed_in = read_own_file(course, exercise)
    with (
        open_store(results_path(course)) as store,
        Runtime([exercise], setup, hidden=(course.root,), progress=progress, warm=True) as runtime,
    ):
        own = OwnExercise(course, exercise, setup, runtime)
        (graded,) = own.grade(handed_in, store, compiles=True).exercises
        rows = Causes.of(graded.checks)
        for row in filter(None, (rows.cause, *rows.same, *rows.lost)):
            if lines := list(lines_of(row, exercise.id)):
                # A course's lines and a student's code: in a worker, as everything that is graded.
                # There, the simulated GPU is on already.
                text = "\n".join(line for line in lines if line not in row.check.device.lines_to_simulate)
                files = handed_in.files_of(exercise).files
                return row, lines, run_lines(runtime, exercise, text, setup.seed, files=files, check=row.check.id)
    if rows.cause is None:
        raise CourseError(f"all checks of {exercise.id} pass, so there is nothing to try")
    raise CourseError(f"no check of {exercise.id} has lines to try;  grade {exercise.id}  shows what the checks say")


def run_lines(
    runtime: Runtime,
    exercise: Exercise,
    lines: str,
    seed: int,
    *,
    files: Mapping[str, bytes] | None = None,
    check: str = "",
) -> str:
    """Run lines in a worker, and return what they print.

    Args:
        runtime: the runtime whose workers run them.
        exercise: the exercise whose files the lines may import.
        lines: lines of Python.
        seed: the seed of the run.
        files: the student's files of the exercise; by default an empty file.
        check: the id of the check in whose place they run, which decides the device; by default one without a device.

    Raises:
        CourseError: there is no such check.
        GraderError: a process of ours cannot be started.
    """
    checks = runtime.checks_of(exercise)
    id = check or next((one.id for one in checks if one.device is DeviceKind.NONE and one.shown), "")
    if not id:
        raise CourseError(f"{exercise.id} has no shown check without a device, so there is nowhere to run lines")
    selection = CheckSelection(frozenset([id]), with_tries=False, typed={id: lines})
    return runtime.run(exercise, files or {exercise.file_name: b""}, seed, selection).outcomes[0].message


def lines_of(row: GradedCheck, module: str) -> Iterator[str]:
    """Yield the lines to try of a check, as a program that imports what it uses.

    For the student's file `double`, the end of a message "Try this: double(torch.ones(3))" becomes:

        import torch
        from double import *
        print(double(torch.ones(3)))

    A shown check's message has the lines themselves. Nothing is yielded if it has neither.

    Args:
        row: the graded check.
        module: the name by which the lines import the student's file.
    """
    message = row.outcome.message
    _, heading, lines = message.rpartition(f"\n{LINES_TO_TRY}")
    if heading:
        yield from (line.removeprefix("    ") for line in lines.split("\n")[1:] if line.startswith("    "))
        return
    _, heading, lines = message.rpartition(f"\n{EXAMPLE_TO_TRY}")
    text = lines.strip()
    tree = _parse_example(text) or _parse_example(text := text.replace(", and ", ", "))
    nodes = list(ast.walk(tree)) if heading and tree is not None else []
    if not any(isinstance(node, ast.Call) for node in nodes):  # advice in words
        return
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    yield from (f"import {name}" for name in ("math", "torch") if name in names)
    yield from ("import numpy as np",) if "np" in names else ()
    yield from row.check.device.lines_to_simulate
    yield f"from {module} import *"
    # What a prompt would show of an expression, a program must print.
    for node in tree.body if tree is not None else ():
        source = ast.get_source_segment(text, node) or ast.unparse(node)
        yield f"print({source})" if isinstance(node, ast.Expr) and not _is_print(node) else source


def with_printed_expressions(lines: str) -> str:
    """Return a program that prints the value of each expression statement.

    So the line `x + 1` becomes `print(x + 1)`, and shows what it would at a prompt. Lines that are not Python are
    returned unchanged.
    """
    tree = _parse_example(lines)
    rows = [row.encode() for row in lines.split("\n")]  # places in a tree count bytes
    for node in reversed(tree.body if tree is not None else []):
        if isinstance(node, ast.Expr) and not _is_print(node) and node.end_lineno and node.end_col_offset is not None:
            for number, at, mark in (
                (node.end_lineno, node.end_col_offset, b")"),
                (node.lineno, node.col_offset, b"print("),
            ):
                rows[number - 1] = rows[number - 1][:at] + mark + rows[number - 1][at:]
    return b"\n".join(rows).decode()


def _parse_example(text: str) -> ast.Module | None:
    """Return the syntax tree of an example; None if it is advice in words, not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _is_print(node: ast.Expr) -> bool:
    match node.value:
        case ast.Call(func=ast.Name(id="print")):
            return True
    return False
