"""Notebooks of otter and nbgrader become exercises: solution, tests, points, and what a person grades."""

from __future__ import annotations

import ast
import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import COURSES, WarmGrade

from grader.author.port.assignment import MODULE
from grader.author.port.cells import question_lines
from grader.author.port.data_files import read_data_files
from grader.author.port.draft import Draft, Port
from grader.author.port.notebooks import assignment_of
from grader.author.port.todos import missing_part_sentences, todos_of
from grader.course.load import rule_texts
from grader.model.errors import CourseError


def notebook(*cells: dict[str, Any]) -> str:
    """A notebook of these cells."""
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def code(source: str, shows: str | None = None, **nbgrader: Any) -> dict[str, Any]:
    """A cell of code, with the value that it shows and the marks of nbgrader."""
    outputs = [] if shows is None else [{"output_type": "execute_result", "data": {"text/plain": [shows]}}]
    metadata = {"nbgrader": nbgrader} if nbgrader else {}
    return {"cell_type": "code", "source": source.splitlines(keepends=True), "metadata": metadata, "outputs": outputs}


def raw(source: str, kind: str = "raw", **nbgrader: Any) -> dict[str, Any]:
    """A cell of text."""
    return {"cell_type": kind, "source": source, "metadata": {"nbgrader": nbgrader} if nbgrader else {}}


NBGRADER = notebook(
    code("import torch\n%matplotlib inline"),
    code(
        "def squares(x):\n    ###BEGIN SOLUTION\n    return x * x\n    ### END SOLUTION\n",
        grade=False, solution=True, grade_id="squares",
    ),
    code(
        "assert torch.equal(squares(torch.tensor([1, 2])), torch.tensor([1, 4]))\n"
        "### BEGIN HIDDEN TESTS\nassert squares(torch.tensor([3])).tolist() == [9]\n### END HIDDEN TESTS\n",
        grade=True, solution=False, grade_id="test-squares", points=2,
    ),
    raw("Explain.", "markdown", grade=True, solution=True, grade_id="why", points=3),
    code("print(squares(torch.ones(3)))", grade=False, solution=False, grade_id="look"),
)  # fmt: skip

OTTER = notebook(
    raw("# ASSIGNMENT CONFIG\ninit_cell: true"),
    code("import torch"),
    raw("# BEGIN QUESTION\nname: q1\npoints: 2"),
    raw("# BEGIN SOLUTION"),
    code("def squares(x):\n    return x * x # SOLUTION\n"),
    raw("# END SOLUTION"),
    raw("# BEGIN TESTS"),
    code("squares(torch.tensor(3)).item()", shows="9"),
    code("# HIDDEN\ntorch.equal(squares(torch.tensor([2])), torch.tensor([4]))", shows="True"),
    code(
        '""" # BEGIN TEST CONFIG\npoints: 1\nhidden: true\n""" # END TEST CONFIG\n'
        "def test_zero(squares):\n    assert squares(torch.zeros(2)).sum() == 0\n"
    ),
    raw("# END TESTS"),
    raw("# END QUESTION"),
    raw("# BEGIN QUESTION\nname: q2\npoints: 4\nmanual: true"),
    raw("# END QUESTION"),
)


def test_a_notebook_of_nbgrader() -> None:
    """Solutions lose their marks, hidden tests are tests of their own, and what a person grades is said."""
    made = assignment_of(NBGRADER)
    assert made is not None
    assert made.reference() == "import torch\n\ndef squares(x):\n    return x * x\n"
    assert list(made.tests) == ["test_test_squares", "test_test_squares_hidden"]
    assert made.points == dict.fromkeys(made.tests, 1)
    assert made.hidden == {"test_test_squares_hidden"}
    assert made.notes == ["why (3 points) is graded by a person: its rule has `by: staff`"]
    assert "from solution import squares" in made.test_file()
    assert "HIDDEN TESTS" not in made.test_file()


def test_a_hidden_part_has_what_its_cell_did() -> None:
    """The calls of the visible part run before it, and its asserts do not; without a common variable nothing does."""
    cell = "rows = []\nfill(rows, 3)\nassert len(rows) == 3\n### BEGIN HIDDEN TESTS\nassert {}\n### END HIDDEN TESTS\n"
    for hidden, expected in (
        ("rows[0] == 0", "rows = []\nfill(rows, 3)\nassert rows[0] == 0"),
        ("fill([], 0) is None", "assert fill([], 0) is None"),
    ):
        solution = code("def fill(rows, n):\n    rows += range(n)", grade=False, solution=True, grade_id="fill")
        made = assignment_of(notebook(solution, code(cell.format(hidden), grade=True, grade_id="t", points=1)))
        assert made is not None
        assert made.tests["test_t_hidden"].strip() == expected


def test_a_master_notebook_of_otter() -> None:
    """A value that a test shows is asserted; a test function takes its names from the notebook."""
    made = assignment_of(OTTER)
    assert made is not None
    assert made.reference() == "import torch\n\ndef squares(x):\n    return x * x\n"
    assert list(made.tests.values()) == [
        "assert squares(torch.tensor(3)).item() == 9",
        "assert torch.equal(squares(torch.tensor([2])), torch.tensor([4]))",
        "assert squares(torch.zeros(2)).sum() == 0",
    ]
    # As otter does: what the last test does not take of the question's two points is divided.
    assert made.points == {"test_q1": Fraction(1, 2), "test_q1_2": Fraction(1, 2), "test_q1_3": 1}
    assert made.hidden == {"test_q1_2", "test_q1_3"}
    assert made.notes == ["q2 (4 points) is graded by a person: its rule has `by: staff`"]


VARIABLES = notebook(
    raw("# ASSIGNMENT CONFIG\ninit_cell: true"),
    code("import torch\npi = 3.0"),
    raw("# BEGIN QUESTION\nname: q1\npoints: [1, 1]"),
    raw("# BEGIN SOLUTION"),
    code("x = 2 # SOLUTION\n\ndef squares(t):\n    return t * t # SOLUTION"),
    raw("# END SOLUTION"),
    raw("# BEGIN TESTS"),
    code("def test_value(x, pi):\n    assert x == 2\n    assert x < pi\n\ntest_value(x, pi)"),
    code(
        "def test_it(squares, y):\n    assert squares(y).sum() == 5\n\ntest_it(squares, torch.tensor([1, 2])) # IGNORE"
    ),
    raw("# END TESTS"),
    raw("# END QUESTION"),
)


def test_variables_of_the_solution_are_the_students() -> None:
    """What the notebook gives stands in the test file; a test that the notebook calls itself is its body."""
    made = assignment_of(VARIABLES)
    assert made is not None
    assert list(made.tests.values()) == [
        "assert x == 2\nassert x < pi",
        "y = torch.tensor([1, 2])\nassert squares(y).sum() == 5",
    ]
    text = made.test_file()
    assert "from solution import squares, x\n" in text
    assert "\npi = 3.0\n" in text
    assert made.reference() == "import torch\n\nx = 2\n\ndef squares(t):\n    return t * t\n"
    assert made.points == {"test_q1": 1, "test_q1_2": 1}


AUTOTEST = notebook(
    code(
        "def add(a, b):\n    ### BEGIN SOLUTION\n    return a + b\n    ### END SOLUTION", solution=True, grade_id="add"
    ),
    code("### AUTOTEST add(1, 2)\n### AUTOTEST add(3, 4)", grade=True, grade_id="auto", points="2"),
    raw("Explain.", "markdown", grade=True, solution=True, grade_id="why", points="3"),
)


DATA = notebook(
    raw("# ASSIGNMENT CONFIG\ninit_cell: true"),
    code("import numpy as np\nimport no_such_plots\nimport no_such_library as lib\ndata = np.load('data/old.npy')"),
    raw("# BEGIN QUESTION\nname: q1"),
    raw("# BEGIN SOLUTION"),
    code("rows = np.loadtxt('rows.txt')\ntable = np.load('data/table.npy')\n\ndef mean(data):\n    return data.mean()"),
    raw("# END SOLUTION"),
    raw("# BEGIN TESTS"),
    code(
        "np.random.seed(7)\nx = np.random.uniform(0, 1, 4)\nnp.isclose(mean(x), 0.5045253727214766)", shows="np.True_"
    ),
    code("def test_mean(mean):\n    assert mean(np.array([2.0])) == 2\n\nother(mean)  # IGNORE"),
    code("mean(np.array([1.0, 2.0]))", shows="np.float64(1.5)"),
    code("assert lib.shape(table) == (2,)"),
    raw("# END TESTS"),
    raw("# END QUESTION"),
)


