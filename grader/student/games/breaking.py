"""`grade break`: one fault is planted in a student's own solution, for them to find. Their file is saved beside it.

A view becomes a copy, dims are swapped, `dtype=`, `device=` or `keepdim=` is dropped, a mask is inverted. Faults are
looked for in the text, by patterns; the rest of the text stays as it is. Before one is planted, it is graded like a
submission: the checks must see it, and it must make sense for the value at hand.
"""

from __future__ import annotations

import ast
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course.layout import Places, kept_folder
from grader.model import Course, Exercise, GradedExercise, Verdict
from grader.model.errors import CourseError, FormatError
from grader.model.files import failing_as, from_json, to_json, write_whole
from grader.model.messages import Setup
from grader.student.folder import free_name, read_progress, ready_folder, typed, write_progress
from grader.student.own import OwnExercise, Running, own_exercise, own_file

_MOST_TRIED = 24
_NO_TENSOR_FAULT = ("load", "name", "signature")
_SENSELESS = ("AttributeError", "NameError", "NotImplementedError", "TypeError", "SyntaxError")
"""What Python raises where a fault does not suit the value: a tuple has no `.clone()`."""

_KEYWORDS = "dtype|device|keepdims?|correction|memory_format|copy|dim|requires_grad"
_CALLS = (
    "clone|contiguous|detach|double|float|long|int|bool|to|type|t|flip|unsqueeze|squeeze|transpose|permute|abs|sqrt"
)
_ORDERED = "empty|zeros|ones|randn?|permute|reshape|view|expand|movedim|new_empty|new_zeros|new_ones"
_ALONG = "sum|mean|amax|amin|argmax|argmin|max|min|cumsum|softmax|unsqueeze|squeeze|flatten|all|any|prod|norm|unbind"
_VALUE = r"(?:[^,()\n]|\([^()\n]*\))+"
_SIGNS = {"+": "-", "-": "+", "*": "+", "/": "*", "//": "*"}
_REVERSED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

_FAULTS = [
    (r"\breturn (.*[\w)\]])$", r"return \1.clone()", "it returns a copy"),
    (rf",\s*({_KEYWORDS})={_VALUE}", "", r"`\1=` is missing"),
    (rf"(?<!torch)(?<!np)(?<!\bF)\.({_CALLS})\({_VALUE}?\)", "", r"`.\1(...)` is missing"),
    (r"\.(\w*[a-z])_\(", r".\1(", r"`\1` is not in place; you had `\1_`"),
    (r"torch\.(float32|double)\b", "torch.float64", "it uses another dtype"),
    (r"torch\.float64\b", "torch.float32", "it uses another dtype"),
    (r"torch\.(int64|long)\b", "torch.int32", "it uses another dtype"),
    (r"torch\.bool\b", "torch.uint8", "it uses another dtype"),
    (
        rf"\b(tensor|arange|full)\((?![^\n]*dtype)({_VALUE}(?:,{_VALUE})*)\)",
        r"\1(\2, dtype=torch.float64)",
        "it uses another dtype",
    ),
    (r"\b(dim|axis)=0", r"\1=-1", "it works along another dim"),
    (r"\b(dim|axis)=-?[12]", r"\1=0", "it works along another dim"),
    (rf"\.({_ALONG})\(0\b", r".\1(-1", "it works along another dim"),
    (rf"\.({_ALONG})\(-?[12]\b", r".\1(0", "it works along another dim"),
    (rf"\b({_ORDERED})\(({_VALUE}), ({_VALUE})", r"\1(\3, \2", "two dims are swapped"),
    (
        rf"([\w.]+(?:\({_VALUE}(?:,{_VALUE})*\))?) @ ([\w.]+)",
        r"\2 @ \1",
        "the operands of a matrix product are swapped",
    ),
    (r"\.m?T\b", "", "a transpose is missing"),
    (r"~", "", "a mask is inverted"),
    (rf"\b(masked_fill_?|masked_select)\(({_VALUE})", r"\1(~(\2)", "a mask is inverted"),
    (rf"\bwhere\(({_VALUE}), ({_VALUE}), ({_VALUE})\)", r"where(\1, \3, \2)", "a mask is inverted"),
    *((rf" {re.escape(sign)} ", f" {other} ", "a comparison is reversed") for sign, other in _REVERSED.items()),
    *(
        (rf" {re.escape(sign)}(=?) ", rf" {other}\1 ", rf"`{other}\1` stands where you had `{sign}\1`")
        for sign, other in _SIGNS.items()
    ),
]
"""What is looked for, what stands there instead, and what is wrong then, in a clause."""


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        what: what is wrong, in a clause.
        line: the number of the line.
        source: the whole text with the fault.
    """

    what: str
    line: int
    source: str


def faults_of(source: str) -> list[Fault]:
    """All faults that can be planted in the functions of a text, each of them once."""
    tree = ast.parse(source)
    lines, faults = set(_code_lines(tree)), dict[str, Fault]()
    for pattern, new, what in _FAULTS:
        for match in re.finditer(pattern, source, re.MULTILINE):
            line = source.count("\n", 0, match.start()) + 1
            changed = source[: match.start()] + match.expand(new) + source[match.end() :]
            if line in lines and _is_another_program(changed, tree):
                faults.setdefault(changed, Fault(match.expand(what), line, changed))
    return list(faults.values())


def _code_lines(tree: ast.Module) -> Iterator[int]:
    """The numbers of the lines of all functions, without their docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for statement in node.body[ast.get_docstring(node) is not None :]:
                yield from range(statement.lineno, (statement.end_lineno or 0) + 1)


