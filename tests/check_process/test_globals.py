"""What a submission writes into the values of a check file is not there for the next check, nor the next submission."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from check_process.courses import course_with, graded
from support import Grade, verdicts

pytestmark = pytest.mark.lane

CHECKS = '''
import math

import numpy as np
import pytest
import torch

from grader.check import check

X = torch.tensor([1.0, 2.0])
HALF = X[1:]
CASES = {"array": np.array([1.0, 2.0]), "list": [1.0, 2.0], "module": math}
CALLS = []


@check("C1", try_this="double(torch.ones(2))")
def check_first(student):
    """Takes a tensor of the file"""
    student.double(X)
    CALLS.append(1)


@check("C1", try_this="double(torch.ones(2))")
def check_second(student):
    """Meets the same tensor, and a view of it"""
    student.double(X[:0])
    assert X.tolist() == [1.0, 2.0]
    assert HALF.data_ptr() == X[1:].data_ptr()
    assert CALLS == []


@check("C1", try_this="double(torch.ones(2))")
@pytest.mark.parametrize("x", [torch.ones(2)])
def check_parameter(student, x):
    """Takes a parameter"""
    before = x.tolist()
    student.double(x)
    assert before == [1.0, 1.0]
'''


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades a text by checks that share their inputs."""
    folder = tmp_path_factory.mktemp("shared")
    with graded(course_with(folder, "", CHECKS), folder) as grade:
        yield grade


def test_nothing_is_left_for_the_next(grade: Grade) -> None:
    """Zeros that one submission writes are met by none of its later checks, nor by another submission."""
    overwrites = grade("def double(x):\n    return x.zero_()\n")
    assert set(verdicts(overwrites).values()) == {"passed"}
    assert set(verdicts(grade("def double(x):\n    return x\n")).values()) == {"passed"}
