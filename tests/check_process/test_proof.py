"""What a student is told to try shows what is told, or is not told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from check_process.courses import course_with, graded, without_solutions
from support import Grade, message

pytestmark = pytest.mark.lane

SHOWN = '''
import torch

from grader.check import check, raises, assert_values, assert_unchanged


@check("C1", category="memory")
def check_kept(student):
    """Leaves x as it was"""
    x = torch.ones(2)
    with assert_unchanged(x, what="x"):
        student.double(x)


@check("C1")
def check_often(student):
    """Is right each time"""
    for _ in range(5):
        assert_values(student.double(torch.ones(2)), torch.tensor([2.0, 2.0]))


@check("C1")
def check_changed(student):
    """Writes into x"""
    x = torch.ones(2)
    student.double_(x)
    assert_values(x, torch.tensor([2.0, 2.0]))


@check("C1")
def check_window(student):
    """Doubles what lies in a larger memory"""
    base = torch.zeros(1000)
    assert_values(student.double(base[10:13]), torch.zeros(3))


@check("C1", category="error")
def check_refuses(student):
    """Refuses None"""
    raises(student.double, None, error=TypeError, case="None")


@check("C1")
def check_value(student):
    """Doubles"""
    assert_values(student.double(torch.ones(2)), torch.tensor([2.0, 2.0]))
'''

SHOWN += '''

@check("C1")
def check_again(student):
    """Doubles one tensor in three ways"""
    x = torch.tensor([0.1, 0.2, 0.3, 0.4])
    for function in (student.double, student.double, student.double_):
        assert_values(function(x), 2 * torch.tensor([0.1, 0.2, 0.3, 0.4]))
'''

PROBING = '''
import torch

from grader.check import check, assert_values


@check("C1")
def check_probed(student, probe):
    """Doubles beside a probe"""
    assert_values(probe.at(student.double, torch.ones(2), 5), torch.full((2,), 10.0))


@check("C1")
def check_plain(student):
    """Doubles"""
    assert_values(student.double(torch.ones(2)), torch.full((2,), 2.0))
'''

HIDDEN = """
import torch

from grader.check import check, assert_values

VALUES = {"words": "what comes of a list", "same": "double(torch.ones(0))", "number": "double(torch.ones(2))"}
VALUES |= {"raises": "double(None), and double(1)", "prints": "x = torch.ones(1); y = double(x); print(x)"}


def hidden(name):
    def run(student, rng):
        assert_values(student.double(torch.ones(3)), torch.full((3,), 2.0))

    run.__doc__ = name
    return check("C1", try_this=VALUES[name])(run)


for _name in VALUES:
    globals()[f"check_{_name}"] = hidden(_name)
"""


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades by the checks of this file."""
    folder = tmp_path_factory.mktemp("proof")
    with graded(course_with(folder, SHOWN, HIDDEN), folder) as grade:
        yield grade


def test_arguments_of_a_probe_are_not_told_where_no_reference_is(tmp_path: Path) -> None:
    """In a students' copy, lines are told only if the student's function can run them."""
    course = course_with(tmp_path, PROBING)
    folder = course.root / "exercises/01_basics/double"
    (folder / "probe_double.py").write_text("def at(double, x, times):\n    return double(times * x)\n")
    with graded(without_solutions(course), tmp_path) as grade:
        found = grade("def double(x):\n    return 3 * x\n")
    assert "wrong values" in message(found, "probed")
    assert "To see it" not in message(found, "probed")
    assert "print(double(torch.tensor(" in message(found, "plain")


CONJUGATED = '''
import torch

from grader.check import check, assert_values


@check("C1")
def check_conjugated(student):
    """Doubles a conjugate view"""
    x = torch.full((2,), 1 + 1j).conj()
    assert_values(student.double(x), torch.full((2,), 2 - 2j))
'''


