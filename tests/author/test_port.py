"""`grade new --from` makes the first draft of an exercise from a plain pytest file, and says what is left to do."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from support import COURSES, FORK, WarmGrade, open_lane, verified

from grader.author.port.draft import Draft, Port
from grader.author.port.todos import todos_of
from grader.course.answers import starter_digest
from grader.course.load import load_course
from grader.model import Course
from grader.model.errors import CourseError

pytestmark = pytest.mark.lane

PLAIN = COURSES / "plain"
STYLES = ["nn_utils", "puzzles", "d2l", "attention", "optimizer", "training", "cases"]
"""Adapters and snapshots, puzzles of one line, functions of a book, a layer, optimizers, a loop with its loader, and a
class of `unittest` with asserts of nose and numbers that come from a seed."""

NEEDS_MORE = {"nn_utils": {"linear_snapshot"}, "training": {"on_gpu"}}
"""Checks that cannot pass as they are: the numbers or the hardware are not here."""


def port(text: str, reference: str = "") -> Draft:
    return Port(dedent(text), reference).draft("Title")


@pytest.fixture(scope="module")
def course(type_grade: WarmGrade, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course of ported exercises, one for each style."""
    root = tmp_path_factory.mktemp("ported")
    shutil.copy(COURSES / "tiny" / "course.yaml", root)
    assert type_grade("new", "--course", "mine", cwd=root).returncode == 0
    for style in STYLES:
        files = ("--from", str(PLAIN / f"{style}.py"), "--reference", str(PLAIN / f"{style}_solution.py"))
        ran = type_grade("new", f"01_port/my_{style}", *files, cwd=root / "mine")
        assert ran.returncode == 0, ran.stderr
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
        n = torch.randint(0, 10, (3,))
        mask = torch.rand(x.shape)
        with torch.no_grad():
            y = run_scale(x, 2.0)
        np.testing.assert_allclose(double(x).numpy(), (2 * x).numpy(), rtol=1e-5)
        assert y.dtype == torch.float32
        assert n.sum() >= 0 and mask.sum() >= 0


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

import pytest
import torch

from grader.check import assert_shape, assert_values, check

FACTOR = 3.0


@check("C1")
def check_scale(student):
    """Scale"""
    x = torch.tensor([1.0, 2.0])
    assert_values(student.scale(x, FACTOR), x * FACTOR)
    assert_shape(student.scale(x, FACTOR), (2,))


@check("C2")
@pytest.mark.parametrize("dim", [0, 1])
def check_total_refuses(student, dim):
    """Total refuses"""
    with pytest.raises(ValueError):
        student.total(torch.empty(0, 0), dim)
'''

HIDDEN = '''\
"""Hidden checks: each names its rule and gives a call to try."""

import torch

from grader.check import assert_dtype, assert_values, check


def double(student, x):
    return student.scale(x, 2.0)


# TODO: add try_this="...", a call that a student can try, which is not a hidden input
@check("C1")
def check_scale_random(student, rng):
    """Any numbers"""
    x = torch.randn(4, 5, generator=rng)  # some numbers
    n = torch.randint(0, 10, (3,), generator=rng)
    mask = torch.rand(x.shape, generator=rng)
    # TODO: `torch.no_grad` holds in the check process, not in the calls inside it; write a probe: a function of the
    #   probe file that does this beside the student's code
    with torch.no_grad():
        y = student.scale(x, 2.0)
    assert_values(double(student, x), 2 * x, rtol=1e-5)
    assert_dtype(y, torch.float32)
    assert n.sum() >= 0 and mask.sum() >= 0


# TODO: add try_this="...", a call that a student can try, which is not a hidden input
@check("C2")
# TODO: the test had the mark xfail(reason='later'), and a check has none
def check_total_gradient(student, probe):
    """Total gradient"""
    # TODO: return values from the probe and compare them here; student code could forge its asserts
    probe.total_gradient(student.total)
