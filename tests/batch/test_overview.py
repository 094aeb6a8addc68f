"""A class at a glance: what nothing explains is grouped by what it does, and becomes a known wrong answer."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import COURSES, FORK, WarmGrade, runtime_of

from grader.author.verify import Prover
from grader.batch.class_summary import ClassSummary
from grader.batch.journal import open_journal
from grader.batch.results_folder import ResultsFolder
from grader.course.load import load_course
from grader.grading.store import open_store
from grader.model import Course
from grader.runner.lane import Lane

IN_PLACE = "def double_(x):\n    return x.mul_(2)\n"
FOUR_TIMES = f'"""Ada\'s."""\n\n\ndef double(x):\n    # by Ada\n    ada = x + x\n    return ada + ada\n\n\n{IN_PLACE}'
LONGER = "\n\ndef unused(x):\n    return [x]  # so that it is longer than the first\n"
ANSWERS = {
    "ada": FOUR_TIMES,
    "bo": f"def double(x):\n    return 4 * x\n\n\n{IN_PLACE}{LONGER}",
    "cy": f"def double(x):\n    return x.mul(4)\n\n\n{IN_PLACE}{LONGER}",
    "dee": f"def double(x):\n    return 5 * x\n\n\n{IN_PLACE}",
    "eve": "def double(x):\n    y = x + x\n    return y + x\n\n\ndef double_(x):\n    return x.add_(2 * x)\n",
    "fay": f"def double(x):\n    return 2 * x\n\n\n{IN_PLACE}",
    "gus": "def double(x:\n",
    "<b>hal": "def double(x:\n",
}


@dataclass
class Graded:
    """A class that was graded into a folder, and its course."""

    root: Path
    out: Path
    type: WarmGrade

    @property
    def course(self) -> Course:
        return load_course(self.root)

    def grade(self) -> dict[str, str | None]:
        """What everybody's mistake is, as the reports tell."""
        words = ("batch", self.out.with_name("in"), "--out", self.out, "--only", "double", "-j", "1", "-q")
        ran = self.type(*map(str, words), cwd=self.root)
        assert ran.returncode == 0, ran.stderr
        reports = [json.loads(path.read_text()) for path in (self.out / "reports").glob("*.json")]
        return {report["author"]: report["exercises"][0]["diagnosis"] for report in reports}


@pytest.fixture(scope="module")
def graded(type_grade: WarmGrade, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """A small class, everybody with other inputs."""
    root = tmp_path_factory.mktemp("overview")
    shutil.copytree(COURSES / "tiny", root / "course")
    for author, text in ANSWERS.items():
        (root / "in" / author).mkdir(parents=True)
        (root / "in" / author / "double.py").write_text(text)
    made = Graded(root / "course", root / "out", type_grade)
    assert made.grade() == dict.fromkeys(ANSWERS) | {"eve": "You tripled it; double means two times."}
    return made


def found_in(graded: Graded) -> dict[tuple[str, ...], str]:
    """The groups: whose they are, and why no wrong answer can be made of them."""
    with open_journal(graded.out, new=False) as journal:
        groups = ClassSummary(graded.course, journal, ResultsFolder(graded.out)).groups
    return {tuple(group.members): group.why_not for group in groups}


def test_what_does_the_same_is_one_group(graded: Graded) -> None:
    """However it is written and whatever the inputs were; who is told a sentence is in none; all are counted."""
    groups = found_in(graded)
    assert next(iter(groups)) == ("ada", "bo", "cy")
    assert set(groups) == {("ada", "bo", "cy"), ("dee",), ("<b>hal", "gus")}
    assert [bool(why) for why in groups.values()] == [False, True, False]
    with open_journal(graded.out, new=False) as journal:
        overview = ClassSummary(graded.course, journal, ResultsFolder(graded.out))
        example = overview.example(overview.groups[0])
    (tally,) = overview.exercises
    assert (len(tally.scores), tally.full, tally.blank, tally.missing, tally.explained_count) == (8, 1, 0, 0, 1)
    assert {id: (ended["passed"], ended["lost"], ended["open"]) for id, (_, ended) in tally.checks.items()} == {
        "small": (1, 7, 0),
        "in_place": (5, 3, 0),
        "random": (1, 7, 0),
        "dtype": (6, 2, 0),
    }
    assert (example.author, example.path) == ("ada", "ada/double.py")
    assert example.lines[:2] == ((4, "def double(x):", False), (5, "    # by Ada", False))
    assert list(overview.rows) == sorted(ANSWERS)


def test_pages(graded: Graded, type_grade: WarmGrade) -> None:
    """The command writes a page for the class and one for each author; nothing of a student's is markup."""
    ran = type_grade("report", str(graded.out), cwd=graded.root)
    assert ran.returncode == 0, ran.stderr
    assert "3 submissions of 01-1 Double it, double\n      ada, ada/double.py\n      FAIL  C1" in ran.stdout
    assert "         4  def double(x):\n         5      # by Ada\n" in ran.stdout
    assert re.search(r"^ {20,}7 lose C1 ", ran.stdout, re.MULTILINE)
    text = (graded.out / "report.html").read_text()
    assert "<b>hal" not in text
    links = re.findall(r'href="(feedback/[^"]+)"', text)
    assert "feedback/_b_hal-" in "".join(links)
    assert {graded.out / link for link in links} == set((graded.out / "feedback").glob("*.html"))


def test_a_group_becomes_a_wrong_answer(graded: Graded, type_grade: WarmGrade, fork_lane: Lane) -> None:
    """It is no answer until its sentence is written; then `verify` accepts it, and the group is told the sentence."""
    shown = type_grade("report", str(graded.out), cwd=graded.root).stdout
    (name,) = re.findall(r"^(\w+)  3 submissions", shown, re.MULTILINE)
    before = set(graded.course.exercises[0].wrong)
    assert type_grade("report", str(graded.out), "--draft", name, cwd=graded.root).returncode == 0
    (draft,) = set(graded.course.exercises[0].wrong) - before
    text = draft.read_text()
    assert "ada" not in text.lower()
    assert '"""\n\n\ndef double(x):\n    student = x + x\n    return student + student\n' in text
    assert graded.grade()["ada"] is None
    assert "which is not TODO" in " ".join(problems(graded, draft, fork_lane))
    again = type_grade("report", str(graded.out), "--draft", name, cwd=graded.root)
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    draft.write_text(re.sub(r"TODO: .*", "You doubled twice.", text))
    assert problems(graded, draft, fork_lane) == []
    told = graded.grade()
    assert {told[author] for author in ("ada", "bo", "cy")} == {"You doubled twice."}
    assert set(found_in(graded)) == {("dee",), ("<b>hal", "gus")}


def problems(graded: Graded, draft: Path, lane: Lane) -> list[str]:
    """What `grade verify` says of one wrong answer."""
    with open_store(None) as store, runtime_of(lane) as runtime:
        prover = Prover(graded.course, FORK, store, 1, known_only=True)
        (proof,) = prover.prove(runtime, graded.course.exercises[:1])
    return [problem for problem in proof.problems if draft.name in problem]


def test_what_is_not_there_is_reported(graded: Graded, type_grade: WarmGrade) -> None:
    """A folder without a journal, a group of no such name."""
    for words, told in (
        (["nowhere"], "nowhere has no journal.sqlite"),
        ([str(graded.out), "--draft", "zzzz"], "there is no group 'zzzz'"),
        ([str(graded.out), "--draft", ""], "there is no group ''"),
    ):
        ran = type_grade("report", *words, cwd=graded.root)
        assert (ran.returncode, told in ran.stderr) == (2, True), ran.stderr