def test_a_seeded_test_keeps_its_numbers() -> None:
    """A generator of its own draws what the seed gave; values of NumPy's scalars are compared, too."""
    made = assignment_of(DATA)
    assert made is not None
    draft = Port(made.test_file(), made.reference(), MODULE).draft("t")
    text = draft.shown + draft.hidden
    assert "    draws = np.random.RandomState(7)\n    x = draws.uniform(0, 1, 4)\n" in text
    assert "assert np.isclose(student.mean(x), 0.5045253727214766)" in text
    assert "assert student.mean(np.array([2.0])) == 2" in text and "other" not in text
    assert "assert student.mean(np.array([1.0, 2.0])) == 1.5" in text


def test_only_the_notebook_has_student_code() -> None:
    """What another library has is not the student's, and what is not installed is named where it is needed."""
    made = assignment_of(DATA)
    assert made is not None
    draft = Port(made.test_file(), made.reference(), MODULE).draft("t")
    assert "C2  `table` TODO" in draft.starter and "C3" not in draft.starter
    assert "# TODO: `no_such_library` is not installed here: install it, or write this without it" in draft.shown


def test_a_parameter_needs_no_variable_of_the_notebook() -> None:
    """The reference has what its functions use, and what it needs besides is said."""
    made = assignment_of(DATA)
    assert made is not None
    assert "old.npy" not in made.reference() and "no_such" not in made.reference()
    needs = "the reference reads 'data/table.npy': put the file into the exercise's folder, and list it under `files:`"
    assert list(missing_part_sentences(made.reference())) == [needs]
    global_of_a_test = [
        "the reference uses `A`, which it does not define, as a test may have done before: define it there"
    ]
    assert list(missing_part_sentences("def f(x):\n    return A + len(x)\n")) == global_of_a_test
    assert list(missing_part_sentences("from numpy import *\n\ndef f(x):\n    return sin(x)\n")) == []
    gap = ["the reference has `...` where its solution belongs, such as `z = ...`: write it there"]
    assert list(missing_part_sentences("x = [[1]]\n\nz = ...\n\ndef f(x):\n    return x[..., 0]\n")) == gap
    assert list(missing_part_sentences("import no_such.thing")) == [
        "the reference imports `no_such`, which is not installed here: install it, or write this without it"
    ]


def test_a_test_has_what_earlier_tests_leave() -> None:
    """Cells of a notebook share their names: those that a test needs stand above it, and no others."""
    tests = (
        "from numpy.testing import assert_allclose\nsmall = np.ones(3)\nlarge = small * 2\nassert f(small) == 3",
        "### BEGIN HIDDEN TESTS\nassert_allclose(f(large), 6)\n### END HIDDEN TESTS",
    )
    cells = [code(text, grade=True, solution=False, grade_id=f"t{n}") for n, text in enumerate(tests)]
    text = "def f(x):\n    assert_allclose(x, x)\n    return x.sum()\n"
    solution = code(text, grade=False, solution=True, grade_id="f")
    made = assignment_of(notebook(code("import numpy as np\nother = 1"), solution, *cells))
    assert made is not None
    assert made.test_file().split("def test_t1_hidden():\n")[1].splitlines() == [
        "    from numpy.testing import assert_allclose",
        "    small = np.ones(3)",
        "    large = small * 2",
        "    assert_allclose(f(large), 6)",
    ]
    assert made.reference().startswith("from numpy.testing import assert_allclose\n\n")
    assert list(missing_part_sentences(made.reference())) == []


def test_a_function_that_is_called_for_its_value_does_not_test() -> None:
    """The value that the notebook shows is compared; NumPy compares a list with an array."""
    tests = (
        code("def same(x):\n    return x\nsame(y)", shows="2"),
        code("import numpy as np\nnp.testing.assert_allclose(f(y), [2.5])"),
    )
    cells = [raw("# BEGIN SOLUTION"), code("y = 2\ndef f(x):\n    return np.array([x + 0.5])"), raw("# END SOLUTION")]
    ends = [raw("# END TESTS"), raw("# END QUESTION")]
    made = assignment_of(notebook(raw("# BEGIN QUESTION\nname: q1"), *cells, raw("# BEGIN TESTS"), *tests, *ends))
    assert made is not None
    draft = Port(made.test_file(), made.reference(), MODULE).draft("t")
    text = draft.shown + draft.hidden
    assert "assert same(student.y) == 2" in text
    assert "np.testing.assert_allclose(student.f(student.y), [2.5])" in text


def test_a_value_comes_with_what_changes_it() -> None:
    """A matrix that is filled element by element; NumPy compares a number with each element."""
    given = code(
        "import numpy as np\na = np.zeros((2, 2))\nfor i in range(2):\n    a[i, i] = 1\nb = 3\nb2 = np.ones(b)"
    )
    solution = code("def f(x):\n    return x * 2", grade=False, solution=True, grade_id="f")
    test = code(
        "assert np.allclose(f(a), 2 * a)\nassert np.allclose(f(a - a), 0)", grade=True, solution=False, grade_id="t"
    )
    made = assignment_of(notebook(given, solution, test))
    assert made is not None
    draft = Port(made.test_file(), made.reference(), MODULE).draft("t")
    assert "a = np.zeros((2, 2))\nfor i in range(2):\n    a[i, i] = 1\n" in draft.shown and "b2" not in draft.shown
    assert "assert_values(student.f(a), 2 * a)\n    assert np.allclose(student.f(a - a), 0)" in draft.shown


def test_a_cell_that_is_not_python_is_named() -> None:
    """With its number and its line."""
    with pytest.raises(CourseError, match=r"cell 2 of the notebook is not valid Python \(.*'x ='\); fix it there"):
        assignment_of(notebook(raw("# BEGIN QUESTION\nname: q1"), code("y = 1\nx = ")))


def test_what_cannot_be_ported_is_named() -> None:
    """Tests that nbgrader makes itself, and another language; points may be written as text."""
    said = (
        "auto has 2 lines such as AUTOTEST add.1, 2.: compare each with `reference` in a hidden check; a person grades"
    )
    with pytest.raises(CourseError, match=said):
        assignment_of(AUTOTEST)
    in_r = json.loads(NBGRADER) | {"metadata": {"kernelspec": {"language": "R"}}}
    with pytest.raises(CourseError, match="the notebook is written in R: only Python is graded here"):
        assignment_of(json.dumps(in_r))


def test_other_notebooks_are_refused_and_other_files_are_not_notebooks() -> None:
    """What students get has no tests."""
    assert assignment_of("def test_it(): pass\n") is None
    with pytest.raises(CourseError, match="no marks of nbgrader or otter"):
        assignment_of(notebook(code("x = 1")))
    with pytest.raises(CourseError, match="the notebook of otter has no cells with tests"):
        assignment_of(notebook(raw("# BEGIN QUESTION\nname: q1"), code("x = 1")))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"cells": [', "the notebook is not valid JSON"),
        ('{"worksheets": []}', "has no cells where its format 4 has them; convert it"),
        ('\n{"cells": [{"cell_type": "code", "source": null}]}', "has no cells where"),
    ],
)
def test_a_damaged_notebook_is_named(text: str, why: str) -> None:
    """It is not taken for a test file that is not valid Python."""
    with pytest.raises(CourseError, match=why):
        assignment_of(text)


def test_a_variable_is_graded(tmp_path: Path, type_grade: WarmGrade) -> None:
    """It has a stub in the starter, and a check that reads it."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    (tmp_path / "master.ipynb").write_text(VARIABLES)
    ran = type_grade("new", "01_basics/squares", "--from", str(tmp_path / "master.ipynb"), cwd=home)
    assert ran.returncode == 0, ran.stderr
    starter = (home / "exercises/01_basics/squares/squares.py").read_text()
    assert "x = None  # TODO\n" in starter and "`x` TODO: write what it is." in starter
    right = type_grade("squares", "--submission", str(home / "solutions/01_basics/squares"), cwd=home)
    assert "All checks that can run here passed." in right.stdout, right.stdout + right.stderr
    (tmp_path / "squares.py").write_text("x = 4\n\n\ndef squares(t):\n    return t * t\n")
    assert type_grade("squares", "--submission", str(tmp_path), cwd=home).returncode == 1


@pytest.mark.parametrize(("text", "by_hand"), [(NBGRADER, 3), (OTTER, 4)], ids=["nbgrader", "otter"])
def test_a_ported_notebook_is_graded(tmp_path: Path, type_grade: WarmGrade, text: str, by_hand: int) -> None:
    """The exercise collects, its reference gets full marks, and a wrong answer does not."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    (tmp_path / "master.ipynb").write_text(text)
    ran = type_grade("new", "01_basics/squares", "--from", str(tmp_path / "master.ipynb"), cwd=home)
    assert ran.returncode == 0, ran.stderr
    assert "is graded by a person" in ran.stdout
    description = (home / "exercises/01_basics/squares/exercise.yaml").read_text()
    assert f"\npoints: {2 + by_hand}\n" in description
    assert f"\nrules:\n  C2: {{by: staff, points: {by_hand}}}\n" in description
    answers = home / "solutions/01_basics/squares"
    right = type_grade("squares", "--submission", str(answers), cwd=home)
    assert "All checks that can run here passed." in right.stdout, right.stdout + right.stderr
    assert f"2 / {2 + by_hand} points" in right.stdout
    (tmp_path / "squares.py").write_text("def squares(x):\n    return x + x\n")
    assert type_grade("squares", "--submission", str(tmp_path), cwd=home).returncode == 1


