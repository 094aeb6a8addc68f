"""A check written the way a teacher would first write it fails unusual answers, and never breaks by them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support import COURSES, FORK, grade_one, open_lane, verdicts

from grader.author.cases import MAY_BE_RIGHT, UNUSUAL, AnswerRun, unusual_cases
from grader.course.load import load_course
from grader.model import Exercise
from grader.runner.lane import Lane

pytestmark = pytest.mark.lane

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
ONE_MORE_DIM = {"right_with_one_more_dim"}
"""Of one element, it is the same number."""

PASSES = {
    # What it compares with, it works out after the call; and it broadcasts.
    "allclose": {*OVERWRITES, *ONE_MORE_DIM, "right_and_expanded"},
    **dict.fromkeys(("unpacking", "float", "equals", "item"), ONE_MORE_DIM),
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


def found(case: AnswerRun, lane: Lane) -> dict[str, str]:
    return verdicts(grade_one(case.exercise, case.submission(), lane))


def test_no_idiom_breaks(exercise: Exercise) -> None:
    """The checks that look at an unusual answer fail; where it may be right, they may pass; none breaks."""
    with open_lane([exercise], FORK) as lane:
        told = [(case, *ended) for case in unusual_cases(exercise, []) for ended in found(case, lane).items()]
    assert {case.unusual_result for case, *_ in told} == set(UNUSUAL)
    for case, check, verdict in told:
        idiom = check.removesuffix("_shown")
        if LOOKS[idiom] != case.function:
            allowed = {"passed"}
        elif case.unusual_result in MAY_BE_RIGHT or case.unusual_result in PASSES.get(idiom, ()):
            allowed = {"passed", "failed"}
        elif case.unusual_result == "None":  # such a function is not written yet
            allowed = {"skipped"}
        else:
            # An object stays with the worker: what a check wants of it runs there, and raises there.
            allowed = {"failed", "crashed"}
        assert verdict in allowed, (case.function, case.unusual_result, check)


def test_a_copy_without_a_reference_blames_the_answer_too(exercise: Exercise) -> None:
    """A student's own copy cannot ask the reference; there a shown check which an answer breaks has failed as well."""
    with open_lane([replace(exercise, reference=None)], FORK) as lane:
        for case in unusual_cases(exercise, []):
            if case.function == "mean" and case.unusual_result in ("None", "a_text", "another_shape", "a_class"):
                told = found(replace(case, exercise=replace(exercise, reference=None)), lane)
                seen = {told[f"{idiom}_shown"] for idiom in ("float", "item", "equals")}
                result = case.unusual_result
                assert seen <= ({"skipped"} if result == "None" else {"failed", "crashed"}), result
