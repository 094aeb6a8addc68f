"""What a student reads of a module with the wrong parameters, in a shown check and in a hidden one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from check_process.courses import course_with, graded
from support import Grade, message

pytestmark = pytest.mark.lane

CHECKS = """
import torch

from grader.check import check, assert_parameters, load_weights


@check("C1")
def check_parameters(student):
    '''Has these parameters'''
    shapes = {"layer1.weight": (3, 2), "layer3.weight": (4, 3)}
    assert_parameters(student.Net(), shapes, buffers={}, dtype=torch.float32)


@check("C1")
def check_weights(student, reference):
    '''Takes the reference's weights'''
    load_weights(student.Net(), reference.Net())
"""
NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = torch.nn.Linear(2, 3, bias=False)
        self.layer3 = torch.nn.Linear(3, 4, bias=False)
"""
SHAPES = "{'layer1.weight': (3, 2), 'layer3.weight': (4, 3)}"
LACKS = "your `Net` lacks the parameter `layer3.weight`"
WRONG_SHAPE = "the parameter `layer3.weight` of your `Net` has the wrong shape"
CASES = {
    "missing": (
        ("self.layer3 =", "self.last ="),
        [
            f"{LACKS} of shape (4, 3)",
            f"expected  {SHAPES}",
            "got       {'layer1.weight': (3, 2), 'last.weight': (4, 3)}",
        ],
        LACKS,
        "your `Net` lacks a parameter or buffer that is expected",
    ),
    "of another shape": (
        ("Linear(3, 4,", "Linear(4, 3,"),
        [WRONG_SHAPE, "expected  (4, 3)", "got       (3, 4)"],
        WRONG_SHAPE,
        "a parameter or buffer of your `Net` has the wrong shape",
    ),
    "one too many": (
        ("(3, 4, bias=False)", "(3, 4)"),
        ["your `Net` has the parameter `layer3.bias` of shape (4,), which is not expected", f"expected  {SHAPES}"],
        "your `Net` has a parameter that is not expected",
        "your `Net` has a parameter or buffer that is not expected",
    ),
    "a buffer too many": (
        ("super().__init__()", "super().__init__()\n        self.register_buffer('n', torch.ones(2))"),
        ["your `Net` has the buffer `n` of shape (2,), which is not expected", "expected  {}", "got       {'n': (2,)}"],
        "your `Net` has a buffer that is not expected",
        "your `Net` has a parameter or buffer that is not expected",
    ),
    "of another dtype": (
        ("(3, 4, bias=False)", "(3, 4, bias=False).double()"),
        [
            "the parameter `layer3.weight` of your `Net` has the wrong dtype",
            "expected  float32",
            "got       float64",
        ],
        "the parameter `layer3.weight` of your `Net` has the wrong dtype",
        "",
    ),
}


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades `Net` by the same checks, shown and hidden."""
    folder = tmp_path_factory.mktemp("modules")
    hidden = CHECKS.replace('@check("C1")', '@check("C1", try_this="Net()")').replace("def check_", "def check_hidden_")
    course = course_with(folder, CHECKS, hidden)
    (course.root / "solutions/01_basics/double/double.py").write_text(f"import torch\n{NET}")
    with graded(course, folder) as grade:
        yield grade


@pytest.mark.parametrize("case", CASES)
def test_a_parameter_is_named_with_its_shape(grade: Grade, case: str) -> None:
    """A shown check says both; a hidden one the names that its file has, and never a name of the reference's."""
    change, shown, hidden, weights = CASES[case]
    found = grade(f"import torch\n{NET.replace(*change)}")
    assert message(found, "parameters").splitlines()[: len(shown)] == shown
    assert message(found, "hidden_parameters").splitlines()[0] == hidden
    assert (message(found, "hidden_weights").splitlines() or [""])[0] == weights
