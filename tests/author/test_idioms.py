"""A check written the way a teacher would first write it fails unusual answers, and never breaks by them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support import COURSES, FORK, grade_one, verdicts

from grader.author.cases import MAY_BE_RIGHT, UNUSUAL, Case, unusual_cases
from grader.course.load import load_course
from grader.model import Exercise
from grader.runner.lane import Lane
from grader.runner.pool import open_lane

REFERENCE = """
import torch


def twice(x):
    return 2 * x


def mean(x):
    return x.sum() / 3


def ends(x):
    return x[0].clone(), x[-1].clone()
"""

IDIOMS = {
    "tolist": "assert student.twice(X).tolist() == [2.0, 4.0, 8.0]",
    "allclose": "assert torch.allclose(student.twice(X), 2 * X)",
    "shape": "assert student.twice(X).shape == (3,)",
    "unpacking": "a, b = student.ends(X)\n    assert a == 1.0 and b == 4.0",
    "float": "assert abs(float(student.mean(X)) - 7 / 3) < 1e-4",
    "len": "assert len(student.twice(X)) == 3",
    "equals": "assert student.mean(3 * X) == 7.0",
    "index": "assert student.twice(X)[1] == 4.0",
    "item": "assert student.mean(3 * X).item() == 7.0",
}
"""What stands in a check, as in any test of a teacher's."""

CHECKS = (
    "import torch\n\nfrom grader.check import check\n\nX = torch.tensor([1.0, 2.0, 4.0])\n"
    "TRY = 'twice(torch.ones(2))'\n"
) + "".join(
    f'\n\n@check("C1", try_this=TRY{shown})\ndef check_{name}{number}(student):\n    """By {name}"""\n    {body}\n'
    for name, body in IDIOMS.items()
    for number, shown in (("", ""), ("_shown", ", shown=True"))
)

LOOKS = {name: body.partition("student.")[2].partition("(")[0] for name, body in IDIOMS.items()}
"""Which function each looks at."""

OVERWRITES = {"arguments_overwritten", "an_overwritten_argument"}
PASSES = {
    "allclose": OVERWRITES,  # what it compares with, it works out after the call
    "shape": {"zeros", "two_percent_more", *OVERWRITES},
    "len": {"zeros", "two_percent_more", *OVERWRITES},
}
"""Idioms by which an unusual answer is right, besides those that may be right anywhere."""


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """An exercise with these checks, each of them once hidden and once shown."""
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path_factory.mktemp("idioms") / "course"))
    starter = root / "exercises/01_basics/double/double.py"
    starter.write_text('"""Double it\n\nC1  `twice(x)`, `mean(x)`, `ends(x)`.\n"""  # TODO\n')
    (root / "exercises/01_basics/double/check_double.py").unlink()
    (root / "solutions/01_basics/double/check_double.py").write_text(CHECKS)
    (root / "solutions/01_basics/double/double.py").write_text(REFERENCE)
    return load_course(root).exercises[0]


@pytest.fixture(scope="module")
def lane(exercise: Exercise) -> Iterator[Lane]:
    """A lane with that exercise."""
    with open_lane([exercise], FORK) as lane:
        yield lane


def found(case: Case, lane: Lane) -> dict[str, str]:
    return verdicts(grade_one(case.exercise, case.submission(), lane))


@pytest.mark.parametrize("gives", UNUSUAL)
def test_no_idiom_breaks(exercise: Exercise, lane: Lane, gives: str) -> None:
    """The checks that look at an unusual answer fail; where it may be right, they may pass; none breaks."""
    for case in (case for case in unusual_cases(exercise, []) if case.gives == gives):
        for check, verdict in found(case, lane).items():
            idiom = check.removesuffix("_shown")
            if LOOKS[idiom] != case.function:
                assert verdict == "passed", (case.function, check)
            elif gives in MAY_BE_RIGHT or gives in PASSES.get(idiom, ()):
                assert verdict in ("passed", "failed"), (case.function, check, verdict)
            else:
                # An object stays with the worker: what a check asks of it is asked there, and raises there.
                assert verdict in ("failed", "crashed"), (case.function, check, verdict)


def test_a_copy_without_a_reference_blames_the_answer_too(exercise: Exercise) -> None:
    """A student's own copy cannot ask the reference; there a shown check which an answer breaks has failed as well."""
    with open_lane([replace(exercise, reference=None)], FORK) as lane:
        for case in unusual_cases(exercise, []):
            if case.function == "mean" and case.gives in ("None", "a_text", "another_shape", "a_class"):
                told = found(replace(case, exercise=replace(exercise, reference=None)), lane)
                seen = {told[f"{idiom}_shown"] for idiom in ("float", "item", "equals")}
                assert seen <= {"failed", "crashed"}, case.gives
