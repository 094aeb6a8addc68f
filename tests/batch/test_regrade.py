"""After a change only what changed is graded again, and it is told what that did to whom."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from batch.pretend import PretendClass
from click.testing import CliRunner
from support import COURSES

from grader.batch.changes import last_regrade
from grader.batch.journal import open_journal
from grader.batch.run import Summary
from grader.cli import main
from grader.course.load import load_course
from grader.model import Verdict
from grader.model.errors import CourseError

pytestmark = pytest.mark.lane


@pytest.fixture
def pretend(home: Path, tmp_path: Path) -> PretendClass:
    """A class of two, graded, with a course of its own."""
    made = PretendClass(load_course(home), tmp_path)
    made.hand_in("ada", double="passed", total="failed")
    made.hand_in("bo", double="failed", total="passed")
    made.grade()
    return made


CHANGED = "checks, reference or limits were changed"


def change_checks(pretend: PretendClass) -> None:
    path = pretend.course.root / "solutions" / "01_basics" / "double" / "check_double.py"
    path.write_text(path.read_text() + "\n")


def test_only_what_changed_is_graded(pretend: PretendClass) -> None:
    """Changed checks of an exercise are run on everybody, and no other exercise is; the difference says why."""
    change_checks(pretend)
    pretend.judge = lambda exercise, check, source: Verdict.FAILED if check == "double_1" else Verdict.PASSED
    pretend.grade()
    assert pretend.jobs == ["double passed ada", "double failed bo"]
    assert regraded(pretend) == [("ada", 1000, 500, CHANGED), ("bo", 0, 500, CHANGED)]
    shown = CliRunner().invoke(main, ["diff", str(pretend.out), "--course", str(pretend.course.root)]).output
    assert "        passed 5 -> failed 0  double_1\n" in shown


def test_points_are_those_of_the_course(pretend: PretendClass) -> None:
    """Other points in exercise.yaml change the gradebook, and nothing is run for it."""
    path = pretend.course.root / "exercises/01_basics/double/exercise.yaml"
    path.write_text(path.read_text().replace("points: 10", "points: 20"))
    pretend.course = load_course(pretend.course.root)
    pretend.grade()
    assert pretend.jobs == []
    assert {author: row.split(",")[0] for author, row in pretend.rows().items()} == {"ada": "20", "bo": "0"}


def test_a_known_mistake_is_looked_for_again_where_points_were_lost(pretend: PretendClass) -> None:
    """A new wrong answer concerns those who failed alone."""
    wrong = next(item for item in pretend.course.exercises if item.id == "double").wrong[0]
    wrong.write_text(wrong.read_text() + "\n")
    pretend.grade()
    assert pretend.jobs == pretend.compared == ["double failed bo"]


def test_lower_scores(pretend: PretendClass) -> None:
    """They count, unless nothing may be lowered; then they are counted and told."""
    change_checks(pretend)
    pretend.judge = lambda *asked: Verdict.FAILED
    summary = pretend.grade(never_lower=True)
    assert summary.lower == [("ada", "double")]
    assert [row.split(",")[0] for row in pretend.rows().values()] == ["10", "0"]
    assert ("ada", 1000, 0, f"{CHANGED}; not counted, because of --never-lower") in regraded(pretend)
    again = pretend.grade()
    assert (again.graded, again.changed) == (0, 1)
    assert [row.split(",")[0] for row in pretend.rows().values()] == ["0", "0"]
    assert regraded(pretend) == [("ada", 1000, 0, CHANGED)]


def regraded(pretend: PretendClass) -> list[tuple[str, int, int, str]]:
    """What `grade diff` shows: whose, the points before and after, and why."""
    with open_journal(pretend.out) as journal:
        _, changes = last_regrade(pretend.course, journal)
    return [(one.author, one.before.score.earned, one.after.score.earned, one.why) for one in changes]


def test_checks_that_cannot_be_read_stop_the_batch(pretend: PretendClass) -> None:
    """Before anything is graded; what is saved counts as before, and needs no checks."""
    change_checks(pretend)
    pretend.problems = {"double": "E   ModuleNotFoundError: No module named 'torchh'"}
    with pytest.raises(CourseError, match=r"double: its checks cannot be read \(ModuleNotFoundError: No module"):
        pretend.grade()
    assert pretend.jobs == []
    assert pretend.grade(only=["total"]).saved == 2


def test_the_folder_of_another_course_is_refused(pretend: PretendClass, tmp_path: Path) -> None:
    """Its gradebook stays as it was."""
    before = (pretend.out / "gradebook.csv").read_text()
    other = PretendClass(load_course(COURSES / "parts"), tmp_path / "other")
    other.hand_in("ada", **{other.course.exercises[0].id: "passed"})
    other.out = pretend.out
    with pytest.raises(CourseError, match=r"has the results of another course \(double, total\)"):
        other.grade()
    assert (pretend.out / "gradebook.csv").read_text() == before


def test_only_some_exercises(pretend: PretendClass) -> None:
    """The others keep their points; what else has other checks now is counted."""
    change_checks(pretend)
    pretend.hand_in("ada", double="failed", total="passed")
    pretend.grade(only=["total"])
    assert pretend.jobs == ["total passed ada"]
    assert [row.split(",")[:2] for row in pretend.rows().values()] == [["10", "5"], ["0", "5"]]
    assert pretend.grade(only=["total"]).stale == 2


def test_broken_is_tried_again(pretend: PretendClass) -> None:
    """Once at the end of the run, and again when it is asked for; it is nobody's loss, and is named in each run."""
    pretend.hand_in("cy", double="broken", total="passed")
    summary = pretend.grade()
    assert pretend.jobs == ["double broken cy", "total passed cy", "double broken cy"]
    assert summary.broken == {"double": ["cy"]}
    assert pretend.rows()["cy"].split(",")[:5] == ["0", "5", "5", "15", "10"]
    assert (pretend.grade().broken, pretend.jobs) == ({"double": ["cy"]}, [])
    pretend.judge = lambda *asked: Verdict.PASSED
    assert pretend.grade(rerun="broken").broken == {}
    assert pretend.jobs == ["double broken cy"]
    assert pretend.rows()["cy"].split(",")[0] == "10"


