"""The features of pytest in a check file: each works, or is refused by name when the file is collected.

`docs/writing-exercises.md` has the table. The version of pytest is the one that is installed; with the folder of
another one in TENSORGRADE_OTHER_PYTEST, such as pytest 8 where pytest 9 is installed, it is tried with that as well.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

pytestmark = pytest.mark.lane

HEAD = "import pytest, torch\nfrom grader.check import assert_values, check\n\n"
OF_STUDENT = "assert_values(student.double(torch.ones(2)), torch.full((2,), 2.0))"

WORKS = {
    "parametrize": f"""
@check("C1")
@pytest.mark.parametrize("x", [torch.ones(2), pytest.param(torch.ones(2), id="again")])
def check_it(student, x):
    {OF_STUDENT}
""",
    "fixtures": f"""
@pytest.fixture(scope="module", autouse=True)
def two():
    yield torch.full((2,), 2.0)

@pytest.fixture(params=[1, 2])
def times(request):
    return request.param

@check("C1")
@pytest.mark.usefixtures("times")
def check_it(student, two, request, tmp_path):
    assert request.getfixturevalue("two") is two and tmp_path.is_dir()
    {OF_STUDENT}
""",
    "pytest_generate_tests": f"""
def pytest_generate_tests(metafunc):
    metafunc.parametrize("k", [1, 2])

@check("C1")
def check_it(student, k):
    {OF_STUDENT}
""",
    "setup_function": f"""
READY = []

def setup_module(module):
    module.READY.append(1)

def setup_function(function):
    READY.append(2)

@check("C1")
def check_it(student):
    assert READY
    {OF_STUDENT}
""",
    "raises and approx": """
@check("C1")
def check_it(student):
    with pytest.raises(ZeroDivisionError, match="division"):
        1 / 0
    assert student.double(torch.ones(2)).tolist() == pytest.approx([2.0, 2.0])
""",
    "fail": """
@check("C1")
def check_it(student):
    if student.double(torch.ones(2)).tolist() != [2.0, 2.0]:
        pytest.fail("wrong")
""",
    "subtests": f"""
@check("C1")
def check_it(student, subtests):
    for k in range(3):
        with subtests.test(msg="k", k=k):
            {OF_STUDENT}
""",
    "skipif that does not hold": f"""
@check("C1")
@pytest.mark.skipif(1 > 2, reason="never")
def check_it(student):
    {OF_STUDENT}
""",
}

SKIPS = {
    "skip": '@check("C1")\n@pytest.mark.skip(reason="not today")\ndef check_it(student): assert False\n',
    "skipif": '@check("C1")\n@pytest.mark.skipif(True, reason="not today")\ndef check_it(student): assert False\n',
    "skipif as text": (
        '@check("C1")\n@pytest.mark.skipif("1 < 2", reason="not today")\ndef check_it(student): assert False\n'
    ),
    "pytestmark": 'pytestmark = pytest.mark.skip("not today")\n@check("C1")\ndef check_it(student): assert False\n',
    "a parameter's mark": (
        '@check("C1")\n@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.skip("not today"))])\n'
        "def check_it(student, x): assert False\n"
    ),
    "pytest.skip": '@check("C1")\ndef check_it(student): pytest.skip("not today")\n',
    "importorskip": '@check("C1")\ndef check_it(student): pytest.importorskip("no_such_module", reason="not today")\n',
}

REFUSED = {
    "xfail": ('@check("C1")\n@pytest.mark.xfail\ndef check_it(student): assert False\n', "the mark `xfail`"),
    "filterwarnings": (
        '@check("C1")\n@pytest.mark.filterwarnings("error")\ndef check_it(student): pass\n',
        "the mark `filterwarnings`; call `assert_no_warnings",
    ),
    "a mark of a plugin": (
        '@check("C1")\n@pytest.mark.flaky(reruns=3)\ndef check_it(student): pass\n',
        "the mark `flaky`; it has no effect here",
    ),
    "async": ('@check("C1")\nasync def check_it(student): assert False\n', "`check_it` is `async`"),
    "yield": ('@check("C1")\ndef check_it(student):\n    yield 1\n', "yield"),
    "return": ('@check("C1")\ndef check_it(student):\n    return 1 == 2\n', "returns a value in line 6"),
    "unittest": (
        "import unittest\nclass Checks(unittest.TestCase):\n    def test_it(self): pass\n",
        "is in the class `Checks`|is a test of unittest",
    ),
    "class": (
        'class TestIt:\n    @check("C1")\n    def check_it(self, student): pass\n',
        "`check_it` is in the class `TestIt`",
    ),
    "capsys": ('@check("C1")\ndef check_it(student, capsys): pass\n', "fixture `capsys`, .*call `capture"),
    "caplog": ('@check("C1")\ndef check_it(student, caplog): pass\n', "fixture `caplog`, .*call `capture"),
    "record_property": ('@check("C1")\ndef check_it(student, record_property): pass\n', "fixture `record_property`"),
    "unknown fixture": (
        '@check("C1")\ndef check_it(student, mocker): pass\n',
        "fixture `mocker`, .*a check can use student",
    ),
    "pytest_plugins": (
        'pytest_plugins = ["pytester"]\n@check("C1")\ndef check_it(student): pass\n',
        "`pytest_plugins`",
    ),
    "hook": (
        'def pytest_runtest_setup(item): pass\n@check("C1")\ndef check_it(student): pass\n',
        "`pytest_runtest_setup` is a hook",
    ),
    "pytest.xfail": ('@check("C1")\ndef check_it(student): pytest.xfail("x")\n', "`pytest.xfail` in line 5"),
    "skip of a file": (
        'pytest.skip("not today", allow_module_level=True)\n@check("C1")\ndef check_it(student): pass\n',
        "skips itself when it is read: .*not today",
    ),
}

RUN = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import pytest
from support import FORK, grader_of, verdicts
from grader.course.load import load_course
from grader.grading.runtime import Runtime
from contextlib import closing
if __name__ == "__main__":
    course = load_course(Path(sys.argv[1]))
    with Runtime(course.exercises, FORK) as runtime, closing(runtime.open_lane()) as lane:
        grade = grader_of(course, lane, Path.cwd() / "answers")
        told = {"version": pytest.__version__, "problems": dict(lane.collected.problems), "right": {}, "wrong": {}}
        for exercise in course.exercises:
            if exercise.id in told["problems"]:
                continue
            for name, text in (("right", "def double(x): return 2 * x"), ("wrong", "def double(x): return 3 * x")):
                told[name][exercise.id] = sorted(set(verdicts(grade(text, exercise.id)).values()))
    print(json.dumps(told))
"""


