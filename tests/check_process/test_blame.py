"""A check that breaks by what came back is the answer's fault; one that breaks with the reference too is ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from check_process.courses import course_with, graded
from support import Grade, message, verdicts

pytestmark = pytest.mark.lane

CHECKS = '''
import torch

from grader.check import check, assert_values


@check("C1", try_this="double(torch.ones(2))")
def check_naive(student):
    """As a teacher would first write it"""
    assert float(student.double(torch.tensor(1.5))) == 3.0


@check("C1", shown=True)
def check_items(student):
    """Shown, and as naive"""
    assert student.double(torch.ones(2)).tolist()[1] == 2.0


@check("C1", try_this="double(torch.ones(2))")
def check_to_reference(student, reference):
    """What the student gives goes into the reference"""
    assert_values(reference.double(student.double(torch.ones(2))), torch.full((2,), 4.0))


@check("C1", try_this="double(torch.ones(2))")
def check_ours(student):
    """Is at fault itself"""
    student.double(torch.ones(2))
    {}["missing"]
'''
RIGHT = "def double(x):\n    return 2 * x\n"


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades a text by checks that a teacher wrote in a hurry."""
    folder = tmp_path_factory.mktemp("hurry")
    with graded(course_with(folder, "", CHECKS), folder) as grade:
        yield grade


def test_right_answers_pass_and_our_own_fault_stays_ours(grade: Grade) -> None:
    """With the reference in the student's place the check breaks as well: nobody loses a point."""
    graded = grade(RIGHT)
    assert verdicts(graded) == {"naive": "passed", "items": "passed", "to_reference": "passed", "ours": "broken"}
    assert graded.score.undecided > 0


@pytest.mark.parametrize(
    "answer",
    [
        "print()",
        "'text'",
        "torch.empty(0)",
        "torch.ones(2, dtype=torch.complex64) * 1j",
        "torch.Tensor",
        "(i for i in range(3))",
        "{'a': x}",
        "lambda: 3",
        "float('nan')",
    ],
)
def test_no_answer_breaks_a_check(grade: Grade, answer: str) -> None:
    """Whatever comes back, the answer fails; what is hidden is told by its property alone."""
    graded = grade(f"import torch\n\n\ndef double(x):\n    return {answer}\n")
    told = verdicts(graded)
    assert told["ours"] == "broken"
    assert {told[check] for check in ("naive", "items", "to_reference")} <= {"failed", "crashed"}
    assert graded.score.earned == 0
    first = message(graded, "naive").split("\n")[0]
    assert first in {
        *(["expected your `double` to return something, got None (is a `return` missing?)"] * (answer == "print()")),
        "this check stopped with an error because of what your code returned, or of an argument that your code changed",
        "the result is not as expected",
    }
