"""From scores to final scores: a roster, late days, extra credit, overrides, void checks, and the whole term."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from batch.pretend import PretendClass
from click.testing import CliRunner, Result

from grader.batch.overrides import OVERRIDES
from grader.ci.job import is_passed
from grader.cli import main
from grader.course.load import load_course
from grader.grading.outcomes import VOID
from grader.model.errors import CourseError
from grader.report.read import read_report

pytestmark = pytest.mark.lane

POLICY = """\
title: A tiny course
timezone: Europe/Berlin
policy: {percent_a_day: 10, cap_percent: 30, slack_minutes: 10, grace_days: 1, drop: 0}
modules:
  - folder: 01_basics
    title: Basics
    exercises: [double, total]
handins:
  - id: week1
    title: Week 1
    exercises: [double]
    due: 2026-03-28 23:59
    extensions: {cy@x.org: 2026-03-30}
  - id: week2
    title: Week 2
    exercises: [double, total]
    extra: [total]
    weight: 3
    late_days: {Ada L: 1}
"""
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (submission)
Participant {0}1,Ada L,ada@x.org,Submitted,,10.00,"Sunday, 29 March 2026, 12:08 AM"
Participant {0}2,Bo,bo@x.org,Submitted,,10.00,"Monday, 30 March 2026, 1:09 AM"
Participant {0}3,Cy,cy@x.org,Submitted,,10.00,"Monday, 30 March 2026, 11:00 PM"
Participant {0}4,Di =2,di@x.org,No submission,,10.00,-
Participant {0}5,Ed,ed@x.org,Submitted,,10.00,"Sunday, 5 April 2026, 11:59 PM"
"""


@pytest.fixture
def pretend(home: Path, tmp_path: Path) -> PretendClass:
    """A class of Moodle's, graded: one is on time, others are late on the day on which clocks change."""
    (home / "course.yaml").write_text(POLICY)
    made = PretendClass(load_course(home), tmp_path)
    for name, verdict in (("Ada L_11", "passed"), ("Bo_12", "passed"), ("Cy_13", "failed"), ("Ed_15", "passed")):
        made.hand_in(f"{name}_assignsubmission_file_", double=verdict)
    grade(made, "week1")
    return made


def grade(pretend: PretendClass, handin: str) -> list[str]:
    """Grade a hand-in with its roster; the notes of the run."""
    roster = pretend.folder.parent / f"{handin}.csv"
    roster.write_text(WORKSHEET.format(handin[-1]))
    pretend.course = load_course(pretend.course.root)
    exercises = next(item.exercises for item in pretend.course.handins if item.id == handin)
    chosen = [exercise for exercise in pretend.course.exercises if exercise.id in exercises]
    return pretend.grade(chosen, handin=handin, roster=roster).notes


def book(pretend: PretendClass) -> dict[str, dict[str, str]]:
    with (pretend.out / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        return {row["author"]: row for row in csv.DictReader(file)}


def finals(pretend: PretendClass) -> dict[str, tuple[str, str]]:
    return {author: (row["late_days"], row["final"]) for author, row in book(pretend).items()}


def run(pretend: PretendClass, *arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments), "--course", str(pretend.course.root)])


def test_late_days(pretend: PretendClass) -> None:
    """By the worksheet's times, in the course's zone; within the slack it is on time; grace days and a cap apply."""
    assert finals(pretend) == {
        "11": ("0", "10"),
        "12": ("2", "9"),  # 24 hours and 10 minutes later, as the clocks took one
        "13": ("0", "0"),
        "14": ("", "0"),
        "15": ("8", "7"),
    }
    assert book(pretend)["12"]["explained"] == (
        "10 of 10 points; 2 days late, 1 of them covered by grace days (unless other hand-ins have used them up), "
        "which costs 10 % of 10 points: 1 (due 2026-03-28 23:59 CET, handed in 2026-03-30 01:09 CEST); final: 9"
    )
    assert book(pretend)["14"]["not_handed_in"] == "double"
    report = json.loads((pretend.out / "reports" / "15.json").read_text())
    known = {"raw": 10.0, "late_days": 8, "penalty": 3.0, "override": 0.0, "bonus": 0.0, "final": 7.0}
    assert known.items() <= report["policy"].items()
    assert (report["score"]["earned"], report["handin"]) == (10, "week1")
    assert [row["id"] for row in report["exercises"]] == ["double"]