'''


def test_files_are_as_an_author_would_begin_them() -> None:
    """Shown and hidden checks, text by text; the starter has the rules, and the probe what was told to pytest."""
    draft = port(GOLDEN)
    assert draft.shown == SHOWN
    assert draft.hidden == HIDDEN
    assert "C1  `scale(x, factor)` TODO: write what it returns.\nC2  `total(x, dim)` TODO" in draft.starter
    assert "def total_gradient(total):\n    with redirect_stdout(StringIO()) as capsys:\n        x =" in draft.probe
    assert draft.probe.endswith('        assert capsys.getvalue() == ""\n')
    assert not draft.probe_is_shown
    assert draft.counts == (2, 2, 1)


def test_stubs_are_those_of_the_reference() -> None:
    """Signatures and first lines are the reference's, code and private names are not, and its names are kept."""
    reference = (
        "import torch\nfrom torch import nn\n\n\ndef run_total(x: torch.Tensor, dim=0):\n"
        '    """The sum.\n\n    In secret.\n    """\n    return x.sum(dim)\n\n\nclass Net(nn.Module):\n'
        "    def __init__(self, n):\n        super().__init__()\n\n    def _secret(self):\n        pass\n"
    )
    tests = "from adapters import Net, run_total\n\ndef test_it():\n    assert run_total(1) == Net(2)\n"
    draft = port(tests, reference)
    assert "C2  `Net(n)` TODO" in draft.starter
    assert draft.starter.partition('"""\n\n')[2] == (
        "import torch\nfrom torch import nn\n\n\ndef run_total(x: torch.Tensor, dim=0):\n"
        '    """The sum."""\n    raise NotImplementedError  # TODO\n\n\nclass Net(nn.Module):\n\n'
        "    def __init__(self, n):\n        raise NotImplementedError  # TODO\n"
    )
    assert draft.reference == reference


CORNERS = {
    'class TestF:\n    def test_a(self, tmp_path):\n        f(tmp_path, """\nlong""")\n': "    probe.f_a(student.f)\n",
    "class TestF:\n    k = 2\n\n    def test_b(self):\n        assert f(self.k)\n": "def check_f_b(student):",
    "def test_one(): assert f(1) == 1\n": 'def check_one(student):\n    """One"""\n    assert student.f(1) == 1\n',
    "def test_größe():\n    s = 'é'; assert f(s) == 'é'\n": "s = 'é'; assert student.f(s) == 'é'",
    "def test_any():\n    torch.manual_seed(0)\n    assert f(1)\n": '    """Any"""\n    assert student.f(1)',
    "def test_own():\n    f = len\n    assert f([1]) == 1\n\n\ndef test_f():\n    f(1)\n": "    assert f([1]) == 1",
    "def check_it(a):\n    assert a == 1\n\n\ndef test_f():\n    check_it(f(1))\n": "    _check_it(student.f(1))",
    "def _f(**k):\n    return f(**k)\n\n\ndef test_f():\n    assert _f(a=1)\n": "def _f(student, **k):\n",
    "def test_f(snapshot):\n    assert f(1) == snapshot\n": "# TODO: no fixture `snapshot` is here",
    "def test_f():\n    assert f(torch.load('x.pt'))\n": "# TODO: numbers from a file",
    "def test_f():\n    self.check(f(1))\n": "# TODO: `self` is not defined here",
    "def test_f():\n    f(FIXTURES)\n": "# TODO: `FIXTURES` is not defined here",
    "@pytest.mark.parametrize('g', [f])\ndef test_f(g):\n    g(f(1))\n": "# TODO: `f` is not defined here",
    "def test_f():\n    f(np.random.rand(3), np.random.randint(0, 9))\n": (
        'def check_f(student, rng):\n    """F"""\n    draws = np.random.RandomState(rng.integer(0, 2**32 - 1))\n'
        "    student.f(draws.rand(3), draws.randint(0, 9))\n"
    ),
    "A = np.random.rand(3)\n\n\ndef test_f():\n    f(A)\n": (
        "# TODO: draw this from `rng`, for example `rng.uniform(3).numpy()`, so that all"
    ),
    "np.random.seed(3)\nA = np.random.rand(3)\nB = np.random.rand(3)\n\n\ndef test_f():\n    f(B)\n": (
        "\ndraws = np.random.RandomState(3)\nA = draws.rand(3)\nB = draws.rand(3)\n"
    ),
    "def test_f():\n    f(np.random.default_rng(3).gamma(2))\n": (
        "# TODO: this draws the same numbers in each run: write `np.random.default_rng(rng.integer(0, 2**32 - 1))`"
    ),
    "def test_f():\n    np.random.seed(3)\n    assert f(1)\n": "# TODO: `np.random.seed(3)` stood here: if",
    "def test_f():\n    f(1)\n    pytest.skip('later')\n": "# TODO: `pytest.skip` leaves the check's points undecided",
}
"""What else tests have, and what a check file or the probe file then has."""

PATTERNS = {
    "class TestF:\n    k = 2\n\n    def test_a(self):\n        assert f('''\n    self.k\n''') == self.k\n": (
        "def check_f_a(student):\n    \"\"\"F a\"\"\"\n    assert student.f('''\n    self.k\n''') == k\n"
    ),
    "class TestF:\n    @staticmethod\n    def test_s(a=1):\n        assert f(a)\n": "def check_f_s(student, a=1):\n",
    "class TestF:\n    def test_o(this, tmp_path):\n        f(str(tmp_path))\n": "def f_o(f):\n    with TemporaryDir",
    "def test_p(tmp_path):\n    f(tmp_path, '''\n  two\n''')\n": "        f(tmp_path, '''\n  two\n''')\n",
    "def test_p(tmp_path):\n  f(tmp_path, 1)\n": (
        "  with TemporaryDirectory() as folder:\n      tmp_path = Path(folder)\n      f(tmp_path, 1)\n"
    ),
    "def test_p(capsys):\n    f('capsys.readouterr().out')\n    assert capsys.readouterr().out == ''\n": (
        "        f('capsys.readouterr().out')\n        assert capsys.getvalue() == ''\n"
    ),
    "def test_g():\n    f(torch.randn(len('generator=')))\n": "torch.randn(len('generator='), generator=rng)",
    "@pytest.mark.parametrize('a', ['b'])\ndef test_f(a, b):\n    f(a, b)\n": "# TODO: no fixture `b` is here",
    "@pytest.mark.parametrize(('a', 'b'), [(1, 2)])\ndef test_f(a, b):\n    f(a, b)\n": "def check_f(student, a, b):",
    "@pytest.fixture\ndef autouse():\n    return 1\n\n\ndef test_f():\n    assert f('autouse')\n": (
        "    assert student.f('autouse')\n"
    ),
    "def check(a, b):\n    assert a == b\n\n\ndef test_f():\n    check(f(1), 2)\n": "    _check(student.f(1), 2)",
    "def test_f():\n    y = f(1)\n    assert not y.requires_grad and f(2).grad_fn is None\n": (
        "assert not facts(y).requires_grad and facts(student.f(2)).grad_fn is None"
    ),
    "import inspect\n\n\ndef test_f():\n    assert 'for ' not in inspect.getsource(f)\n": (
        "# TODO: student code is in another process, and `inspect` does not see it: `assert_does_not_use"
    ),
    "def test_f():\n    y = f(1)\n    assert y.dtype == float\n": ("    assert y.dtype == float\n"),
    "import time\n\n\ndef test_f():\n    t = time.time()\n    f(1)\n    assert time.time() - t < 1\n": (
        "# TODO: seconds depend on the machine, and no check decides by them: write `assert_cpu_time_ratio`"
    ),
    "import pandas as pd\n\n\ndef test_f():\n    assert isinstance(f(1), pd.Series)\n": (
        "def try_f(f):\n    assert isinstance(f(1), pd.Series)"
    ),
    "from matplotlib import pyplot\n\n\ndef test_f():\n    ax = pyplot.axes()\n    f(ax)\n    assert ax.lines\n": (
        "def try_f(f):\n    ax = pyplot.axes()\n    f(ax)\n    assert ax.lines"
    ),
    "import time\n\n\ndef test_f():\n    assert isinstance(f(1), time.struct_time)\n": (
        "# TODO: a `time.struct_time` of student code arrives as a plain tuple, and is never an instance of"
    ),
    "from collections import OrderedDict\n\n\ndef test_f():\n    assert isinstance(f(1), OrderedDict)\n": (
        "# TODO: a `OrderedDict` of student code arrives as a plain dict"
    ),
    "def test_f():\n    assert f(range(10), k=range(2)) == {*range(3)}\n": (
        "    assert student.f(list(range(10)), k=list(range(2))) == {*range(3)}\n"
    ),
    "import sklearn.base as sb\n\n\ndef test_f():\n    assert isinstance(f(1), sb.Model)\n": (
        "never an instance of `sb.Model` here"
    ),
    "async def test_f():\n    assert f(1)\n": "# TODO: an `async` check would pass for any answer",
    "import solution as s\n\n\ndef test_f():\n    assert hasattr(s, 'f') and s.f(1)\n": "hasattr(student, 'f')",
    "def test_f():\n    from numpy.testing import assert_allclose\n    import math as m, numpy as np\n"
    "    assert_allclose(f(1), np.ones(2))\n    print('done')\n    print(f(2))\n    print('a'); f(3)\n": (
        '    """F"""\n    import math as m, numpy as np\n    assert_values(student.f(1), np.ones(2))\n'
        "    print(student.f(2))\n    print('a'); student.f(3)\n"
    ),
    "def test_f():\n    def same(f: int) -> int:\n        return f\n    assert same(f) and (lambda f: f)(f)\n": (
        "        return f\n    assert same(student.f) and (lambda f: f)(student.f)\n"
    ),
    "def test_f():\n    pytest.raises(ValueError, f, 1, k=2)\n    if f:\n"
    "        pytest.raises(KeyError, lambda: f(3)[1])\n    x = 1; pytest.raises(OSError, f)\n": (
        "    with pytest.raises(ValueError):\n        student.f(1, k=2)\n    if student.f:\n"
        "        with pytest.raises(KeyError):\n            student.f(3)[1]\n"
        "    x = 1; pytest.raises(OSError, student.f)\n"
    ),
    "import unittest\n\n\nclass TestF(unittest.TestCase):\n    def test_f(self):\n"
    "        self.assertRaises(ValueError, f, 1)\n": "    with pytest.raises(ValueError):\n        student.f(1)\n",
    "def test_f():\n    assert f(1) == pytest.approx(-2 / 3)\n    assert f(2) == pytest.approx([2.0])\n": (
        "    assert_values(student.f(1), -2 / 3, rtol=1e-6, atol=1e-12)\n"
        "    assert student.f(2) == pytest.approx([2.0])\n"
    ),
    "def test_f():\n    x = 3\n    assert pytest.approx(x, abs=0.1) == f(x)\n    assert x == pytest.approx(3)\n": (
        "    assert pytest.approx(x, abs=0.1) == student.f(x)\n    assert x == pytest.approx(3)\n"
    ),
    "import unittest\n\n\nclass TestF(unittest.TestCase):\n    def test_f(self):\n"
    "        y = 3\n        self.assertAlmostEqual(f(1), y, 3)\n": (
        "    y = 3\n    assert_values(student.f(1), y, rtol=0, atol=0.0005)\n"
    ),
    "def test_a():\n    assert f(2)\n\n\ndef test_f():\n    k = f\n    del f\n    f = k\n": (
        "# TODO: a check cannot take `f` away"
    ),
    "def test_lambda(tmp_path):\n    assert f(tmp_path)\n": "probe.try_lambda(student.f)",
    "def test_1(tmp_path):\n    assert f(tmp_path)\n": "probe.try_1(student.f)",
    "def test_torch(tmp_path):\n    assert f(torch.zeros(2), tmp_path)\n": "def try_torch(f)",
    "A = '\\x0c'\nB = '\x0c'\n\n\ndef test_f():\n    assert f(A, B)\n": "B = '\x0c'\n\n\n@check",
}
"""Texts that look like what is rewritten and are none, and what must be found however it is written."""


@pytest.mark.parametrize("tests", CORNERS)
def test_corners(tests: str) -> None:
    """Methods, one-liners, names of their own, and a comment wherever something is missing."""
    head = "import numpy as np\nimport pytest\nimport torch\nfrom solution import f\nfrom .common import FIXTURES\n\n\n"
    draft = port(head + tests)
    both = f"{draft.shown}\n{draft.hidden}"
    assert CORNERS[tests] in both
    for text in (draft.starter, draft.reference, draft.shown, draft.hidden, draft.probe):
        ast.parse(text)


@pytest.mark.parametrize("tests", PATTERNS)
def test_a_test_file_is_read_as_python_reads_it(tests: str) -> None:
    """The inside of a text stays as it is, and a name counts for what it is."""
    draft = port("import pytest\nimport torch\nfrom solution import f\n\n\n" + tests)
    files = (draft.starter, draft.reference, draft.shown, draft.hidden, draft.probe)
    assert any(PATTERNS[tests] in text for text in files), files
    assert "def autouse" not in draft.shown
    for text in files:
        ast.parse(text)


def test_a_stub_keeps_its_docstring() -> None:
    """Only the raised error gets the comment, also where a docstring ends with the same word."""
    reference = 'def f(x):\n    """Handle x, see TODO"""\n    return x\n'
    starter = port("from solution import f\n\n\ndef test_f():\n    assert f(1)\n", reference).starter
    assert starter.endswith('    """Handle x, see TODO"""\n    raise NotImplementedError  # TODO\n')


def test_a_class_of_fields_alone_has_a_stub() -> None:
    """Nothing of it is public code, so that its body would be empty."""
    reference = "from dataclasses import dataclass\n\n\n@dataclass\nclass Size:\n    rows: int = 0\n"
    starter = port("from solution import Size\n\n\ndef test_f():\n    assert Size(1)\n", reference).starter
    assert starter.endswith("@dataclass\nclass Size:\n    pass\n")


def test_what_cannot_be_ported_is_refused() -> None:
    """With the reason."""
    for text, why in (("def test_a(:", "is not valid Python"), ("import solution\n", "the file has no tests")):
        with pytest.raises(CourseError, match=why):
            port(text)


def test_the_command_says_what_is_left(type_grade: WarmGrade, home: Path, tmp_path: Path) -> None:
    """It counts tests and places, names files and lines, and lays nothing out where it refuses."""
    tests = tmp_path / "test_it.py"
    tests.write_text("def test_a():\n    assert 1\n")
    refused = type_grade("new", "02_more/third", "--from", "../test_it.py", cwd=home)
    assert (refused.returncode, "no test calls student code" in refused.stderr) == (2, True)
    assert not (home / "exercises/02_more").exists()
    alone = type_grade("new", "02_more/third", "--reference", "../test_it.py", cwd=home)
    assert (alone.returncode, "--reference and --again need --from" in alone.stderr) == (2, True)
    tests.write_text(dedent(GOLDEN))
    ran = type_grade("new", "02_more/third", "--from", "../test_it.py", cwd=home)
    assert ran.returncode == 0, ran.stderr
    assert "ported 4 tests: 2 shown, 2 hidden, 1 by a probe\nleft to do in 9 places:" in ran.stdout
    lines = ",".join(str(line) for line, todo in todos_of(HIDDEN) if "try_this" in todo)
    assert f"\n  solutions/02_more/third/check_third.py:{lines}: add try_this=" in ran.stdout
    assert "write a probe: a function of the probe file that does this" in ran.stdout  # of a comment of two lines
    assert (home / "solutions/02_more/third/probe_third.py").is_file()
    assert not (home / "solutions/02_more/third/wrong").exists()


def test_drafting_again_keeps_what_was_edited(type_grade: WarmGrade, home: Path, tmp_path: Path) -> None:
    """Files that nobody has edited are replaced or removed; of an edited one, the new draft lies beside it."""
    tests, shown, staff = tmp_path / "test_it.py", home / "exercises/02_more/third", home / "solutions/02_more/third"
    typed = ("new", "02_more/third", "--from", "../test_it.py")
    tests.write_text("from solution import f\n\n\ndef test_a(tmp_path):\n    assert f(tmp_path, 1)\n")
    assert type_grade(*typed, cwd=home).returncode == 0
    assert (shown / "probe_third.py").is_file()
    refused = type_grade(*typed, cwd=home)
    assert refused.returncode == 2
    assert "add --again, which keeps the files that you have edited" in refused.stderr
    settings = (shown / "exercise.yaml").read_text()
    (shown / "exercise.yaml").write_text(settings.replace("title: Third", "title: My third"))
    (shown / "check_third.py").write_text("# my own\n")
    tests.write_text("from solution import g\n\n\ndef test_a():\n    assert g(1) == 2\n")
    again = type_grade(*typed, "--again", cwd=home)
    assert again.returncode == 0, again.stderr
    assert "def g(x):" in (shown / "third.py").read_text() and "My third" in (shown / "third.py").read_text()
    assert "removed exercises/02_more/third/probe_third.py, which the new draft does not have" in again.stdout
    assert not (shown / "probe_third.py").exists()
    assert (shown / "check_third.py").read_text() == "# my own\n"
    draft = ".grade/drafts/exercises/02_more/third/check_third.py"
    assert f"kept exercises/02_more/third/check_third.py, which you edited; its new draft: {draft}" in again.stdout
    assert "student.g(1) == 2" in (home / draft).read_text()
    mine = (shown / "exercise.yaml").read_text()
    assert "title: My third" in mine
    assert mine.splitlines()[:-1] == settings.replace("title: Third", "title: My third").splitlines()[:-1]
    assert f"starter: {starter_digest((shown / 'third.py').read_bytes())}" in mine
    (home / draft).replace(shown / "check_third.py")  # what was accepted is not edited any more
    tests.write_text("from solution import g\n\n\ndef test_a():\n    assert g(1) == 3\n")
    last = type_grade(*typed, "--again", cwd=home)
    assert "student.g(1) == 3" in (shown / "check_third.py").read_text(), last.stdout
    assert (staff / "third.py").is_file()


def test_comments_of_a_solution_are_not_left_to_do(type_grade: WarmGrade, home: Path, tmp_path: Path) -> None:
    """They are the author's own, and those of a starter are for students."""
    (tmp_path / "test_it.py").write_text("from solution import f\n\n\ndef test_a():\n    assert f(1) == 2\n")
    (tmp_path / "sol.py").write_text("def f(x):\n    # TODO: a faster way\n    return x + 1\n")
    typed = ("new", "02_more/third", "--from", "../test_it.py", "--reference", "../sol.py")
    ran = type_grade(*typed, cwd=home)
    assert "third/third.py:3: write the task" in ran.stdout, ran.stderr
    assert "a faster way" not in ran.stdout


def test_imports_inside_of_tests_are_of_student_code() -> None:
    """A course may import in each test, and may call its module `code`, as a module of Python is called."""
    reference = "import numpy as np\n\n\ndef add(x, y):\n    return x + y\n"
    test = """
        def test_add():
            from code import add

            assert add(1, 2) == 3
    """
    draft = port(test, reference)
    assert 'def check_add(student):\n    """Add"""\n\n    assert student.add(1, 2) == 3\n' in draft.shown
    assert "import code" not in draft.shown and "from code" not in draft.shown
    assert "\nimport numpy as np\n" in draft.starter


def test_a_method_called_backward_is_not_a_gradient() -> None:
    """A loss that students write may have a method of this name, with arguments."""
    test = """
        from solution import Loss

        def test_backward():
            assert Loss().backward(1, 2) == 3
    """
    assert port(test).counts == (1, 0, 0)
