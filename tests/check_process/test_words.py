"""A hidden check tells only what was known before the run, whatever is answered and however it is written.

Each answer here knows a hidden number and tries to get it into what a student reads: as text, shape, name, device,
length, count, ratio, line, or case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from check_process.courses import course_with, graded
from support import Grade

from grader.check_process.hidden_words import Words
from grader.check_process.student_error import known_error_text, placeholders_note
from grader.model import WITHHELD, Environment, GradedExercise, Limits, Report
from grader.model.public_text import Limit, say
from grader.report.schema import report_json

pytestmark = pytest.mark.lane

CHECKS = '''
import torch

from grader.check import (
    CannotJudge, CheckFailed, assert_close, assert_costs_at_most, assert_device, assert_dtype, assert_shape,
    assert_stays_in_torch, assert_tensor, assert_true, assert_values, calling, check, count_costs, facts, kind,
    type_name,
)

TRY = "double(torch.ones(2))"
MOST = 3


def hidden(name, body):
    def run(student, rng):
        x = rng.normal(rng.integer(3, 9))
        body(student, x)

    run.__doc__ = name
    return check("C1", try_this=TRY)(run)


check_values = hidden("values", lambda student, x: assert_values(student.double(x), 2 * x))
check_same = hidden("same", lambda student, x: assert_close(student.double(x), 2 * x))
check_items = hidden("items", lambda student, x: assert_values(student.double(x), [1.0, 2.0, [3.0]]))
check_shape = hidden("shape", lambda student, x: assert_shape(student.double(x), (2,)))
check_dtype = hidden("dtype", lambda student, x: assert_dtype(student.double(x), torch.int8, f"x for {x.dtype}"))
check_device = hidden("device", lambda student, x: assert_device(student.double(x), "cuda"))
check_escapes = hidden("escapes", lambda student, x: assert_stays_in_torch(student.double, x))
check_uses = hidden("uses", lambda student, x: assert_costs_at_most(student.double, (x,), bytes=1000 + x.numel()))
check_few = hidden("few", lambda student, x: assert_costs_at_most(student.double, (x,), ops=3, versions=0))


@check("C1", try_this=TRY)
def check_tells_value(student, rng):
    """Puts what comes back into its text"""
    yours = student.double(rng.normal(rng.integer(3, 9)))
    assert_true(isinstance(yours, torch.Tensor), f"you return {yours}")


@check("C1", try_this=TRY)
def check_tells_input(student, rng):
    """Puts a hidden number into its text"""
    x = rng.normal(rng.integer(3, 9))
    student.double(x)
    raise CheckFailed(f"wrong for {len(x)} numbers, more than {MOST}")


@check("C1", try_this=TRY)
def check_tells_type(student, rng):
    """Puts the name of a class into its text"""
    yours = student.double(rng.normal(rng.integer(3, 9)))
    raise CannotJudge(f"a {type_name(yours)} is no tensor")


@check("C1", try_this=TRY)
def check_tells_kind(student, rng):
    """Says it well"""
    yours = student.double(rng.normal(rng.integer(3, 9)))
    place = facts(yours).device if isinstance(yours, torch.Tensor) else "cpu"
    assert_true(False, f"`double` returns {kind(yours)} on {place}")


@check("C1", try_this=TRY)
def check_names(student, rng):
    """Calls whatever there is"""
    student.double(rng.normal(rng.integer(3, 9)))
    for name in dir(student):
        assert_values(getattr(student, name)(3.0), 1.0, f"`{name}` of 3.0")


@check("C1", try_this=TRY)
def check_assert(student, rng):
    """Asserts"""
    assert student.double(rng.normal(rng.integer(3, 9))) == 3


@check("C1", try_this=TRY)
def check_attribute(student, rng):
    """Calls what came back"""
    with calling(student.double, rng.normal(rng.integer(3, 9))) as yours:
        assert_true(yours.run(1) == 2, "`run` is wrong")
'''

ANSWERS = {
    "text": "'CANARY' + str(n)",
    "nested": "[1.0, 2.0, [3.0] * n]",
    "large_int": "10 ** (400 * n)",
    "shape": "torch.zeros(n, n + 1)",
    "length": "[1.0] * (n + 3)",
    "number_of_wrong_ones": "torch.cat([2 * x[:-1], x[:1]])",
    "keys": "{f'CANARY{n}': 1}",
    "class": "type(f'CANARY{n}', (), {'run': lambda self, k: 1 / 0})()",
    "function": "type('f', (), {'__call__': lambda self: 1, '__qualname__': f'CANARY{n}'})()",
    "device": "torch.zeros(n, device='meta')",
    "sparse": "torch.zeros(n, n).to_sparse()",
    "too_large_int": "10 ** (1500 * n)",
    "operations": "[x + 1 for _ in range(9 * n)][0]",
    "bytes": "torch.zeros(9000 * n)",
    "writes": "[x.add_(1) for _ in range(n)][0]",
    "ways_out": "[[x.tolist, x.numpy, x.sum().item, x.data_ptr][(n + k) % 4]() for k in range(n % 3 + 1)] and None",
    "error_text": "raises(ValueError(f'CANARY{n}'))",
    "error_class": "raises(type(f'CANARY{n}', (KeyError,), {})())",
    "odd_error": "raises([BlockingIOError, BrokenPipeError, ChildProcessError, FloatingPointError][n % 4]())",
    "line": "[line_1, line_2, line_3, line_4][n % 4]()",
    "status": "os._exit(n)",
    "signal": "os.kill(os.getpid(), [4, 6, 7, 8, 11][n % 5])",
    "printed": "print('CANARY', n)",
}

MODULE = """
{imports}
import torch