FRAMES = notebook(
    raw("# ASSIGNMENT CONFIG\nfiles: [data, notes.txt]"),
    code("import pandas as pd\nimport numpy as np\ntrees = pd.read_csv('data/trees.csv')"),
    raw("# BEGIN QUESTION\nname: q1\npoints: 3"),
    raw("# BEGIN SOLUTION"),
    code("tall = trees[trees['height'] > 10] # SOLUTION\n\ndef mean(df):\n    return df['height'].mean()"),
    raw("# END SOLUTION"),
    raw("# BEGIN TESTS"),
    code("'tall' in vars()", shows="True"),
    code("tall.shape == (4, 4)", shows="True"),
    code("np.isclose(tall['height'].mean(), 8.5) and abs(mean(tall) - 8.5) < 1", shows="True"),
    code("assert sorted(tall['id'])[0] == 2"),
    code("assert 'id' in tall.columns"),
    code("assert (tall['height'] > 10).all()"),
    code("assert isinstance(tall, pd.DataFrame)"),
    code("np.allclose(tall['height'], [11, 12])", shows="True"),
    code("tall.head()", shows="   id  height\n0   2      12"),
    code("assert mean(trees) == 8"),
    code("# HIDDEN\nassert len(tall) == 4"),
    raw("# END TESTS"),
    raw("# END QUESTION"),
)


def test_tables_of_pandas_stay_beside_student_code() -> None:
    """A test that needs a table itself becomes a probe; one that looks at values of it is a check."""
    made = assignment_of(FRAMES)
    assert made is not None
    assert made.files == ["data", "notes.txt"]
    data = {"data/trees.csv": b""}
    port = Port(made.test_file(), made.reference(), MODULE, made.points, made.hidden, made.given_code(), data)
    draft = port.draft("Title")
    assert [line for line in draft.shown.splitlines() if "assert " in line] == [
        "    assert student.tall is not None",
        "    assert student.tall.shape == (4, 4)",
        "    assert np.isclose(student.tall['height'].mean(), 8.5) and abs(student.mean(student.tall) - 8.5) < 1",
        "    assert sorted(student.tall['id'])[0] == 2",
    ]
    assert "    assert len(student.tall) == 4\n" in draft.hidden
    assert draft.counts == (4, 7, 6)
    assert [line for line in draft.probe.splitlines() if "assert " in line] == [
        "    assert 'id' in tall.columns",
        "    assert (tall['height'] > 10).all()",
        "    assert isinstance(tall, pd.DataFrame)",
        "    assert np.allclose(tall['height'], [11, 12])",
        "    assert repr(tall.head()) == '   id  height\\n0   2      12'",
        "    assert mean(trees) == 8",
    ]
    assert "numbers from a file" not in draft.probe
    given = "\ntrees = pd.read_csv('data/trees.csv')\ntall = None  # TODO\n"
    assert given in draft.starter and "import numpy as np\n" in draft.starter
    assert draft.points == 3


def test_a_value_without_packages_of_tables_is_examined_by_a_check() -> None:
    """In a notebook with pandas, a list or a function of NumPy is examined by a check, whatever the check does."""
    cells = [
        *nbgrader_cells("words = ['a', 'b']", "assert 'a' in words"),
        *nbgrader_cells("def half(x):\n    return x / 2", "x = np.ones(3)\nassert (half(x) > 0.4).all()"),
        *nbgrader_cells("def table():\n    return pd.DataFrame()", "assert 'a' in table()"),
        *nbgrader_cells("def top():\n    return table()[:1]", "assert 'b' in top()"),
        *nbgrader_cells("def other():\n    return strange.load()", "assert 'c' in other()"),
    ]
    draft = draft_of(notebook(code("import numpy as np\nimport pandas as pd\nimport strange"), *cells))
    assert "assert 'a' in student.words" in draft.shown and "assert (student.half(x) > 0.4).all()" in draft.shown
    assert [line.strip() for line in draft.probe.splitlines() if "assert" in line] == [
        f"assert '{letter}' in {function}()" for letter, function in (("a", "table"), ("b", "top"), ("c", "other"))
    ]


def test_a_variable_that_a_later_cell_changes_is_named() -> None:
    """A check sees the last value of a variable, so a test of an earlier one is named."""
    cells = [
        code("table = [1]\n", solution=True, grade=False, grade_id="a"),
        code("assert len(table) == 1", solution=False, grade=True, grade_id="first", points=1),
        code("table[0] = 2", solution=True, grade=False, grade_id="b"),
        code("assert table[0] == 2", solution=False, grade=True, grade_id="second", points=1),
    ]
    made = assignment_of(notebook(*cells))
    assert made is not None
    assert [note.partition(":")[0] for note in made.notes] == [
        "a cell below first changes `table`, and checks see its last value"
    ]


def test_a_starter_has_the_order_of_the_notebook() -> None:
    """Answers in the places of their stubs give what the reference has, also of a variable that a later cell resets."""
    cells = [
        code(
            'x = "Hello"\ny = "World"\n### BEGIN SOLUTION\nboth = x + y\n### END SOLUTION', solution=True, grade_id="q1"
        ),
        code("assert both == 'HelloWorld'", grade=True, grade_id="t1", points=1),
        code("y = []\n### BEGIN SOLUTION\ny = [1]\nx = y + y\n### END SOLUTION", solution=True, grade_id="q2"),
        code("assert x == [1, 1] and y == [1]", grade=True, grade_id="t2", points=1),
        code("y = []\nfirst = x[0]", grade_id="given"),
        code(
            "def end(x):\n    ### BEGIN SOLUTION\n    return x[-1]\n    ### END SOLUTION", solution=True, grade_id="q3"
        ),
        code("y.append(first)  ### SOLUTION\nlast = end(y)", solution=True, grade_id="q4"),
        code("assert y == [1] and last == first == 1", grade=True, grade_id="t4", points=1),
    ]
    text = notebook(*cells).replace("### SOLUTION", "# SOLUTION")
    starter = draft_of(text).starter
    rows = [row for row in starter.rpartition('"""')[2].splitlines() if row.strip()]
    assert rows == [
        'x = "Hello"',
        'y = "World"',
        "both = None  # TODO",
        "y = []",
        "pass  # TODO change `y`",
        "x = None  # TODO",
        "y = []",
        "if False:  # TODO write True when you have written what the code below needs",
        "    first = x[0]",
        "def end(x):",
        "    raise NotImplementedError  # TODO",
        "pass  # TODO change `y`",
        "if False:  # TODO write True when you have written what the code below needs",
        "    last = end(y)",
    ]
    exec(starter, {})
    answers = ["both = x + y", "y = [1]", "x = y + y", "True", "return x[-1]", "y.append(first)", "True"]
    for stub in ("both = None", "pass", "x = None", "False", "raise NotImplementedError", "pass", "False"):
        head, found, rest = starter.partition(f"{stub}  # TODO" if stub != "False" else "False:  # TODO")
        assert found
        starter = f"{head}{answers.pop(0)}{':' * (stub == 'False')}  # done{rest}"
    scope: dict[str, Any] = {}
    exec(starter, scope)
    assert [scope[name] for name in ("both", "x", "y", "last")] == ["HelloWorld", [1, 1], [1], 1]


def test_a_variable_that_two_questions_bind_is_named() -> None:
    """A test need not stand between them, and the later value may be given."""
    cells = [
        raw("## Greet", "markdown"),
        code("y = 'World'", solution=True, grade=False, grade_id="q1"),
        raw("## Count", "markdown"),
        code("y = []\nz = 1\n### BEGIN SOLUTION\nz = len(y)\n### END SOLUTION", solution=True, grade_id="q2"),
        code("assert y == [] and z == 0", grade=True, grade_id="t", points=1),
    ]
    made = assignment_of(notebook(*cells))
    assert made is not None
    assert [note.partition(":")[0] for note in made.notes] == [
        "a cell below q1 changes `y`, and checks see its last value"
    ]