def test_who_is_on_the_roster(pretend: PretendClass) -> None:
    """Both sides that do not fit are said, and the roster is remembered; a name in course.yaml must be somebody's."""
    pretend.hand_in("Nobody_99_assignsubmission_file_", double="passed")
    path = pretend.course.root / "course.yaml"
    path.write_text(path.read_text().replace("cy@x.org:", "cyy@x.org:"))
    pretend.course = load_course(pretend.course.root)
    notes = pretend.grade([pretend.course.exercises[0]], handin="week1").notes
    assert notes == [
        "course.yaml: handins.week1.extensions: no author is called cyy@x.org",
        "1 of 5 persons on the roster handed in nothing.",
        "1 author of submissions cannot be found on the roster: 99",
    ]


def test_overrides_survive_a_regrade(pretend: PretendClass) -> None:
    """They are in the gradebook, the report, the page and the difference, and what does not fit is named."""
    rows = ["author;exercise;check;points;why", "cy@x.org;01-1;check_double_1;2,5;appeal: =1", "12;double;;4;late",
            "ed@x.org;double;double_9;1;x", "who;double;;1;x", "15;double;;10.5;x"]  # fmt: skip
    (pretend.out / OVERRIDES).write_text("\ufeff" + "\r\n".join(rows), encoding="utf-8")
    assert "overrides.csv is newer than the gradebook" in run(pretend, "term", pretend.out).output
    for rerun in ("", "all"):
        notes = pretend.grade([pretend.course.exercises[0]], handin="week1", rerun=rerun).notes
        assert notes[:3] == [
            "overrides.csv: line 4 does not count: double has no check double_9 for ed@x.org; did you mean double_1?",
            "overrides.csv: line 5 does not count: no submission is by who",
            "overrides.csv: line 6 does not count: 10.5 is more than 10 points",
        ]
        assert finals(pretend)["13"] == ("0", "2.5")
        assert finals(pretend)["12"] == ("2", "3.6")
    report = json.loads((pretend.out / "reports" / "13.json").read_text())
    set_by = [(row["earned"], row["set_by"]) for row in report["exercises"][0]["checks"]]
    assert set_by == [(0, ""), (2.5, "appeal: =1")]
    assert (report["policy"]["raw"], report["policy"]["override"]) == (0, 2.5)
    shown = run(pretend, "diff", pretend.out)
    assert "Changed by staff, from the points of the checks to the points that count:\n" in shown.output
    assert "  01-1        10 -> 4  12  (late)\n" in shown.output
    assert "  01-1       0 -> 2.5  13  (appeal: =1)\n        failed 0 -> failed 2.5  double_1\n" in shown.output
    assert run(pretend, "report", pretend.out).exit_code == 0
    assert "2.5 more by staff (double_1: appeal: =1)" in (pretend.out / "feedback" / "13.html").read_text()


def test_wrong_overrides_are_reported_at_once(pretend: PretendClass) -> None:
    """Before anything is graded."""
    rows = "author,exercise,check,points,why\nada,dubble,,1,\nada,double,,-1,x\nada,double,,x,x\n\nada,double,,1,x\n"
    (pretend.out / OVERRIDES).write_text(f"{rows}ada,01-1,,2,x\n")
    with pytest.raises(CourseError) as caught:
        grade(pretend, "week1")
    assert [problem.split(": ", 1)[1] for problem in caught.value.problems] == [
        "line 2: why: string should have at least 1 character (it is '')",
        "line 3: points: input should be greater than or equal to 0 (it is '-1')",
        "line 4: points: input should be a valid number, unable to parse string as a number (it is 'x')",
        "line 7: line 6 gives points for the same check; remove one of the two",
    ]


