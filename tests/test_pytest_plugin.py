"""The plugin of pytest: shown checks as items of somebody else's pytest, run in a lane of ours."""

from __future__ import annotations

import importlib
import shutil
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import runtime_of

from grader.model import GradedExercise, Outcome, Verdict
from grader.runner.lane import Lane
from grader.student import pytest_plugin
from grader.student.pytest_items import CourseLane

DOUBLE = "exercises/01_basics/double/check_double.py"
HALF = "def double(x):\n    print('here')\n    return 2 * x\n\n\ndef double_(x):\n    return x * 2\n"


class Seen:
    """What an editor is told: items with their lines, and how each ended."""

    def __init__(self) -> None:
        self.items: dict[str, tuple[int | None, str]] = {}
        self.ended: dict[str, tuple[str, str]] = {}
        self.not_read: list[str] = []
        self.printed = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = {item.nodeid: item.location[1:] for item in session.items}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.not_read += [report.longreprtext] if report.failed else []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            kind = report.outcome if report.when == "call" else f"{report.outcome} in {report.when}"
            self.ended[report.nodeid] = (kind, report.longreprtext)
            self.printed += report.capstdout


@pytest.fixture
def root(home: Path, monkeypatch: pytest.MonkeyPatch, fork_lane: Lane) -> Path:
    """A copy of the pretend course, whose checks are run in the lane that all tests share."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(CourseLane, "_runtime", runtime_of(fork_lane))
    (home.parent / "pytest.ini").write_text("[pytest]\n")
    (home / "exercises/01_basics/double/double.py").write_text(HALF)
    return home


def ran(root: Path, *arguments: str, options: Sequence[str] = ()) -> Seen:
    """Run pytest, as somebody does who has the plugin."""
    seen = Seen()
    options = [*options, "-c", str(root.parent / "pytest.ini"), f"--rootdir={root}", "-p", "no:cacheprovider"]
    files = [str(root / item) for item in arguments]
    pytest.main([*options, "--import-mode=importlib", *files], plugins=[seen, pytest_plugin])
    return seen


def test_shown_checks_are_listed_and_run(root: Path) -> None:
    """Each is an item with its line; a failing one has the message of `grade`; no check file is imported here."""
    seen = ran(root, "exercises")
    total = "exercises/01_basics/total/check_total.py::check_small"
    assert seen.items == {
        f"{DOUBLE}::check_small": (6, "check_small"),
        f"{DOUBLE}::check_in_place": (12, "check_in_place"),
        total: (6, "check_small"),
    }
    assert seen.ended[f"{DOUBLE}::check_small"] == ("passed", "")
    kind, told = seen.ended[f"{DOUBLE}::check_in_place"]
    assert (kind, told.partition(";")[0]) == ("failed", "the result is not the argument itself")
    assert "C3  `double_(x)` doubles x in place and returns x." in told
    assert seen.printed == "here\n"
    kind, told = seen.ended[total]
    assert (kind, "total.py is the unchanged starter" in told) == ("skipped", True)
    assert not {"check_double", "check_total"} & {name.rpartition(".")[2] for name in sys.modules}


def test_one_check_can_be_chosen(root: Path) -> None:
    """By its node id, as an editor does; so can the hidden ones, where they are."""
    assert list(ran(root, f"{DOUBLE}::check_small").ended) == [f"{DOUBLE}::check_small"]
    assert set(ran(root, "solutions/01_basics/double/check_double.py").ended.values()) == {("passed", "")}


def test_each_failing_case_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check with parameters is one item; its message begins with the cases that fail."""
    grade = CourseLane.grade

    def with_cases(lane: CourseLane, exercise: Any, checks: Any) -> GradedExercise:
        graded = grade(lane, exercise, checks)
        verdicts = {"1": Verdict.FAILED, "2": Verdict.PASSED, "x-3": Verdict.FAILED}
        rows = [
            replace(
                row, check=replace(row.check, id=f"small[{case}]"), outcome=Outcome(f"small[{case}]", verdict, "no")
            )
            for row in graded.checks[:1]
            for case, verdict in verdicts.items()
        ]
        return replace(graded, checks=tuple(rows))

    monkeypatch.setattr(CourseLane, "grade", with_cases)
    kind, told = ran(root, f"{DOUBLE}::check_small").ended[f"{DOUBLE}::check_small"]
    assert (kind, told.splitlines()[:2]) == ("failed", ["2 of 3 cases fail: [1] [x-3]. The first:", "no"])