def raises(error):
    raise error


def line_1():
    raise ValueError
def line_2():
    raise ValueError
def line_3():
    raise ValueError
def line_4():
    raise ValueError


def double(x):
    n = x.numel() if isinstance(x, torch.Tensor) else 3
    return {answer}
"""

SEEDS = 2

NOT_ALLOWED = re.compile(r"(could hide what your code does, .*)\n    double\.py, line \d+\n {8}.*")


def module(answer: str) -> str:
    """An exercise module that answers so; it imports `os` only to end its process, as checks that count forbid that."""
    return MODULE.replace("{imports}", "import os\n" if "os." in answer else "").replace("{answer}", answer)


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades a text by hidden checks alone, some of which say more than they should."""
    folder = tmp_path_factory.mktemp("words")
    with graded(course_with(folder, "", CHECKS), folder) as grade:
        yield grade


def told(graded: GradedExercise) -> dict[str, tuple[object, ...]]:
    """What of each check a student may get, but its verdict."""
    assert "CANARY" not in graded.output
    return {
        row.check.id: (row.check.title, row.outcome.message, dict(row.outcome.counters), row.speed, row.seconds)
        for row in graded.checks
    }


@pytest.mark.parametrize("answer", ANSWERS)
def test_no_answer_gets_a_hidden_number_out(grade: Grade, answer: str) -> None:
    """With other hidden numbers the same answer is told the same, and in it no number but the check's own."""
    text = module(ANSWERS[answer])
    runs = [told(grade(text, seed=seed)) for seed in range(SEEDS)]
    for check in runs[0]:
        # Whether it passes is a verdict's to tell; the texts are looked at here.
        texts = {str(run[check]) for run in runs if run[check][1]}
        # Which way out of four is named, and which line of four raised, is one of a known few; no more may differ.
        assert len(texts) <= (4 if (answer, check) == ("ways_out", "escapes") or answer == "line" else 1), texts
        # A line of the submission that a check does not allow is found in its text alone, which hides no number.
        message = NOT_ALLOWED.sub(r"\1", str(runs[0][check][1])).split("\nC1 ")[0]
        message = re.sub(r"double\.py, line \d+\n.*", "", message)  # one of a few lines that its author wrote
        assert "CANARY" not in message
        digits = set(message.replace("float32", "").replace("int8", "").replace("3.0", "")) & set("0123456789")
        assert digits <= {"3"}, message


def test_what_a_check_should_not_say_is_for_staff(grade: Grade) -> None:
    """Where a text is not made of known words the student reads a general one, and staff both."""
    graded = grade(module("3 * x.repeat(900)"))
    rows = {row.check.id: row.outcome for row in graded.checks}
    assert rows["tells_input"].message.startswith("the result is not as expected\nC1")
    assert f"{WITHHELD}: wrong for" in rows["tells_input"].detail
    assert rows["tells_kind"].message.startswith("`double` returns a tensor on cpu\nC1")
    assert WITHHELD not in rows["tells_kind"].detail
    assert rows["uses"].message.startswith("`double` makes more than the allowed number of bytes of new memory\nC1")


FILE = '''
LIMIT = 20
UNITS = {"pixels": 1}


def check_one(student, x, key, thing):
    """Looks at something"""
    assert_true(False, f"one call runs more than {LIMIT} operations; a handful will do")
    assert_dtype(student.solve(x), what=f"the tensor under {key} for {x.dtype}")
    assert_true(False, f"{thing} is on {key}", f"{x}")
    assert_costs_at_most(student.solve, ops=1200)
'''


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("one call runs more than 20 operations; a handful will do", True),
        ("one call runs more than 21 operations; a handful will do", False),
        ("the tensor under pixels for torch.float32", True),
        ("the tensor under pixels for (2, 3)", False),
        ("the tensor under 17 for torch.float32", False),
        ("the tensor under pixels for torch.float32[2]", True),
        ("the tensor under pixels for torch.float32['pixels']", True),
        ("the tensor under pixels for torch.float32[4]", False),
        ("a list is on meta", True),
        ("a list is on cuda:7", False),
        ("CANARY", False),
        (say("`{}` runs more than {} operations", "solve", Limit("1,200")), True),
        (say("`{}` runs", "canary"), False),
        (say("your {} has {}", say("{} of yours", "solve"), "12"), False),
    ],
)
def test_words_of_a_file(text: str, known: bool) -> None:
    """Literals, constants in capitals, and holes that hold words of closed sets; no numbers, no others."""
    assert (Words([FILE]).shown_text(text) is not None) == known