def _is_another_program(source: str, tree: ast.Module) -> bool:
    """Whether a text is Python, and differs from a tree in more than comments and blanks."""
    try:
        return ast.dump(ast.parse(source)) != ast.dump(tree)
    except (SyntaxError, ValueError):
        return False


@dataclass(frozen=True)
class Planted:
    """A fault that is in a student's file, their own text, and the name of the file beside it that has this text."""

    fault: Fault
    own: str
    old: str


def planted_in(course: Course, exercise: Exercise) -> Planted | None:
    """The fault that is in an exercise's file, or None."""
    try:
        planted = from_json(Planted, _note(course, exercise).read_bytes())
    except (OSError, FormatError):
        return None
    # A student who has put the file back has no fault in it.
    return planted if (exercise.starter.parent / Path(planted.old).name).is_file() else None


def play(
    course: Course, exercise: Exercise, setup: Setup, seed: int | None, running: Running, *, give_up: bool = False
) -> Iterator[str]:
    """Plant a fault, or look whether the one that is planted was found; what happened, in sentences.

    Args:
        course: the student's folder.
        exercise: the exercise.
        setup: how workers are started.
        seed: which fault is planted.
        running: receives what is running, and for how many seconds.
        give_up: whether the fault is named, and the student's own file brought back.

    Raises:
        CourseError: no fault is planted, or none can be.
        GraderError: a process of ours cannot be started.
    """
    planted = planted_in(course, exercise)
    if planted is None and give_up:
        raise CourseError(f"no fault is planted in {exercise.id}. To plant one:  grade break {exercise.id}")
    with own_exercise(course, exercise, setup, running) as own:
        if planted is not None:
            yield from _look_for(own, planted, give_up=give_up)
            return
        if own.graded().exercises[0].state != "done":
            raise CourseError(f"{exercise.id} does not have full marks yet; first find the faults that it has")
        fault = choose(own, random.Random(seed))  # noqa: S311  a game
    planted = plant(course, exercise, fault)
    yield f"{typed(exercise.starter)} has one fault now; nothing else was changed."
    yield f"Your own file is saved beside it, as {planted.old}. Do not look into it: find the fault."
    yield f"To see what fails:        grade {exercise.id}"
    yield f"When you have fixed it:   grade break {exercise.id}"
    yield f"To give up:               grade break {exercise.id} --give-up"