def test_a_function_that_is_not_a_check_says_so(root: Path) -> None:
    """Its name begins like a check's, and no lane has it."""
    path = root / DOUBLE
    path.write_text(f"{path.read_text()}\n\n@torch.no_grad()\ndef check_data():\n    return 1\n")
    kind, told = ran(root, f"{DOUBLE}::check_data").ended[f"{DOUBLE}::check_data"]
    assert (kind, "check_data is not a check; write @check(...) above it" in told) == ("failed in setup", True)


def test_a_cause_fails_and_its_consequences_are_skipped(root: Path) -> None:
    """Of a file that does not load, one check fails and the others are skipped: never is all of it skipped."""
    (root / "exercises/01_basics/double/double.py").write_text("import nothing_of_that_name\n")
    (kind, told), (other, _) = ran(root, DOUBLE).ended.values()
    assert (kind, other) == ("failed", "skipped")
    assert "your double.py does not load: ModuleNotFoundError" in told


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [("not_run", "skipped"), ("inconclusive", "skipped"), ("broken", "failed in setup"), ("timed_out", "failed")],
)
def test_verdicts(verdict: str, kind: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be run here is skipped with its reason, and what is ours to mend is an error."""
    grade = CourseLane.grade

    def changed(lane: CourseLane, exercise: Any, checks: Any) -> GradedExercise:
        graded = grade(lane, exercise, checks)
        outcome = Outcome("small", Verdict(verdict), "\x1b[31m why")
        return replace(graded, checks=tuple(replace(row, outcome=outcome) for row in graded.checks))

    monkeypatch.setattr(CourseLane, "grade", changed)
    ended, told = ran(root, f"{DOUBLE}::check_small").ended[f"{DOUBLE}::check_small"]
    assert (ended, r"\x1b[31m why" in told) == (kind, True)


def test_files_elsewhere_are_left_alone(root: Path) -> None:
    """A file of such a name outside a course, or that is no exercise's, is collected as without the plugin."""
    (root.parent / "check_mine.py").write_text("def test_it():\n    pass\n")
    shutil.copy(root.parent / "check_mine.py", root / "exercises")
    assert [kind for kind, _ in ran(root, "../check_mine.py").ended.values()] == ["passed"]
    assert list(ran(root, "exercises/check_mine.py").ended) == ["exercises/check_mine.py::test_it"]
    assert len(ran(root, "exercises").items) == 3


def test_a_course_that_cannot_be_read_is_reported(root: Path) -> None:
    """The file is listed with the reason, and pytest goes on."""
    (root / "course.yaml").write_text("title: 1\n")
    (told,) = ran(root, DOUBLE).not_read
    assert told.startswith("course.yaml: ")


HANGS = """
import time

from grader.check import check


@check("C1")
def check_hangs(student):
    '''Hangs by itself'''
    time.sleep(100)


@check("C1")
def check_waits(student):
    '''Waits for what it called'''
    student.double(1)
"""


def test_a_timeout_is_for_the_own_code_of_a_check(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--timeout` ends a check that hangs, as a fault that costs nothing; it counts no call and no start of a lane."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (home.parent / "pytest.ini").write_text("[pytest]\n")
    (home / DOUBLE).write_text(HANGS)
    (home / "exercises/01_basics/double/double.py").write_text(f"import time\ntime.sleep(0.6)\n{HALF}")
    ended = ran(home, DOUBLE, options=("-p", "pytest_timeout", "--timeout=0.5")).ended
    kind, told = ended[f"{DOUBLE}::check_hangs"]
    assert (kind, told.partition(";")[0]) == ("failed in setup", "this check is broken")
    assert ended[f"{DOUBLE}::check_waits"] == ("passed", "")


def test_pytest_finds_it() -> None:
    """The entry point names the module that has the hooks."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (name,) = project["entry-points"]["pytest11"].values()
    assert importlib.import_module(name) is pytest_plugin