@pytest.mark.parametrize(
    ("seed", "draw", "between", "expected"),
    [
        ("random.seed(7)", "random.random()", "", "draws = random.Random(7)\n    x = draws.random()"),
        ("np.random.seed(7)", "np.random.rand()", "", "draws = np.random.RandomState(7)\n    x = draws.rand()"),
        ("torch.manual_seed(7)", "torch.rand(())", "", "draws = torch.Generator().manual_seed(7)"),
        ("random.seed(7)", "random.random()", "first = random.random()", "# TODO: `random.seed(7)` stands above"),
        ("random.seed(7)", "random.random()", "first = drawn()", "# TODO: `random.seed(7)` stands above"),
        ("random.seed(7)", "np.random.rand()", "", "RandomState(rng.integer(0, 2**32 - 1))\n    x = draws.rand()"),
    ],
)
def test_a_given_seed_reaches_the_draws_of_a_test(seed: str, draw: str, between: str, expected: str) -> None:
    """The draws get a generator with it if nothing between has drawn; otherwise a TODO names it."""
    helper = "def drawn():\n    return random.random()"
    cells = [
        code(f"import random\nimport numpy as np\nimport torch\n{helper}", grade_id="imports"),
        raw("## Half", "markdown"),
        code(
            f"{seed}\n{between}\ndef half(x):\n    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION",
            solution=True, grade_id="half",
        ),
        code(f"x = {draw}\nassert abs(half(x) - 0.16191638) < 1e-6", grade=True, grade_id="t", points=1),
        code(f"x = {draw}\nassert half(x) < 1", grade=True, grade_id="again", points=1),
    ]  # fmt: skip
    draft = draft_of(notebook(*cells))
    checks = f"{draft.shown}{draft.hidden}"
    assert expected in checks
    is_other = "np" in draw and "np" not in seed
    assert checks.count(f"# TODO: `{seed}` stands above") == (0 if is_other else 2 if between else 1)  # of the second


LOADED = notebook(
    code("import numpy as np\nimport torch\nrows = np.loadtxt('data/rows.csv')\nX = torch.tensor(rows)", grade_id="i"),
    code("def twice(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION", solution=True, grade_id="t"),
    code("assert twice(torch.ones(2)).shape == (2,)", grade=True, grade_id="shape", points=1),
    code("def pair(k):\n    return twice(X) * k", grade_id="help"),
    code("assert (twice(X) == X + X).all()", grade=True, grade_id="values", points=1),
    code("rows = [1]\nassert twice(rows[0]) == 2", grade=True, grade_id="own", points=1),
)


def port_with_rows(folder: Path, type_grade: WarmGrade, master: str) -> Path:
    """Port a notebook beside data/rows.csv to an exercise `twice`; return the course, in which no data is missing."""
    home = Path(shutil.copytree(COURSES / "tiny", folder / "course"))
    (folder / "master.ipynb").write_text(master)
    (folder / "data").mkdir()
    (folder / "data/rows.csv").write_text("1\n2\n")
    ran = type_grade("new", "01_basics/twice", "--from", str(folder / "master.ipynb"), cwd=home)
    assert "numbers from a file" not in ran.stdout and ran.returncode == 0, ran.stdout + ran.stderr
    return home


def test_what_a_test_loads_is_the_references(tmp_path: Path, type_grade: WarmGrade) -> None:
    """The check file has no data beside it, and the reference has loaded it; such a check is hidden."""
    home = port_with_rows(tmp_path, type_grade, LOADED)
    hidden = (home / "solutions/01_basics/twice/check_twice.py").read_text()
    assert "assert (student.twice(reference.X) == reference.X + reference.X).all()" in hidden
    shown = (home / "exercises/01_basics/twice/check_twice.py").read_text()
    assert "rows = [1]" in shown and "reference" not in shown
    right = type_grade("twice", "--submission", str(home / "solutions/01_basics/twice"), cwd=home)
    assert "All checks that can run here passed." in right.stdout, right.stdout + right.stderr


def test_a_test_loads_data_from_the_folder_of_the_exercise(tmp_path: Path, type_grade: WarmGrade) -> None:
    """A check reads what the notebook had beside it; statements of earlier tests stand below its title."""
    cells = nbgrader_cells(
        "def twice(x):\n    return 2 * x", "import numpy as np\nassert twice(np.ones(1)) == 2",
        '"""Rows of the file"""\nrows = np.loadtxt("./data/rows.csv")\nassert (twice(rows) == rows + rows).all()',
    )  # fmt: skip
    home = port_with_rows(tmp_path, type_grade, notebook(*cells))
    shown = (home / "exercises/01_basics/twice/check_twice.py").read_text()
    assert (
        'def check_t1(student, files):\n    """Rows of the file"""\n    import numpy as np\n'
        '    rows = np.loadtxt(files / "data/rows.csv")\n'
    ) in shown
    right = type_grade("twice", "--submission", str(home / "solutions/01_basics/twice"), cwd=home)
    assert "All checks that can run here passed." in right.stdout, right.stdout + right.stderr


def test_an_array_of_text_from_a_file_stays_beside_student_code(tmp_path: Path, type_grade: WarmGrade) -> None:
    """A check cannot send it, so such a test runs by a probe, which has the file, too."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    cells = nbgrader_cells(
        "def first(x):\n    return str(x[0])", "names = np.load('names.npy')\nassert first(names) == 'a'",
        "assert first(np.array(['b'])) == 'b'", "assert first(np.load('numbers.npy')) == '1.0'",
    )  # fmt: skip
    (tmp_path / "master.ipynb").write_text(notebook(code("import numpy as np"), *cells))
    np.save(tmp_path / "names.npy", np.array(["a"]))
    np.save(tmp_path / "numbers.npy", np.ones(1))
    ran = type_grade("new", "01_basics/first", "--from", str(tmp_path / "master.ipynb"), cwd=home)
    assert "ported 3 tests: 1 shown, 2 hidden, 2 by a probe" in ran.stdout, ran.stdout + ran.stderr
    (tmp_path / "in").mkdir()
    shutil.copy(home / "solutions/01_basics/first/first.py", tmp_path / "in")
    right = type_grade("first", "--submission", str(tmp_path / "in"), cwd=home)
    assert "All checks that can run here passed." in right.stdout, right.stdout + right.stderr


def test_data_that_the_notebook_names_comes_along(tmp_path: Path) -> None:
    """By a path in parts, as a default, in a listed folder; no notebook, no program, and nothing that nobody names."""
    for name in ("data/a.csv", "data/b.csv", "c.csv", "d.csv", "listed/e.csv", "listed/f.ipynb", "g.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    text = "A = Path('data') / 'a.csv'\n\ndef load(path='./c.csv', other='g.py'):\n    return open(path)\n"
    data, left_out = read_data_files(tmp_path, named=[text], listed=["listed/"])
    assert (list(data), left_out) == (["data/a.csv", "c.csv", "listed/e.csv"], {})


def test_data_that_is_too_large_is_named(tmp_path: Path, type_grade: WarmGrade) -> None:
    """A course with such a file would not load, so the small files come along and the large one is left to do."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    (tmp_path / "master.ipynb").write_text(
        notebook(
            code(
                "import torch\nwords = open('small.txt').read().split()\nrows = open('large.csv').read()",
                solution=True,
                grade=False,
                grade_id="r",
            ),
            code("assert len(words) == 3 < len(rows)", solution=False, grade=True, grade_id="test", points=1),
        )
    )
    (tmp_path / "small.txt").write_text("1 2 3")
    with (tmp_path / "large.csv").open("wb") as large:
        large.truncate(17 << 20)
    ran = type_grade("new", "01_basics/table", "--from", str(tmp_path / "master.ipynb"), cwd=home)
    assert ran.returncode == 0, ran.stderr
    assert "files: [small.txt]\n" in (home / "exercises/01_basics/table/exercise.yaml").read_text()
    said = " ".join(ran.stdout.split())
    assert said.count("large.csv") == 1
    assert "'large.csv' has 17.0 MiB, and the files of an exercise may have 16 MiB together: it was not copied" in said


def test_data_beside_a_notebook_comes_along(tmp_path: Path, type_grade: WarmGrade) -> None:
    """The exercise lists a file that the solution reads, so that its variables can be graded."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    (tmp_path / "master.ipynb").write_text(
        notebook(
            code("import torch\nrows = open('data/rows.txt').read().split()", solution=True, grade=False, grade_id="r"),
            code("assert len(rows) == 3", solution=False, grade=True, grade_id="test", points=1),
        )
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data/rows.txt").write_text("1 2 3")
    ran = type_grade("new", "01_basics/table", "--from", str(tmp_path / "master.ipynb"), cwd=home)
    assert ran.returncode == 0, ran.stderr
    assert "the reference reads" not in ran.stdout
    assert "files: [data/rows.txt]\n" in (home / "exercises/01_basics/table/exercise.yaml").read_text()
    right = type_grade("table", "--submission", str(home / "solutions/01_basics/table"), cwd=home)
    assert "All checks that can run here passed." in right.stdout, right.stdout + right.stderr


def otter_question(settings: str, *cells: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a question of otter; the first are words, the last two its solution and a test."""
    *words, solution, test = cells
    marks = [raw(f"# {mark}") for mark in ("BEGIN SOLUTION", "END SOLUTION", "BEGIN TESTS", "END TESTS")]
    around = raw(f"# BEGIN QUESTION\n{settings}"), raw("# END QUESTION")
    return [around[0], *words, marks[0], solution, marks[1], marks[2], test, marks[3], around[1]]