def write_course(root: Path) -> dict[str, str]:
    """A course with an exercise for each feature; the ids by the features."""
    texts = {**WORKS, **SKIPS, **{name: text for name, (text, _) in REFUSED.items()}}
    ids = {name: f"e{number}" for number, name in enumerate(texts)}
    files = {
        "course.yaml": "title: T\nrequires: tensorgrade>=0.1\nmodules:\n"
        f"  - {{folder: m, title: M, exercises: [{', '.join(ids.values())}]}}\n",
        "exercises/topics.yaml": "T1: {name: One}\n",
        "exercises/m/README.md": "# M\n",
    }
    for number, (name, id) in enumerate(ids.items(), 1):
        files[f"exercises/m/{id}/{id}.py"] = (
            '"""It\n\nC1  `double(x)` doubles x.\n"""\n\n\ndef double(x):\n    ...  # TODO\n'
        )
        files[f"exercises/m/{id}/exercise.yaml"] = (
            f"number: 01-{number}\ntitle: It {number}\nkind: implement\ndifficulty: 1\npoints: 10\n"
            "topics: [T1]\nhints: [a, b, c]\n"
        )
        files[f"solutions/m/{id}/{id}.py"] = "def double(x):\n    return 2 * x\n"
        files[f"solutions/m/{id}/check_{id}.py"] = HEAD + texts[name]
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ids


OTHER = os.environ.get("TENSORGRADE_OTHER_PYTEST", "")


@pytest.mark.parametrize("other", ["", *([OTHER] if OTHER else [])], ids=["installed", *(["other"] if OTHER else [])])
def test_each_feature_works_or_is_refused_by_name(tmp_path: Path, other: str) -> None:
    """What works gives a right answer its points and a wrong one none; a skip leaves them undecided."""
    ids = write_course(tmp_path / "course")
    (tmp_path / "answers").mkdir()
    path = os.pathsep.join(filter(None, [other, str(ROOT / "tests"), *sys.path]))
    command = [sys.executable, "-c", RUN, str(tmp_path / "course"), str(ROOT / "tests")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert {name: (told["right"].get(ids[name]), told["wrong"].get(ids[name])) for name in WORKS} == dict.fromkeys(
        WORKS, (["passed"], ["failed"])
    ), told
    assert {name: told["right"].get(ids[name]) for name in SKIPS} == {name: ["not_run"] for name in SKIPS}, told
    problems = {name: told["problems"].get(ids[name], "") for name in REFUSED}
    assert {name: bool(re.search(REFUSED[name][1], problems[name], re.DOTALL)) for name in REFUSED} == dict.fromkeys(
        REFUSED, True
    ), problems
    if other:
        assert told["version"].split(".")[0] != pytest.__version__.split(".")[0]


def test_the_page_has_the_table() -> None:
    """Each feature that is tried above stands in the table of the guide."""
    page = (ROOT / "docs" / "writing-exercises.md").read_text(encoding="utf-8")
    table = page.partition("### pytest's features")[2].partition("## ")[0]
    words = (
        "raises approx fail parametrize pytest_generate_tests setup_function subtests skip skipif importorskip xfail"
    )
    words += " filterwarnings async yield class unittest capsys caplog record_property pytest_plugins hooks conftest.py"
    assert [word for word in words.split() if word not in table] == []
