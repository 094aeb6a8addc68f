"""`grade new --from` makes the first draft of an exercise from a plain pytest file, and says what is left to do."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from support import COURSES, FORK, WarmGrade, open_lane, verified

from grader.author.port import Port
from grader.course.layout import Places
from grader.course.load import load_course
from grader.model import Course
from grader.model.errors import CourseError

PLAIN = COURSES / "plain"
STYLES = ["nn_utils", "puzzles", "d2l", "attention", "optimizer", "training"]
"""Adapters and snapshots, puzzles of one line, functions of a book, a layer, optimizers, a loop with its loader."""

NEEDS_MORE = {"nn_utils": {"linear_snapshot"}, "training": {"on_gpu"}}
"""Checks that cannot pass as they are: the numbers or the hardware are not here."""


PLACES = Places("01_port", "ported")


def port(text: str) -> dict[Path, str]:
    return Port(dedent(text).encode()).files(PLACES)


@pytest.fixture(scope="module")
def course(type_grade: WarmGrade, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course of ported exercises, one for each style, with the solution that came with its tests."""
    root = tmp_path_factory.mktemp("ported")
    shutil.copy(COURSES / "tiny" / "course.yaml", root)
    assert type_grade("new", "--course", "mine", cwd=root).returncode == 0
    for style in STYLES:
        ran = type_grade("new", f"01_port/my_{style}", "--from", str(PLAIN / f"{style}.py"), cwd=root / "mine")
        assert ran.returncode == 0, ran.stderr
        shutil.copy(PLAIN / f"{style}_solution.py", root / "mine" / Places("01_port", f"my_{style}").reference)
    return load_course(root / "mine")


@pytest.fixture(scope="module")
def verdicts(course: Course) -> Iterator[dict[str, dict[str, str]]]:
    """How the checks of each exercise end for the solution that came with the tests."""
    with open_lane(course.exercises, FORK) as lane:
        runs = {}
        for style, exercise in zip(STYLES, course.exercises, strict=True):
            assert exercise.reference is not None
            files = {exercise.file_name: exercise.reference.read_bytes()}
            runs[style] = {one.check: one.verdict.value for one in lane.run(exercise, files, 0).outcomes}
        yield runs


@pytest.mark.parametrize("style", STYLES)
def test_a_solution_that_passes_the_tests_passes_the_checks(verdicts: dict[str, dict[str, str]], style: str) -> None:
    """Each test is a check, and all but those that say what they lack pass."""
    tests = (PLAIN / f"{style}.py").read_text().count("def test_")
    assert len({check.partition("[")[0] for check in verdicts[style]}) == tests
    failed = {check for check, verdict in verdicts[style].items() if verdict != "passed"}
    assert failed == NEEDS_MORE.get(style, set())


def test_verify_reports_what_is_left_to_do(course: Course, few_unusual: None) -> None:
    """Of a port with its reference, nothing else: the text, the hints, calls to try, and more answers."""
    (puzzles,) = (exercise for exercise in course.exercises if exercise.id == "my_puzzles")
    (proof,) = verified(course, [puzzles])
    known = ("docstring is not written", "is not written", "must give an example", "no other right", "0 wrong answers")
    others = [problem for problem in proof.problems if not any(words in problem for words in known)]
    # Weak tests are weak checks: unusual answers show it. A test that is both shown and hidden is to be one of them.
    weak = ("unusual answer", "at fault itself", "points are for nothing", "of a hidden check stands here")
    assert [problem for problem in others if not any(words in problem for words in weak)] == []


GOLDEN = '''
    import numpy as np
    import pytest
    import torch
    from adapters import run_scale, run_total

    FACTOR = 3.0


    def double(x):
        return run_scale(x, 2.0)


    def test_scale():
        x = torch.tensor([1.0, 2.0])
        assert torch.allclose(x * FACTOR, run_scale(x, FACTOR)), "wrong"
        assert run_scale(x, FACTOR).shape == (2,)


    def test_scale_random():
        """Any numbers"""
        torch.manual_seed(0)
        x = torch.randn(4, 5)  # some numbers
        with torch.no_grad():
            y = run_scale(x, 2.0)
        np.testing.assert_allclose(double(x).numpy(), (2 * x).numpy(), rtol=1e-5)
        # By then
        assert y.dtype == torch.float32


    @pytest.mark.parametrize("dim", [0, 1])
    def test_total_refuses(dim):
        with pytest.raises(ValueError):
            run_total(torch.empty(0, 0), dim)


    @pytest.mark.xfail(reason="later")
    def test_total_gradient(capsys):
        x = torch.ones(3, requires_grad=True)
        run_total(x, 0).backward()
        assert x.grad.tolist() == [1.0, 1.0, 1.0]
        assert capsys.readouterr().out == ""
'''

SHOWN = '''\
"""Shown checks: students have this file."""

from grader.check import check
import pytest
import torch

FACTOR = 3.0


@check("C1")
def check_scale(student):
    """Scale"""
    run_scale = student.scale
    x = torch.tensor([1.0, 2.0])
    assert torch.allclose(x * FACTOR, run_scale(x, FACTOR)), "wrong"
    assert run_scale(x, FACTOR).shape == (2,)


@check("C2")
@pytest.mark.parametrize('dim', [0, 1])
def check_total_refuses(student, dim):
    """Total refuses"""
    run_total = student.total
    with pytest.raises(ValueError):
        run_total(torch.empty(0, 0), dim)
'''