@pytest.mark.parametrize(
    ("settings", "own", "expected"),
    [
        ("name: q", (None, None), (Fraction(1, 2), Fraction(1, 2))),
        ("name: q", (None, 2), (0, 2)),
        ("name: q\npoints: 3", (None, 2), (1, 2)),
        ("name: q\npoints: {each: 2}", (None, None), (2, 2)),
        ("name: q\npoints: [1, 4]", (None, None), (1, 4)),
    ],
    ids=["a question has one point", "only what has points", "the rest is divided", "each", "a list"],
)
def test_points_are_divided_as_otter_does(
    settings: str, own: tuple[int | None, ...], expected: tuple[Fraction, ...]
) -> None:
    """A question without points has one, unless its tests have points."""
    heads = [f'""" # BEGIN TEST CONFIG\npoints: {each}\n""" # END TEST CONFIG\n' for each in own]
    tests = [code((head if each else "") + "assert x == 2") for head, each in zip(heads, own, strict=True)]
    cells = otter_question(settings, code("x = 2 # SOLUTION"), tests[0])
    made = assignment_of(notebook(*cells[:-2], tests[1], *cells[-2:]))
    assert made is not None
    assert tuple(made.points.values()) == expected


WORDS = notebook(
    *otter_question(
        "name: q1\npoints: 2",
        raw(
            "## Norms\n\n**Question 1.** Write `norm` for $x$:\n\n$$\n\\sum_i x_i\n$$\n\n<ol><li>a\n<li>b</ol>"
            "\n![](norm.png)",
            "markdown",
        ),
        code("def norm(x):\n    return x.sum() # SOLUTION\n\ndef half(x):\n    return x / 2 # SOLUTION"),
        code("assert norm(half(torch.ones(2))) == 1"),
    ),
    raw("Above a question.", "markdown"),
    *otter_question("name: q2", code("y = -0.5 # SOLUTION"), code("# HIDDEN\nassert y == -0.5")),
    *otter_question("name: q3", code("z = 3 # SOLUTION"), code("assert z == y + 3.5")),
    raw("# BEGIN QUESTION\nname: q4\nmanual: true\npoints: 3"),
    raw("Why?", "markdown"),
    raw("# END QUESTION"),
    code("import torch"),
)


def draft_of(text: str) -> Draft:
    """The draft of a notebook."""
    made = assignment_of(text)
    assert made is not None
    given = (made.points, made.hidden, made.given_code())
    return Port(made.test_file(), made.reference(), MODULE, *given, notebook=made).draft("Title")


def test_the_words_of_a_question_are_a_rule() -> None:
    """With formulas and items on lines of their own; a question that a person grades is the last rule."""
    draft = draft_of(WORDS)
    task = ast.get_docstring(ast.parse(draft.starter)) or ""
    assert list(rule_texts(task).values()) == [
        "`norm(x)`, `half(x)`: Question 1. Write `norm` for $x$:\n      $$\n      \\sum_i x_i\n      $$\n"
        "    1. a\n    2. b",
        "`y`: Above a question.",
        "`z` TODO: write what it is.",
        "Why?",
    ]
    assert (draft.by_hand, draft.points) == ({"C4": 3}, 7)
    assert "\nC4 = None  # TODO your answer" in draft.starter
    # One question is one rule; a variable is not a hidden input, so a student can look at it.
    assert '@check("C1", share=2)' in draft.shown and '@check("C2", try_this="y")' in draft.hidden
    made = assignment_of(WORDS)
    assert made is not None
    assert "questions show pictures (norm.png)" in made.notes[-1]


PARTS = notebook(
    code(
        "import torch\nrows = torch.ones(3)\nlimit = 5\n### BEGIN SOLUTION\nstep = 2\n### END SOLUTION",
        solution=True, grade=False, grade_id="a",
    ),
    code(
        "def double(x):\n    # Say what is doubled.\n    total = x.sum()\n    ### BEGIN SOLUTION\n"
        "    total = 2 * total\n    ### END SOLUTION\n    return total\n\ndef given(x):\n    return x",
        solution=True, grade=False, grade_id="b",
    ),
    code("doubled = double(rows)\nseen = []\nfor row in rows:\n    seen.append(double(row))", grade_id="c"),
    code(
        "size = 1\n### BEGIN SOLUTION\nn = 0\nwhile size < limit:\n    size = size + step\n    n += 1\n"
        "### END SOLUTION",
        solution=True, grade=False, grade_id="d",
    ),
    code(
        "assert double(given(rows)) == doubled\nassert len(seen) == 3 and n == 2 and step == 2",
        grade=True, grade_id="t", points=1,
    ),
)  # fmt: skip


def test_students_get_the_part_of_a_cell_that_is_given() -> None:
    """A stub has the lines around the solution; code that needs a stub does not run at first, so the starter loads."""
    draft = draft_of(PARTS)
    scope: dict[str, Any] = {}
    exec(draft.starter, scope)
    assert (scope["limit"], scope["step"], scope["given"](3)) == (5, None, 3)
    assert "    total = x.sum()\n    raise NotImplementedError  # TODO\n    return total\n" in draft.starter
    assert "if False:  # TODO write True when" in draft.starter and "    doubled = double(rows)\n" in draft.starter
    # What students have is not a line of the solution, which `grade release` would refuse to give them.
    assert "# Say what is doubled." in draft.starter and "# Say what is doubled." not in draft.reference
    assert "given" not in (ast.get_docstring(ast.parse(draft.starter)) or "")


def test_loops_around_a_variable_are_kept() -> None:
    """What a loop appends, and what it reads first, belong to the reference."""
    scope: dict[str, Any] = {}
    exec(draft_of(PARTS).reference, scope)
    assert (scope["n"], scope["size"], len(scope["seen"])) == (2, 5, 3)


def test_a_rule_without_a_test_is_named() -> None:
    """What the solution has and no test examines is a rule, which needs a check."""
    cells = nbgrader_cells("def f(x):\n    return x\n\ndef g(x):\n    return x", "assert f(1) == 1")
    draft = draft_of(notebook(*cells))
    assert "C2  `g(x)`" in draft.starter and draft.untested == ["C2"]
    assert draft_of(WORDS).untested == []


def test_students_get_the_part_of_a_loop_that_is_given() -> None:
    """Outside of functions, too; one that may not end, or needs what is to be written, does not run at first."""
    begin, end = "    ### BEGIN SOLUTION\n", "    ### END SOLUTION\n"
    cells = [
        f"total = 0\nfor rate in rates:\n{begin}    total += rate\n{end}    print(rate)",
        f"n = 9\nwhile n > 3:\n{begin}    n = n - 3\n{end}",
        f"if len(rates) > 2:\n{begin}    big = True\n{end}else:\n    big = False",
        "### BEGIN SOLUTION\nrows = [1]\n### END SOLUTION\nmost = 0\nfor row in rows:\n"
        f"{begin}    most = max(most, row)\n{end}",
    ]
    given = code("rates = [1, 2, 3]\n")
    test = code("assert total == 6 and n == 3 and big and most == 1", grade=True, grade_id="t", points=1)
    draft = draft_of(notebook(given, *(code(cell, solution=True, grade_id=str(cell)) for cell in cells), test))
    scope: dict[str, Any] = {}
    exec(draft.starter, scope)
    assert (scope["total"], scope["n"], scope["big"], scope["most"]) == (0, 9, None, 0)
    assert "for rate in rates:\n    pass  # TODO\n    print(rate)\n" in draft.starter
    starts = [
        draft.starter.index(f"    {line}:\n        pass  # TODO\n") for line in ("while n > 3", "for row in rows")
    ]
    assert starts == sorted(starts) and draft.starter.count("if False:") == 2
    exec(draft.reference, scope)
    assert (scope["total"], scope["n"], scope["big"], scope["most"]) == (6, 3, True, 1)


def test_a_seed_of_the_solution_is_kept() -> None:
    """Numbers that a test expects may come from it."""
    cells = otter_question(
        "name: q", code("np.random.seed(3)\nx = np.random.rand() # SOLUTION"), code("assert 0.55 < x < 0.56")
    )
    assert "np.random.seed(3)" in draft_of(notebook(code("import numpy as np"), *cells)).reference


