"""What is said of a failed check rests on the syntax tree of its statement, and of the lines to try."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from check_process.courses import course_with, graded
from support import Grade, message

pytestmark = pytest.mark.lane

CHECKS = '''
from grader.check import check


@check("C1")
def check_called(student):
    """Calls a name that may be a number"""
    assert ("student.other(", student.double(1))


@check("C1")
def check_text(student):
    """Takes a text"""
    assert student.count("np.ones or torch.ones") == 21
'''


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades a text by these shown checks."""
    folder = tmp_path_factory.mktemp("reading")
    with graded(course_with(folder, CHECKS, ""), folder) as grade:
        yield grade


def test_the_called_name_is_named(grade: Grade) -> None:
    """A text in the statement that looks like a call is none."""
    said = message(grade("double, other = 3, 4\n"), "called")
    assert said.startswith("`double` in your file is not a function")


def test_lines_to_try_import_what_they_use(grade: Grade) -> None:
    """The name of a package in a text needs no import."""
    said = message(grade("def double(x):\n    return x\n\n\ndef count(text):\n    return 0\n"), "text")
    assert "count('np.ones or torch.ones')" in said
    assert "import numpy" not in said
    assert "import torch" not in said