def test_a_limit_from_the_input_is_not_told() -> None:
    """A number that no file holds is left out; those of the exercise's limits are told."""
    words = Words([FILE], limits=Limits(call_s=1.5))
    assert words.shown_text(say("in {} seconds", Limit("1.5"))) == "in 1.5 seconds"
    assert words.shown_text(say("{} operations", Limit("1234"))) == "the allowed number of operations"


def test_forms_do_not_nest_for_ever() -> None:
    """A text that matches an f-string within an f-string within an f-string is refused."""
    found = [Words([FILE]).shown_text("a list" + " is on meta" * depth) is not None for depth in range(5)]
    assert found == [True, True, True, False, False]


def test_a_report_tells_no_time_of_hidden_checks(grade: Grade) -> None:
    """Neither how long a hidden check took nor what was measured or counted stands in a report."""
    machine = Environment("3", "2", "2", "Linux", "cpu", 1, None, "fork", "full", "0")
    report = Report("course", None, "somebody", "", "", (grade(module("2 * x")),), machine)
    rows = json.loads(report_json(report))["exercises"][0]["checks"]
    assert {(row["seconds"], str(row["speed"]), str(row["counters"])) for row in rows} == {(None, "[]", "{}")}


ABSENT = "is not available here: this exercise is solved in plain Python, with the standard library alone"


@pytest.mark.parametrize(
    ("text", "line", "shown"),
    [
        ("shape '[2, -1, 3]' is invalid for input of size 7", "", "shape 'N' is invalid for input of size N"),
        (
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
            "",
            "mat1 and mat2 shapes cannot be multiplied (N and N)",
        ),
        ("'NoneType' object is not subscriptable", "", "'NoneType' object is not subscriptable"),
        ("'CANARY' object is not subscriptable", "", "'...' object is not subscriptable"),
        ("name 'torhc' is not defined. Did you mean: 'torch'?", "return torhc", "name 'torhc' is not defined"),
        ("name 'CANARY' is not defined", "return torhc", "name '...' is not defined"),
        ("name 'a' is not defined", " ".join("abcdefghijklmnop"), "name '...' is not defined"),
        (
            "unsupported operand type(s) for +: 'int' and 'list'",
            "",
            "unsupported operand type(s) for ...: 'int' and '...'",
        ),
        ("division by zero: CANARY", "", ""),
        (
            "One of the differentiated Tensors does not require grad",
            "",
            "One of the differentiated Tensors does not require grad",
        ),
        (
            "expand(torch.FloatTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to "
            "the number of dimensions in the tensor (2)",
            "",
            "expand(...{N}, size=N): the number of sizes provided (N) must be greater or equal to the number of "
            "dimensions in the tensor (N)",
        ),
        (
            "slice() cannot be applied to a 0-dim tensor.",
            "return t[:1]",
            "slice() cannot be applied to a 0-dim tensor.",
        ),
        (
            "max() received an invalid combination of arguments - got (dim=tuple, ), but expected one of:\n *",
            "return t.max(dim=(0, 1))",
            "max() received an invalid combination of arguments",
        ),
        (
            "CANARY() received an invalid combination of arguments - got (int)",
            "",
            "...() received an invalid combination of arguments",
        ),
        (f"torch {ABSENT}", "", f"torch {ABSENT}"),
        (f"numpy {ABSENT}", "", f"numpy {ABSENT}"),
        (f"CANARY {ABSENT}", "", f"... {ABSENT}"),
    ],
)
def test_texts_of_exceptions(text: str, line: str, shown: str) -> None:
    """A known text is shown without its numbers, with a common type and a name of the line at most; no other is."""
    assert known_error_text(text, line) == shown


@pytest.mark.parametrize(
    ("known", "line"),
    [
        (": index N is out of bounds", "(N stands for numbers that a hidden check leaves out)"),
        (": '...' object is not callable", "(... stands for a word that a hidden check leaves out)"),
        (": ...() takes N arguments", "(N and ... stand for numbers and words that a hidden check leaves out)"),
        (": name 'N' is not defined", ""),
        (": view size is not compatible. Use .reshape(...) instead.", ""),
        ("", ""),
    ],
)
def test_what_is_left_out_is_explained(known: str, line: str) -> None:
    """A line says what the marks in a text of an exception stand for."""
    assert "".join(placeholders_note(known)) == line