def test_a_function_may_have_the_name_of_a_builtin() -> None:
    """The test calls the student's `sum`, and not Python's."""
    draft = draft_of(notebook(*otter_question("name: q", code("def sum(a, b):\n    return a + b # SOLUTION"),
                                              code("# three\nassert sum(1, 2) == 3"))))  # fmt: skip
    assert 'def check_q(student):\n    """`sum`"""\n    # three\n    assert student.sum(1, 2) == 3' in draft.shown
    assert "def sum(a, b):" in draft.starter


def test_a_test_that_looks_at_nothing_of_student_code_is_named() -> None:
    """It would pass for every answer; another test of its question has its points, or it is left to do."""
    cells = otter_question("name: q", code("import math as m\nx = 2 # SOLUTION"), code("assert x == 2"))
    made = assignment_of(notebook(*cells[:-2], code("assert m.pi > 3"), code("y = x\nassert y"), *cells[-2:]))
    assert made is not None
    assert made.points == {"test_q": Fraction(1, 2), "test_q_3": Fraction(1, 2)}
    (note,) = made.notes
    assert note.startswith("the test q_2 looks at nothing that students write, so that every answer would pass it")
    alone = otter_question("name: other", code("z = 1 # SOLUTION"), code("assert m.pi > 3"))
    draft = draft_of(notebook(*cells, *alone))
    assert [todo for _, todo in todos_of(draft.shown) if "nothing of student code" in todo]


def test_a_module_beside_the_notebook_comes_along(tmp_path: Path, type_grade: WarmGrade) -> None:
    """Student code imports it, and a test that needs it runs by a probe."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    (tmp_path / "shapes.py").write_text("import sizes\n\n\ndef side(n):\n    return sizes.SIDE * n\n")
    (tmp_path / "sizes.py").write_text("SIDE = 3\n")
    cells = otter_question(
        "name: q", code("def area(n):\n    return shapes.side(n) ** 2 # SOLUTION"), code("assert area(2) == 36")
    )
    cells = [*cells[:-2], code("assert area(1) == shapes.side(1) ** 2"), *cells[-2:]]
    (tmp_path / "master.ipynb").write_text(notebook(code("import shapes"), *cells))
    ran = type_grade("new", "01_basics/squares", "--from", str(tmp_path / "master.ipynb"), cwd=home)
    assert ran.returncode == 0, ran.stderr
    assert "ported 2 tests: 1 shown, 1 hidden, 1 by a probe" in ran.stdout and "not installed" not in ran.stdout
    (tmp_path / "in").mkdir()
    shutil.copy(home / "solutions/01_basics/squares/squares.py", tmp_path / "in")
    right = type_grade("squares", "--submission", str(tmp_path / "in"), cwd=home)
    assert "All checks that can run here passed." in right.stdout, right.stdout + right.stderr


def test_a_negative_number_is_a_number() -> None:
    """With pandas in the notebook, a number of the student's is compared in a check, whatever its sign."""
    cells = otter_question("name: q", code("x = -0.5 # SOLUTION"), code("assert np.isclose(x, -0.5)"))
    draft = draft_of(notebook(code("import numpy as np\nimport pandas as pd"), *cells))
    assert draft.counts == (1, 0, 0)


def test_a_question_of_nbgrader_begins_at_the_last_heading_above_its_solution() -> None:
    """It may have several cells; what stands above the heading, and below a test, belongs to other questions."""
    made = assignment_of(
        notebook(
            raw("About the course.", "markdown"),
            raw("## Doubles\n\nLook:", "markdown"),
            raw("![](attachment:1.png)", "markdown"),
            raw("Write `double`.", "markdown"),
            code(
                "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION",
                solution=True,
                grade=False,
            ),
            raw("The next cell tests it.", "markdown"),
            code("assert double(2) == 4", grade=True, grade_id="t", points=1),
        )
    )
    assert made is not None
    assert made.questions["test_t"].lines == ["Look: Write `double`."]
    assert made.pictures == ["attachment:1.png"]


def test_cells_are_read_as_otter_reads_them(tmp_path: Path) -> None:
    """Lines to be ignored, words in a solution that students get, and files that only students have."""
    solution = (
        "# BEGIN IGNORE\nz = 1\n# END IGNORE\ndef f(x):\n    y = x # SOLUTION\n    show(y) # IGNORE\n"
        "    return y # SOLUTION"
    )
    cells = otter_question("name: q", code(solution), code("import extra\nassert f(extra.ONE) == 1"))
    words = raw("Then call it.", "markdown") | {"metadata": {"tags": ["otter_include"]}}
    other = raw("The trick is not to do anything.", "markdown")
    given = code("k = 2 # IGNORE\nm = 3")
    config = raw("# ASSIGNMENT CONFIG\nfiles: [a.csv]\nstudent_files: [b.csv]")
    made = assignment_of(notebook(config, given, *cells[:3], words, other, *cells[3:]))
    assert made is not None
    assert made.code == ["m = 3", "def f(x):\n    y = x\n    return y"]
    assert made.skeletons == {"f": "def f(x):\n    raise NotImplementedError  # TODO\n"}
    assert made.questions["test_q"].lines == ["Then call it."]
    assert made.files == ["a.csv", "b.csv"]
    (tmp_path / "extra.py").write_text("ONE = 1\n")
    assert made.modules(tmp_path) == ["extra.py"]
    draft = Port(made.test_file(), made.reference(), MODULE, data={"extra.py": b""}, notebook=made).draft("Title")
    assert draft.counts == (1, 0, 1)  # a check has no such module


def nbgrader_cells(solution: str, *tests: str, points: int = 2) -> list[dict[str, Any]]:
    """A cell with a solution of nbgrader, and a cell for each test; "@" stands between a shown and a hidden part."""
    marks = "\n### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS\n"
    parts = [test.partition("@") for test in tests]
    return [
        code(f"### BEGIN SOLUTION\n{solution}\n### END SOLUTION", solution=True, grade=False, grade_id="s"),
        *(
            code(shown + marks.format(hidden) * bool(at), grade=True, solution=False, grade_id=f"t{n}", points=points)
            for n, (shown, at, hidden) in enumerate(parts)
        ),
    ]


def test_a_part_that_asserts_nothing_has_no_points() -> None:
    """A shown part that only prints is not a check, and the hidden part has all points; a helper may assert."""
    double = "def double(x):\n    if x is None:\n        raise ValueError\n    return 2 * x"
    helper = code("def close(a, b):\n    assert abs(a - b) < 1e-6")
    cells = nbgrader_cells(double, "y = double(2)\nprint(y)@assert y == 4", "close(double(1), 2)@assert double(3) == 6")
    made = assignment_of(notebook(helper, *cells))
    assert made is not None
    assert made.points == {"test_t0_hidden": 2, "test_t1": 1, "test_t1_hidden": 1}
    assert made.notes == [
        "the test t0 asserts nothing, so that every answer would pass it: it is not a check, and t0_hidden has its "
        "points (1)"
    ]
    assert "def test_t0_hidden():\n    y = double(2)\n    assert y == 4\n" in made.test_file()


def test_points_of_an_otter_test_that_asserts_nothing_go_to_the_others() -> None:
    """They are those of its question; what it prepares for later tests is kept."""
    cells = otter_question("name: q\npoints: 4", code("def f(x):\n    return x # SOLUTION"), code("y = f(3)\nprint(y)"))
    cells = [*cells[:-2], code("assert y == 3"), code("# HIDDEN\nassert f(1) == 1"), *cells[-2:]]
    made = assignment_of(notebook(*cells))
    assert made is not None
    assert made.points == {"test_q_2": 2, "test_q_3": 2}
    assert "def test_q_2():\n    y = f(3)\n" in made.test_file()


def test_a_test_that_asserts_nothing_is_left_to_do() -> None:
    """Where nothing else examines its question, the check stays, with a comment."""
    draft = draft_of(notebook(*nbgrader_cells("def f(x):\n    return x", "print(f(2))")))
    assert [todo for _, todo in todos_of(draft.shown)] == [
        "this asserts nothing, and passes for every answer that does not raise: assert what is returned, or leave it "
        "out"
    ]


def test_words_between_questions_are_kept_or_named() -> None:
    """From the last heading on they belong to the next question; the summary names the others."""
    made = assignment_of(
        notebook(
            raw("# Lab 1\n\nHand in by Friday.\n\n## Trees\n\nEach row is a tree.", "markdown"),
            code("rows = [1, 2]"),
            raw("```\n# no heading\n```", "markdown"),
            *otter_question(
                "name: q1", raw("### Question 1\n\nCount them.", "markdown"), code("n = 2 # SOLUTION"),
                code("assert n == 2"),
            ),
            raw("Well done. Now the sum.", "markdown"),
            *otter_question("name: q2", code("total = 3 # SOLUTION"), code("assert total == 3")),
            raw("## The end", "markdown"),
            raw("Run all cells again.", "markdown"),
        )
    )  # fmt: skip
    assert made is not None
    assert made.questions["test_q1"].lines == ["Each row is a tree.", "  # no heading", "Count them."]
    assert made.questions["test_q2"].lines == ["Well done. Now the sum."]
    assert made.notes == [
        "these words stand above another heading or below the last question, and are not in the task: cell 1 'Hand in "
        "by Friday.'; cell 23 'Run all cells again.'. Put what students need into the task, or on the page of the "
        "module"
    ]