def test_broken_checks_are_not_tried_for_everybody(pretend: PretendClass) -> None:
    """After three in a row that stay broken, it is the exercise's checks."""
    for author in "defgh":
        pretend.hand_in(author, double="broken")
    summary = pretend.grade()
    assert len(pretend.jobs) == 5 + 3
    assert summary.broken == {"double": list("defgh")}


def test_the_best_attempt(pretend: PretendClass) -> None:
    """Each attempt is graded, and the best counts for each exercise; of equal ones the latest."""
    pretend.hand_in("ada/attempt_2", double="failed", total="passed")
    pretend.grade()
    assert pretend.rows()["ada"].split(",")[:2] == ["0", "5"]
    pretend.grade(best=True)
    assert pretend.rows()["ada"].split(",")[:2] == ["10", "5"]


def test_which_attempt_counts_is_the_course_s_to_say(pretend: PretendClass, monkeypatch: pytest.MonkeyPatch) -> None:
    """What course.yaml says holds where the option says nothing."""
    graded = mock.Mock(return_value=Summary())
    monkeypatch.setattr("grader.batch.run.grade_batch", graded)
    path = pretend.course.root / "course.yaml"
    plain, words = path.read_text(), [str(pretend.folder), "--out", str(pretend.out), "--course", str(path.parent)]
    for policy, options, best in (
        ("attempts: best\n", [], True),
        ("attempts: best\n", ["--attempts", "latest"], False),
        ("", ["--attempts", "best"], True),
    ):
        path.write_text(plain + policy)
        assert CliRunner().invoke(main, ["batch", *words, *options]).exit_code == 0
        assert graded.call_args.args[3].best is best


def test_details_of_hidden_checks_are_for_staff(pretend: PretendClass) -> None:
    """Reports have them only with --staff, and lose them in the next run without it; nothing is graded for that."""
    pretend.hand_in("ada", double="passed")
    for staff in (False, True, False):
        pretend.grade(staff=staff)
        texts = [path.read_text() for path in (pretend.out / "reports").glob("*.json")]
        assert [text for text in texts if "passed" in text and ("for staff" in text) is not staff] == []
    assert texts
    assert pretend.jobs == []


def test_all_that_was_graded_again(pretend: PretendClass) -> None:
    """What has the same result is shown only if asked for."""
    change_checks(pretend)
    pretend.grade()
    words = ["diff", str(pretend.out), "--course", str(pretend.course.root)]
    assert "10 -> 10  ada" not in CliRunner().invoke(main, words).output
    assert f"  01-1       10 -> 10  ada  ({CHANGED})\n" in CliRunner().invoke(main, [*words, "--all"]).output