def test_a_void_check(pretend: PretendClass) -> None:
    """Everybody with an answer gets its points; it neither shows a right value nor a wrong one; nothing runs again."""
    path = pretend.course.root / "exercises" / "01_basics" / "double" / "exercise.yaml"
    path.write_text(path.read_text() + "void: [double_0]\n")
    grade(pretend, "week1")
    assert pretend.jobs == []
    assert [row["final"] for row in book(pretend).values()] == ["10", "9", "5", "0", "7"]
    report = json.loads((pretend.out / "reports" / "13.json").read_text())
    assert [row["set_by"] for row in report["exercises"][0]["checks"]] == [VOID, ""]
    assert (report["policy"]["raw"], report["policy"]["override"]) == (0, 5)
    told = "5 more by staff (double_0: this check is void: everybody gets its points)"
    assert told in book(pretend)["13"]["explained"]
    shown = run(pretend, "diff", pretend.out).output
    assert "failed 0 -> passed 5  double_0\n" in shown
    assert "Ada" not in shown
    path.write_text(path.read_text().replace("void: [double_0]\n", ""))
    grade(pretend, "week1")
    assert finals(pretend)["13"] == ("0", "0")


def test_a_void_check_changes_nothing_for_who_handed_in_nothing(home: Path, tmp_path: Path) -> None:
    """`grade diff` lists whose points staff changed: not those who get no points of a void check."""
    path = home / "exercises" / "01_basics" / "double" / "exercise.yaml"
    path.write_text(path.read_text() + "void: [double_0]\n")
    made = PretendClass(load_course(home), tmp_path)
    made.hand_in("ada", double="failed")
    made.hand_in("zoe", total="passed")
    made.grade()
    shown = run(made, "diff", made.out).output
    assert ("ada" in shown, "zoe" in shown) == (True, False), shown


def second(pretend: PretendClass) -> Path:
    """A second hand-in, in which Moodle numbers everybody anew; its folder of results."""
    first, pretend.out = pretend.out, pretend.out.with_name("out2")
    shutil.rmtree(pretend.folder)
    pretend.hand_in("Ada L_21_assignsubmission_file_", double="passed", total="passed")
    pretend.hand_in("Bo_22_assignsubmission_file_", double="passed")
    pretend.hand_in("Di =2_24_assignsubmission_file_", double="broken")
    grade(pretend, "week2")
    second, pretend.out = pretend.out, first
    return second


def test_a_term(pretend: PretendClass, tmp_path: Path) -> None:
    """People are joined by their addresses, grace days are used up once, hand-ins have weights; the lowest may drop."""
    out, to = second(pretend), tmp_path / "term.csv"
    ran = run(pretend, "term", out, pretend.out, "--to", to)
    assert ran.exit_code == 0, ran.output
    assert ran.output.splitlines()[:3] == [
        "    week2    week1    total  author",
        "       15       10  137.5 %  ada@x.org",
        "       10        9   97.5 %  bo@x.org",
    ]
    assert "        ?        -        ?  di@x.org" in ran.output
    assert "handed in only one of these: cy@x.org, di@x.org, ed@x.org" in " ".join(ran.output.split())
    rows = [row[:-1] for row in csv.reader(to.read_text().splitlines())]
    assert rows == [
        ["author", "week2", "week1", "late_days", "grace_days", "total"],
        ["ada@x.org", "15", "10", "1", "1", "137.5"],
        ["bo@x.org", "10", "9", "2", "1", "97.5"],
        ["cy@x.org", "", "0", "0", "0", "0"],
        ["di@x.org", "", "", "0", "0", ""],
        ["ed@x.org", "", "7", "8", "0", "17.5"],  # 8 days cost the most that late work costs, and so do 7
    ]
    assert "two of these folders have results of the hand-in week1" in run(pretend, "term", *[pretend.out] * 2).output
    path = pretend.course.root / "course.yaml"
    path.write_text(path.read_text().replace("drop: 0", "drop: 1"))
    run(pretend, "term", pretend.out, out, "--to", to)
    dropped = {row["author"]: row for row in csv.DictReader(to.read_text().splitlines())}
    assert [dropped[f"{name}@x.org"]["total"] for name in ("ada", "bo", "ed")] == ["150", "100", "70"]
    assert [*dropped["ed@x.org"].values()][-1] == (
        "week1: 7 of 10 (10 before), 8 days late, where grace days would save nothing, "
        "which costs 30 % of 10 points: 3; "
        "week2: not handed in, dropped"
    )