def test_all_words_that_are_left_out_are_named() -> None:
    """The first with their words, and the others by the numbers of their cells; a heading alone loses its points."""
    words = [raw(f"Word {number}.", "markdown") for number in range(1, 15)]
    heading = raw("### Part A (1.5 points)", "markdown")
    cells = nbgrader_cells("def f(x):\n    return x", "assert f(1) == 1")
    made = assignment_of(notebook(*words, raw("<br>", "markdown"), heading, *cells))
    assert made is not None
    assert "; cell 12 'Word 12.'; and cells 13, 14. Put what" in made.notes[0]
    assert made.questions["test_t0"].lines == ["Part A"]


def test_titles_are_made_from_headings_and_names(tmp_path: Path, type_grade: WarmGrade) -> None:
    """A title says which question it is; those that were made are left to do, and a test's own title is not."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    cells = [
        raw("### Exercise: *Threshold* (2 points)\n\nWrite it.", "markdown"),
        *nbgrader_cells("def double(x):\n    return 2 * x", "assert double(1) == 2@assert double(3) == 6"),
        *nbgrader_cells("k = 3", "assert k == 3", '"""Looks at k"""\nassert k > 2'),
    ]
    (tmp_path / "master.ipynb").write_text(notebook(*cells))
    ran = type_grade("new", "01_basics/twice", "--from", str(tmp_path / "master.ipynb"), cwd=home)
    assert ran.returncode == 0, ran.stderr
    shown = (home / "exercises/01_basics/twice/check_twice.py").read_text()
    titles = [line.strip(' "') for line in shown.splitlines() if line.startswith('    """')]
    assert titles == ["Exercise: Threshold, test 1", "Exercise: Threshold, test 3", "Looks at k"]
    assert "check_twice.py:8,14: this title was made from the heading or the names of a question" in ran.stdout


def test_a_model_answer_stands_in_the_reference() -> None:
    """Of what a person grades: a text, a mark scheme, and code that no test needs; students do not get them."""
    cells = [
        *nbgrader_cells("def f(x):\n    return x", "assert f(1) == 1"),
        raw("Why?", "markdown"),
        raw("### BEGIN SOLUTION\nSince x is *one*.\n### END SOLUTION", "markdown",
            grade=True, solution=True, grade_id="why", points=1),
        raw("Draw.\n### BEGIN MARK SCHEME\nAxes: 1 point.\n### END MARK SCHEME\n", "markdown",
            task=True, grade=False, solution=False, grade_id="draw", points=1),
        code("plot(f(2))\nshow()", grade=True, solution=True, grade_id="code", points=1),
    ]  # fmt: skip
    draft = draft_of(notebook(*cells))
    scope: dict[str, Any] = {}
    exec(draft.reference, scope)
    assert [scope[f"C{number}"].strip() for number in (2, 3, 4)] == [
        "Since x is *one*.", "Axes: 1 point.", "plot(f(2))\nshow()",
    ]  # fmt: skip
    assert "Since x" not in draft.starter and "Axes" not in draft.starter and "C2 = None" in draft.starter


def test_what_takes_no_arguments_has_an_example() -> None:
    """A hidden check of it has no hidden input, so its call is the `try_this`."""
    cells = nbgrader_cells("def grid():\n    return [0]\n\ndef f(x):\n    return x", "@assert grid() == [0]",
                           "@assert f(1) == 1")  # fmt: skip
    hidden = draft_of(notebook(*cells)).hidden
    assert 'try_this="grid()"' in hidden and hidden.count("# TODO: add try_this") == 1


def test_numbers_of_a_list_are_kept() -> None:
    """A list of steps stays one."""
    assert question_lines("Do:\n\n1. load\n2) add\n- look\na) other") == [
        "Do:", "1. load", "2. add", "- look", "- a) other",
    ]  # fmt: skip


def test_an_example_that_is_not_python_is_left_out() -> None:
    """Some notebooks show an error on purpose; in a question it would be a mistake."""
    made = assignment_of(notebook(code("print('x'"), *otter_question("name: q", code("x = 2"), code("assert x == 2"))))
    assert made is not None
    assert [note.partition(" (")[0] for note in made.notes] == ["cell 1 is not valid Python"]


def test_a_notebook_that_was_not_run(tmp_path: Path, type_grade: WarmGrade) -> None:
    """Conditions are asserted, other values are left to do, no test is dropped, and one sentence says all of it."""
    cells = otter_question("name: q", code("x = 2 # SOLUTION"), code("x == 2"))
    cells = [*cells[:-2], code("# HIDDEN\nx * 3"), code("y = x\nisinstance(y, int) and not y < 0"), *cells[-2:]]
    draft = draft_of(notebook(*cells))
    assert "    assert student.x == 2\n" in draft.shown
    assert "    assert isinstance(y, int) and (not y < 0)\n" in draft.shown
    (todo,) = [todo for _, todo in todos_of(draft.hidden)]
    assert todo.startswith("the notebook shows no value for the line at the end, since its cells were not run")
    made = assignment_of(notebook(*cells))
    assert made is not None
    assert made.notes == [
        "the notebook shows no value below 3 tests, since its cells were not run: in 2 the draft asserts that the "
        "condition at the end is true, and in 1 it asserts nothing yet. Run all of its cells, save it, and draft "
        "again with --again"
    ]


def test_a_draft_without_a_shown_check_says_so(tmp_path: Path, type_grade: WarmGrade) -> None:
    """Its file is there, with what is left to do, where students see no test of the notebook."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    cells = otter_question("name: q", code("x = 2 # SOLUTION"), code("# HIDDEN\nassert x == 2"))
    (tmp_path / "master.ipynb").write_text(notebook(*cells))
    ran = type_grade("new", "01_basics/two", "--from", str(tmp_path / "master.ipynb"), cwd=home)
    assert ran.returncode == 0, ran.stderr
    said = "exercises/01_basics/two/check_two.py:3: students see no check here: write at least one, such as an example"
    assert said in ran.stdout


def test_what_students_get_stands_in_the_starter() -> None:
    """Functions that nothing needs, too; the import of matplotlib stands in the one that needs it."""
    given = (
        "import matplotlib.pyplot as plt\ndef show(x):\n    '''Plot x.'''\n    plt.plot(x)\n\n"
        "def twice(x):\n    return f(x) * 2"
    )
    cells = nbgrader_cells("def f(x):\n    return x", "assert f(1) == 1")
    draft = draft_of(notebook(code("import seaborn as sns"), code(given), *cells))
    for text in (draft.starter, draft.reference):
        assert "def twice(x):\n    return f(x) * 2\n" in text
        assert "def show(x):\n    '''Plot x.'''\n    import matplotlib.pyplot as plt\n    plt.plot(x)\n" in text
        assert text.count("import matplotlib") == 1 and "seaborn" not in text
    at_once = code("import matplotlib.pyplot as plt\ndef show(x, axes=plt.gca()):\n    axes.plot(x)")
    assert draft_of(notebook(at_once, *cells)).reference.startswith("import matplotlib.pyplot as plt\n")


def test_code_keeps_its_layout_in_a_rule() -> None:
    """Between fences, indented, and between backticks; words in a directive of MyST are words."""
    fenced = (
        "Fill in `__init__` and `q[i](j)`:\n```python\n# Begin\nclass A:\n    def __init__(self):\n"
        "        x = [a](b)\n```\n**End**."
    )
    assert question_lines(fenced) == [
        "Fill in `__init__` and `q[i](j)`:", "  # Begin", "  class A:", "      def __init__(self):",
        "          x = [a](b)", "End.",
    ]  # fmt: skip
    assert question_lines("    for i in x:\n        f(i)") == ["  for i in x:", "      f(i)"]
    assert question_lines("```{hint}\nLook *up*.\n```") == ["Look *up*."]


def test_a_list_counts_from_its_first_number() -> None:
    """As Markdown does, whatever its other numbers are; words in the first column end it."""
    assert question_lines("1. a\n  - b\n1. c\n1. d\nThen:\n1. e\n3. f") == [
        "1. a", "- b", "2. c", "3. d", "Then:", "1. e", "2. f",
    ]  # fmt: skip


def test_words_between_the_parts_of_a_question_belong_to_it() -> None:
    """Students read what stands below the solution, and between the tests and the end of a question."""
    cells = otter_question("name: q", code("x = 2 # SOLUTION"), code("assert x == 2"))
    place = cells.index(raw("# BEGIN TESTS"))
    words = raw("Check the sign.", "markdown"), raw("Well done.", "markdown")
    made = assignment_of(notebook(*cells[:place], words[0], *cells[place:-1], words[1], cells[-1]))
    assert made is not None
    assert made.questions["test_q"].lines == ["Check the sign.", "Well done."]


def test_rules_have_the_order_of_the_questions() -> None:
    """One that a person grades stands at its place."""
    by_hand = [
        raw("# BEGIN QUESTION\nname: why\nmanual: true\npoints: 3"),
        raw("Why?", "markdown"),
        raw("# END QUESTION"),
    ]
    one = otter_question("name: q1", raw("One.", "markdown"), code("x = 1 # SOLUTION"), code("assert x == 1"))
    two = otter_question("name: q2", raw("Two.", "markdown"), code("y = 2 # SOLUTION"), code("assert y == 2"))
    draft = draft_of(notebook(*one, *by_hand, *two))
    rules = rule_texts(ast.get_docstring(ast.parse(draft.starter)) or "")
    assert list(rules.values()) == ["`x`: One.", "Why?", "`y`: Two."]
    assert draft.by_hand == {"C2": 3.0} and "C2 = None" in draft.starter
    assert '@check("C1")' in draft.shown and '@check("C3")' in draft.shown
    assert draft.untested == []


def test_settings_of_otter_that_a_check_does_not_have_are_named() -> None:
    """A seed, and what students read where a test passes or fails."""
    config = raw("# ASSIGNMENT CONFIG\nconfig_file: otter.yaml\nseed:\n  variable: rng_seed\n  seed: 42")
    head = '""" # BEGIN TEST CONFIG\nfailure_message: Square it.\n""" # END TEST CONFIG\n'
    cells = otter_question("name: q", code("x = 2 # SOLUTION"), code(f"{head}assert x == 2"))
    made = assignment_of(notebook(config, *cells))
    assert made is not None
    assert made.notes == [
        "otter reads settings from otter.yaml, and a draft does not: its `files:` belong into exercise.yaml",
        "otter sets the seed 42 before each cell, and nothing does so here: where student code draws, call it by "
        "`call_seeded(42, student.f, x)`; where numbers come from this seed, compare with `reference`",
        "the failure_message of q is 'Square it.': no check says it, and a hint can",
    ]