HIDDEN = '''\
"""Hidden checks: each names its rule and gives a call to try."""

from grader.check import check
import numpy as np
import torch


# TODO: `run_scale` is not defined here: define it in this file, or, if it is the student's, take it from `student`
def double(x):
    return run_scale(x, 2.0)


# TODO: draw all inputs from `rng`, so that they depend on the seed of the run
# TODO: add try_this="...", a call that a student can try, which is not a hidden input
@check("C1")
def check_scale_random(student):
    """Any numbers"""
    run_scale = student.scale
    torch.manual_seed(0)
    x = torch.randn(4, 5)  # some numbers
    with torch.no_grad():
        y = run_scale(x, 2.0)
    np.testing.assert_allclose(double(x).numpy(), (2 * x).numpy(), rtol=1e-5)
    # By then
    assert y.dtype == torch.float32


# TODO: add try_this="...", a call that a student can try, which is not a hidden input
@check("C2")
def check_total_gradient(student, probe):
    """Total gradient"""
    # TODO: return values from the probe and compare them here; student code could forge its asserts
    probe.try_total_gradient(student.total)
'''


def test_files_are_as_an_author_would_begin_them() -> None:
    """Shown and hidden checks, text by text; the starter has the rules, and the probe what was told to pytest."""
    files = port(GOLDEN)
    assert files[PLACES.shown_checks] == SHOWN
    assert files[PLACES.hidden_checks] == HIDDEN
    rules = "C1  `scale(...)` TODO: write what it returns.\nC2  `total(...)` TODO"
    assert rules in files[PLACES.starter]
    assert (
        "def scale(*args):\n    raise NotImplementedError  # TODO: write the parameters, or a class\n"
        in files[PLACES.starter]
    )
    probe = files[PLACES.probes[1]]
    assert "def try_total_gradient(run_total):\n    with redirect_stdout(StringIO()) as capsys:\n        x =" in probe
    assert probe.endswith('        assert capsys.getvalue() == ""\n')
    assert PLACES.probes[0] not in files


CORNERS = {
    'class TestF:\n    def test_a(self, tmp_path):\n        f(tmp_path, """\nlong""")\n': "probe.try_f_a(student.f)\n",
    "class TestF:\n    k = 2\n\n    def test_b(self):\n        assert f(self.k)\n": "def check_f_b(student):",
    "def test_one(): assert f(1) == 1\n": '"""One"""\n    f = student.f\n    assert f(1) == 1\n',
    "def test_größe():\n    s = 'é'; assert f(s) == 'é'\n": "s = 'é'; assert f(s) == 'é'",
    "def test_own():\n    f = len\n    assert f([1]) == 1\n\n\ndef test_f():\n    f(1)\n": '"""Own"""\n    f = len',
    "def test_f():\n    self.check(f(1))\n": "# TODO: `self` is not defined here",
    "def test_f():\n    f(FIXTURES)\n": "# TODO: `FIXTURES` is not defined here",
    "@pytest.mark.parametrize('g', [f])\ndef test_f(g):\n    g(f(1))\n": "# TODO: `f` is not defined here",
    "def test_f():\n    f(np.random.rand(3))\n": "# TODO: draw all inputs from `rng`",
    "import mine as m\n\ndef test_f():\n    f(m.g(1))\n": "    m_g = student.g\n    f(m_g(1))",
}
"""What else tests have, and what a check file then has."""


@pytest.mark.parametrize("tests", CORNERS)
def test_corners(tests: str) -> None:
    """Methods, one-liners, names of their own, and a comment wherever something is missing."""
    head = "import numpy as np\nimport pytest\nimport torch\nfrom solution import f\nfrom .common import FIXTURES\n\n\n"
    files = port(head + tests)
    assert CORNERS[tests] in "\n".join(files[path] for path in files if path.name == PLACES.shown_checks.name)
    for text in files.values():
        ast.parse(text)


def test_what_cannot_be_ported_is_refused() -> None:
    """With the reason."""
    for text, why in (("def test_a(:", "is not valid Python"), ("import solution\n", "the file has no tests")):
        with pytest.raises(CourseError, match=why):
            port(text)


def test_the_command_says_what_is_left(type_grade: WarmGrade, home: Path, tmp_path: Path) -> None:
    """It counts tests, and lays nothing out where it refuses."""
    tests = tmp_path / "test_it.py"
    tests.write_text("def test_a():\n    assert 1\n")
    refused = type_grade("new", "02_more/third", "--from", "../test_it.py", cwd=home)
    assert (refused.returncode, "no test calls student code" in refused.stderr) == (2, True)
    assert not (home / "exercises/02_more").exists()
    tests.write_text(dedent(GOLDEN))
    ran = type_grade("new", "02_more/third", "--from", "../test_it.py", cwd=home)
    assert ran.returncode == 0, ran.stderr
    assert "ported 4 tests: 2 shown, 2 hidden, 1 by a probe\n" in ran.stdout
    written = home / "solutions/02_more/third/check_third.py"
    assert written.read_text() == HIDDEN
    assert (home / "solutions/02_more/third/probe_third.py").is_file()
    assert not (home / "solutions/02_more/third/wrong").exists()