def _look_for(own: OwnExercise, planted: Planted, *, give_up: bool) -> Iterator[str]:
    """Whether the fault was found."""
    exercise, report = own.exercise, own.graded()
    solved = report.exercises[0].state == "done"
    if not solved and not give_up:
        rows = report.exercises[0].checks
        failing = sum(row.outcome.verdict.decided and row.outcome.verdict is not Verdict.PASSED for row in rows)
        yield f"The fault is still there: {failing} of {len(rows)} checks fail. To see why:  grade {exercise.id}"
        return
    fault, replaced = planted.fault, restore(own.course, exercise, planted)
    report = report if solved else own.graded()
    write_progress(own.course, read_progress(own.course).after(report))
    result = "You found it!" if solved else "You did not find it this time."
    yield f"{result} The fault was in line {fault.line}: {fault.what}."
    for title, text in (("before", planted.own), ("planted", fault.source)):
        yield f"    {title:<8} {text.split(chr(10))[fault.line - 1].strip()}"
    yield f"{typed(exercise.starter)} is your own file again."
    if replaced is not None:
        yield f"The version with your changes is beside it, as {replaced.name}; it is not graded."


def choose(own: OwnExercise, chance: random.Random) -> Fault:
    """A fault of the student's text that the checks see and that suits the values; preferably one that raises nothing.

    Raises:
        CourseError: no fault is planted.
    """
    handed_in, exercise = own_file(own.course, own.exercise), own.exercise
    files = handed_in.of(exercise).files
    try:
        possible = faults_of(files[exercise.file_name].decode("utf-8"))
    except (ValueError, SyntaxError):  # it passes, so that Python can read it: by a cookie or a mark at its beginning
        raise CourseError(f"{exercise.file_name} is not in plain UTF-8; save it as UTF-8") from None
    raises: Fault | None = None
    for fault in chance.sample(possible, min(len(possible), _MOST_TRIED)):
        broken = handed_in.with_files(exercise, {**files, exercise.file_name: fault.source.encode()})
        seen = _seen(own.graded(broken, stops=True).exercises[0])
        if seen is Verdict.FAILED:
            return fault
        if seen is Verdict.CRASHED:
            raises = raises or fault
    if raises is None:
        raise CourseError(f"no fault suits {exercise.file_name} so that its checks see it; try another exercise")
    return raises


def _seen(broken: GradedExercise) -> Verdict | None:
    """How the first check ended that lost points; None if none did, or if the fault does not suit the value."""
    for row in broken.checks:
        outcome = row.outcome
        if outcome.verdict.decided and outcome.verdict is not Verdict.PASSED:
            senseless = any(name in outcome.message for name in _SENSELESS)
            return None if senseless or outcome.cause in _NO_TENSOR_FAULT else outcome.verdict
    return None


def plant(course: Course, exercise: Exercise, fault: Fault) -> Planted:
    """Save the student's file beside its place, and put the one with the fault there.

    Raises:
        CourseError: nothing can be written.
    """
    path = exercise.starter
    with failing_as(f"{Places.of(exercise).starter.as_posix()} cannot be written"):
        text = path.read_bytes()
        old = free_name(path)
        planted = Planted(fault, text.decode("utf-8"), old.name)
        ready_folder(course.root)
        _note(course, exercise).parent.mkdir(exist_ok=True)
        # In this order: wherever it is interrupted, the student's own text is in a file, and known to be.
        write_whole(old, text)
        write_whole(_note(course, exercise), to_json(planted, indent=1))
        write_whole(path, fault.source.encode("utf-8"))
    return planted


def restore(course: Course, exercise: Exercise, planted: Planted) -> Path | None:
    """Put the student's own file back; give the place of the other one, if the student has changed it.

    Raises:
        CourseError: nothing can be written.
    """
    path, old = exercise.starter, exercise.starter.parent / Path(planted.old).name
    saved = None
    with failing_as(f"{Places.of(exercise).starter.as_posix()} cannot be written"):
        if path.is_file() and path.read_bytes() not in [
            text.encode("utf-8") for text in (planted.own, planted.fault.source)
        ]:
            saved = free_name(path)
            os.replace(path, saved)
        os.replace(old, path)
        _note(course, exercise).unlink(missing_ok=True)
    return saved


def _note(course: Course, exercise: Exercise) -> Path:
    return kept_folder(course.root) / "broken" / f"{exercise.id}.json"