def test_given_variables_are_drawn_as_the_notebook_draws_them() -> None:
    """All draws below a seed stand in each check file, whichever of them its checks need; a solution may draw, too."""
    given = "import random\nrandom.seed(3)\nn = 2\na = [random.random() for _ in range(n)]\nb = random.randint(0, 9)"
    cells = nbgrader_cells("def f(x):\n    return x", "assert f(1) == 1@assert f(b) == b")
    draft = draft_of(notebook(code(given), *cells))
    wanted = "draws = random.Random(3)\nn = 2\na = [draws.random() for _ in range(n)]\nb = draws.randint(0, 9)\n"
    assert wanted in draft.hidden and "draws" not in draft.shown
    checks, cell = dict[str, Any](), dict[str, Any]()
    exec(draft.hidden.split("# TODO: add")[0], checks)
    exec(given, cell)
    assert checks["b"] == cell["b"]
    between = code(
        "### BEGIN SOLUTION\nc = random.random()\n### END SOLUTION", solution=True, grade=False, grade_id="c"
    )
    assert "random.Random" not in draft_of(notebook(code(given), between, *cells)).hidden


def test_a_draft_without_a_hidden_check_says_so() -> None:
    """Its file is there, with what is left to do, where students see all tests."""
    draft = draft_of(notebook(*nbgrader_cells("def f(x):\n    return x", "assert f(1) == 1")))
    assert [todo for _, todo in todos_of(draft.hidden)] == [
        "students see all checks here: write at least one hidden check, such as a comparison with `reference` on other "
        "inputs"
    ]
    assert draft.counts == (1, 0, 0)


def test_tests_without_points_are_named() -> None:
    """The tests of a question that have points of their own leave none for the others, as in otter."""
    head = '""" # BEGIN TEST CONFIG\npoints: 3\n""" # END TEST CONFIG\n'
    cells = otter_question("name: q\npoints: 3", code("x = 2 # SOLUTION"), code(f"{head}assert x == 2"))
    made = assignment_of(notebook(*cells[:-2], code("assert x > 1"), *cells[-2:]))
    assert made is not None
    (note,) = made.notes
    assert note.startswith("q_2: no points, since the other tests of the question have all of them")


def test_a_title_has_the_names_that_tests_use() -> None:
    """Of all that a solution binds on its way."""
    cells = otter_question("name: q", code("a = 1 # SOLUTION\nb = a + 1 # SOLUTION"), code("assert b == 2"))
    made = assignment_of(notebook(*cells))
    assert made is not None
    assert made.titles() == {"test_q": "`b`"}


def test_statements_that_share_a_line() -> None:
    """As notebooks have them: each is a statement of its own, with the mark of its line."""
    given = code("import math; import numpy as np\nu = np.ones(2); print(u)")
    cells = otter_question("name: q", code("x = 2; y = (\n    3); z = 4 # SOLUTION"), code("a = x; assert a + y == 5"))
    made = assignment_of(notebook(given, *cells))
    assert made is not None
    assert made.solved == {"x", "y", "z"}
    assert "x = 2\n\ny = (\n    3)\n" in made.reference()
    draft = draft_of(notebook(given, *cells))
    assert "    assert a + student.y == 5\n" in draft.shown
    assert "import math" in draft.reference and "x = None  # TODO\ny = None  # TODO\n" in draft.starter


def test_a_notebook_without_the_solution_that_its_tests_use() -> None:
    """What is missing is named, and where to write it."""
    tests = code("assert u1 == 2 and u2 > len([])", grade=True, solution=False, grade_id="t", points=1)
    with pytest.raises(CourseError, match="no solution in the notebook binds u1, u2, which its tests use: write it"):
        assignment_of(notebook(code("k = 3"), tests))


def test_points_in_the_last_line_are_those_of_parts() -> None:
    """Each condition that adds points is a check; where the parts are unclear, the test stays, with a TODO."""
    hidden = "n = 0\ny = f(2)\nif y == 2:\n    n += 0.75 / 3\nif f(3) == 3:\n    n += 0.5\nn"
    made = assignment_of(notebook(*nbgrader_cells("def f(x):\n    return x", f"assert f(1) == 1@{hidden}", points=1)))
    assert made is not None
    assert made.tests == {
        "test_t0": "assert f(1) == 1\n",
        "test_t0_hidden": "y = f(2)\nassert y == 2",
        "test_t0_hidden_2": "y = f(2)\nassert f(3) == 3",
    }
    assert made.points == {
        "test_t0": Fraction(1, 4),
        "test_t0_hidden": Fraction(1, 4),
        "test_t0_hidden_2": Fraction(1, 2),
    }
    assert made.hidden == {"test_t0_hidden", "test_t0_hidden_2"}
    unclear = "n = 0\nif f(1) == 1:\n    n = 1\nelse:\n    n = 0.5\nn"
    draft = draft_of(notebook(*nbgrader_cells("def f(x):\n    return x", f"assert f(1) == 1@{unclear}")))
    todos = [todo for _, todo in todos_of(draft.hidden)]
    assert any(todo.startswith("nbgrader takes the number in the last line as the points") for todo in todos)
    assert draft.counts == (1, 1, 0)


def test_a_given_variable_that_changes_later_is_named() -> None:
    """A check sees its last value; one that is bound to the same again is no change."""
    one = nbgrader_cells("def f(x):\n    return x", "assert f(n) == 2 and f(m) == 1")
    two = nbgrader_cells("def g(x):\n    return x", "assert g(n) == 3")
    made = assignment_of(notebook(code("n = 2\nm = 1"), *one, code("# again\nm = 1\nn = 3"), *two))
    assert made is not None
    assert made.notes == [
        "a cell below t0 changes `n`, which the notebook gives, and checks see its last value: set it in each check"
    ]


def test_an_import_stands_once() -> None:
    """Whichever comments stand above it in the notebook; a heading may begin with its points."""
    cells = nbgrader_cells("def f(x):\n    return np.ones(x)", "assert len(f(2)) == 2")
    heading = raw("### (0.75p) Ones\n\nWrite it.", "markdown")
    draft = draft_of(notebook(code("import numpy as np"), code("# Libraries\nimport numpy as np"), heading, *cells))
    assert draft.starter.count("import numpy as np") == 1
    assert '"""Ones"""' in draft.shown