def test_export(pretend: PretendClass, tmp_path: Path) -> None:
    """Two hand-ins go into two columns; grace days count once; a folder that is not complete is refused."""
    out, file = second(pretend), tmp_path / "grades.csv"
    file.write_text(
        "Student,ID,SIS Login ID,Section,Week 1 (3),Week 2 (4)\nAda L,1,ada,A,,\nBo,2,bo,A,,\nCy,3,c,A,,9\n"
    )
    ran = run(pretend, "export", pretend.out, out, "--format", "canvas", "--into", file)
    assert ran.exit_code == 0, ran.output
    assert file.read_text().splitlines()[1:] == ["Ada L,1,ada,A,10,15", "Bo,2,bo,A,9,10", "Cy,3,c,A,0,9"]
    assert "5 scores filled in: " in " ".join(ran.output.split())
    again = run(pretend, "export", pretend.out, out, "--format", f"canvas={tmp_path / 'x.csv'}", "--into", file)
    assert "5 scores filled in: " in " ".join(again.output.split())
    text = file.read_text().replace(",10,15", ",8,14").replace("(4)", "(4),Quoted").replace("ada,A", '"ada",A')
    file.write_text(text)
    again = run(pretend, "export", pretend.out, out, "--format", "canvas", "--into", file)
    assert "5 scores filled in, 2 in place of another score: " in " ".join(again.output.split())
    assert "left as it was; --zeros fills in 0." in " ".join(again.output.split())
    assert file.read_text().splitlines()[1] == 'Ada L,1,"ada",A,10,15'
    zeros = run(pretend, "export", pretend.out, out, "--format", "canvas", "--into", file, "--zeros")
    assert (zeros.exit_code, "--zeros: 15 cannot be found" in " ".join(zeros.output.split())) == (2, True)
    assert "\n15: not in the file, or it could be several people's" in ran.output
    named = run(pretend, "export", pretend.out, out, "--format", "canvas", "--into", file, "--names")
    assert "15 Ed: not in the file" in named.output
    (out / "gradebook.csv").unlink()
    refused = run(pretend, "export", out, "--format", f"canvas={tmp_path / 'x.csv'}", "--into", file)
    assert (refused.exit_code, "has no gradebook.csv" in refused.output) == (2, True)
    assert "needs --into FILE" in run(pretend, "export", out, "--format", "moodle").output


def test_extra_credit_means_the_same_everywhere(pretend: PretendClass) -> None:
    """Who has all regular points has all of them in each format, in a job, and in the table and page of the class."""
    out = second(pretend)
    path = out / "reports" / "22.json"  # all of double, and nothing of what is extra credit
    assert json.loads(run(pretend, "export", path, "--format", "prairielearn=-").output)["score"] == 1.0
    assert "**10 of 10 points**" in run(pretend, "export", path, "--format", "markdown=-").output
    scope = json.loads(run(pretend, "export", out / "reports" / "21.json", "--format", "gradescope=-").output)
    assert (scope["score"], scope["extra_data"]["possible"]) == (15, 10)
    assert is_passed(read_report(path), 100)
    assert run(pretend, "report", out).exit_code == 0
    assert "mean 125 %" in (out / "report.html").read_text()
    package = ["package", "gradescope", "--handin", "week2", "--package", "a", "--out", str(out / "a.zip")]
    assert "an assignment of 10 points" in run(pretend, *package).output


def test_a_sheet_of_extra_credit(pretend: PretendClass, tmp_path: Path) -> None:
    """A hand-in may be nothing else: it adds to the term and to a column of the platform, and costs nobody anything."""
    path = pretend.course.root / "course.yaml"
    path.write_text(path.read_text().replace("extra: [total]", "extra: [double, total]"))
    out, file = second(pretend), tmp_path / "grades.csv"
    run(pretend, "term", out, pretend.out, "--to", tmp_path / "term.csv")
    rows = {row["author"]: row for row in csv.DictReader((tmp_path / "term.csv").read_text().splitlines())}
    assert [rows[f"{name}@x.org"]["total"] for name in ("ada", "bo", "cy")] == ["400", "290", "0"]
    file.write_text("Student,ID,Section,Week 2 (4)\nPoints Possible,,,0\nAda L,1,A,\nBo,2,A,\n")
    assert run(pretend, "export", out, "--format", "canvas", "--into", file).exit_code == 0
    assert file.read_text().splitlines()[2:] == ["Ada L,1,A,15", "Bo,2,A,10"]