def test_arguments_that_text_does_not_make_again_are_not_told(tmp_path: Path) -> None:
    """Lines are told in a students' copy if the check fails with their arguments as well."""
    with graded(without_solutions(course_with(tmp_path, CONJUGATED)), tmp_path) as grade:
        found = grade("import torch\n\n\ndef double(x):\n    return torch.from_numpy(2 * x.numpy())\n")
        again = grade("import torch\n\n\ndef double(x):\n    return 3 * x\n")
    assert "conjugate bit" in message(found, "conjugated")
    assert "To see it" not in message(found, "conjugated")
    assert "print(double(torch.tensor(" in message(again, "conjugated")


RIGHT_IN_PLACE = "\n\n\ndef double_(x):\n    return x.mul_(2)\n"


_TIRES = "CALLS = []\n\n\ndef double(x):\n    CALLS.append(1)\n    return (2 if len(CALLS) < 5 else 3) * x"


@pytest.mark.parametrize(
    ("text", "check", "told"),
    [
        pytest.param(f"def double(x):\n    return x.mul_(3){RIGHT_IN_PLACE}", "kept", "`x` was changed", id="a write"),
        pytest.param(_TIRES + RIGHT_IN_PLACE, "often", "the result has the wrong values", id="only after more calls"),
        pytest.param(
            "def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    return 2 * x\n",
            "changed",
            "the result has the wrong values",
            id="what becomes of an argument is not printed",
        ),
    ],
)
def test_lines_that_do_not_show_it_are_not_told(grade: Grade, text: str, check: str, told: str) -> None:
    """Neither what a print cannot show, nor what lines do not meet by themselves."""
    graded = grade(text)
    assert told in message(graded, check)
    assert "To see it" not in message(graded, check)


def test_an_argument_keeps_its_memory(grade: Grade) -> None:
    """Part of a larger tensor is printed as such: a mistake that rests on that is seen again."""
    graded = grade(f"def double(x):\n    return 2 * x if x.storage_offset() == 0 else 2 * x + 1{RIGHT_IN_PLACE}")
    lines = message(graded, "window").split("To see it")[1]
    assert "memory = torch.full((1000,), 0.0, dtype=torch.float32)" in lines
    assert "print(double(memory[10:13]))" in lines


def test_a_long_argument_is_made_once(grade: Grade) -> None:
    """Calls that have it in common have a name for it, and no line stands there twice."""
    double = "def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    return 3 * x\n"
    lines = message(grade(double), "again").split("To see it")[1]
    assert [line.strip() for line in lines.splitlines()[1:]] == [
        "import torch",
        "from double import double, double_",
        "x = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float32)",
        "print(double(x))",
        "print(double_(x))",
    ]
    # Who changes it gets a new one in each line.
    lines = message(grade(double.replace("3 * x", "x.mul_(3)")), "again")
    assert lines.count("torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float32)") == 2


def test_random_numbers_are_not_told(grade: Grade) -> None:
    """They differ from what is expected each time, and show nothing."""
    for text in ("torch.rand(4)", "2 * x + torch.randn(4)"):
        found = message(grade(f"import torch\n\n\ndef double(x):\n    return {text}\n{RIGHT_IN_PLACE}"), "again")
        assert "wrong values" in found
        assert "To see it" not in found


def test_what_must_be_refused_is_named(grade: Grade) -> None:
    """Lines on which a right answer raises are told where the check expects that."""
    graded = grade(f"def double(x):\n    return 0 if x is None else 2 * x{RIGHT_IN_PLACE}")
    assert "print(double(None))" in message(graded, "refuses")


def test_examples_that_show_nothing_are_not_told(grade: Grade) -> None:
    """An example is told where it gives something else than the reference, or where it is advice in words."""
    graded = grade("def double(x):\n    return 3 * x\n")
    told = {row.check.id: "Try this: " in row.outcome.message for row in graded.checks if not row.check.shown}
    assert told == {"words": True, "same": False, "number": True, "raises": False, "prints": False}
    # The worker that tries an example has not seen an input: what it keeps cannot decide whether the example is shown.
    keeps = "SEEN = []\n\n\ndef double(x):\n    SEEN.append(1)\n    return 3 * x if len(SEEN) > 2 else 2 * x\n"
    assert "Try this" not in message(grade(keeps), "number")
