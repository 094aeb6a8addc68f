"""Whole terms on Canvas and Moodle: from the download to the files that go back, each score in its own row."""

from __future__ import annotations

import csv
import shutil
import zipfile
from pathlib import Path

import pytest
from batch.pretend import PretendClass
from click.testing import CliRunner, Result

from grader.batch.journal import open_journal
from grader.batch.overrides import OVERRIDES
from grader.cli import main
from grader.course.load import load_course
from grader.report.numbers import parse_hundredths
from grader.report.people import people_in

pytestmark = pytest.mark.lane

CASES = Path(__file__).with_name("cases")
COURSE = """\
title: A tiny course
timezone: Europe/Berlin
policy: {percent_a_day: 10, cap_percent: 50, slack_minutes: 10, grace_days: 2}
modules:
  - folder: 01_basics
    title: Basics
    exercises: [double, total]
handins:
  - {id: week1, title: Week 1, exercises: [double], due: 2026-10-01 18:00}
  - {id: week2, title: Week 2, exercises: [double], due: 2026-10-08 18:00, weight: 2}
  - {id: week3, title: Week 3, exercises: [double, total], extra: [total], due: 2026-10-15 18:00}
"""
HEAD = (
    "Identifier,Full name,Email address,Status,{0}Grade,Maximum grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade)\n"
)


class Term:
    """A course, and a folder of results for each hand-in."""

    def __init__(self, home: Path, root: Path) -> None:
        (home / "course.yaml").write_text(COURSE)
        self.root, self.home = root, home
        self.classes: dict[str, PretendClass] = {}

    def grade(self, handin: str, files: dict[str, dict[str, str]], roster: Path | None = None) -> list[str]:
        """Grade a download: files by folder, or, where the name has a suffix, single files; the notes of the run."""
        course = load_course(self.home)
        made = self.classes.setdefault(handin, PretendClass(course, self.root / handin))
        made.course = course
        shutil.rmtree(made.folder, ignore_errors=True)
        for name, own in files.items():
            for file, text in own.items():
                path = made.folder / f"{name}{file}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        wanted = next(one.exercises for one in course.handins if one.id == handin)
        chosen = [exercise for exercise in course.exercises if exercise.id in wanted]
        return made.grade(chosen, handin=handin, roster=roster).notes

    def out(self, handin: str) -> Path:
        return self.classes[handin].out

    def run(self, *words: str | Path) -> Result:
        return CliRunner().invoke(main, [*map(str, words), "--course", str(self.home)])


@pytest.fixture
def term(home: Path, tmp_path: Path) -> Term:
    return Term(home, tmp_path)


def sheet(path: Path, number: int, rows: list[str], group: str = "") -> Path:
    """A worksheet of Moodle, in which everybody's number begins with this one; `NUMBER|cells` with the time last."""
    lines = []
    for row in rows:
        who, name, team, at = row.split("|")
        cells = [f"Participant {number}{who}", name, f"{name.lower()}@x.org", "Submitted", *([team] if group else [])]
        lines.append(",".join([*cells, "", "10.00", "Yes", f'"{at}"' if at != "-" else at, "-"]) + "\n")
    path.write_text(HEAD.format(group) + "".join(lines))
    return path


def grades(path: Path, title: str = "Grade") -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [row[title] for row in csv.DictReader(file)]


def moodle(name: str, number: int) -> str:
    return f"{name}_{number}_assignsubmission_file/"


def test_a_term_on_moodle(term: Term, tmp_path: Path) -> None:
    """Three hand-ins, a team, grace days spent where they save most, a regrade; each worksheet gets its own scores."""
    thursday = "Thursday, {} October 2026, 5:00 PM"
    first = sheet(
        tmp_path / "ws1.csv",
        10,
        [
            "1|Ada||Friday, 2 October 2026, 7:00 PM",
            f"2|Bo||{thursday.format(1)}",
            "3|Cy||Saturday, 3 October 2026, 9:00 AM",
        ],
    )
    second = sheet(
        tmp_path / "ws2.csv",
        20,
        ["1|Ada||Saturday, 10 October 2026, 7:00 PM", f"2|Bo||{thursday.format(8)}", "3|Cy||-"],
    )
    third = sheet(
        tmp_path / "ws3.csv",
        30,
        [
            f"1|Ada|Team A|{thursday.format(15)}",
            f"2|Bo|Team A|{thursday.format(15)}",
            f"3|Cy|Default group|{thursday.format(15)}",
        ],
        "Group,",
    )
    own = {"double.py": "passed"}
    term.grade(
        "week1", {moodle("Ada", 101): own, moodle("Bo", 102): own, moodle("Cy", 103): {"double.py": "failed"}}, first
    )
    term.grade("week2", {moodle("Ada", 201): own, moodle("Bo", 202): own}, second)
    both = {"double.py": "passed", "total.py": "passed"}
    # The team's number is Bo's in this assignment; the default group has none.
    term.grade("week3", {moodle("Team A", 302): both, "Default group_assignsubmission_file/": own}, third)
    outs = [term.out(handin) for handin in ("week1", "week2", "week3")]

    # Ada is 2 days late in week 1 and 3 in week 2, which weighs twice: both grace days go there, and 1 day costs 10 %.
    ran = term.run("export", *outs, "--format", "moodle", "--into", second)
    assert ran.exit_code == 0, ran.output
    assert grades(second) == ["9", "10", ""]
    assert "2 scores filled in: " in " ".join(ran.output.split())
    assert "1 score of week1" in " ".join(ran.output.split())
    assert "before feedback.zip" in " ".join(ran.output.split())
    assert term.run("export", *outs, "--handin", "week1", "--format", "moodle", "--into", first).exit_code == 0
    assert grades(first) == ["8", "10", "0"]  # Cy earned nothing: no grace day is spent on it
    assert term.run("export", *outs, "--handin", "week3", "--format", "moodle", "--into", third).exit_code == 0
    assert grades(third) == ["10", "10", "10"]  # 15 of 10 with extra credit, of which Moodle takes its maximum
    assert term.run("term", *outs, "--to", tmp_path / "term.csv").exit_code == 0
    rows = {row["author"]: row for row in csv.DictReader((tmp_path / "term.csv").read_text().splitlines())}
    assert rows["ada@x.org"]["explained"] == (
        "week1: 8 of 10 (10 before), 2 days late, and grace days save more on other hand-ins, "
        "which costs 20 % of 10 points: 2; "
        "week2: 9 of 10 (10 before), 3 days late, 2 of them covered by grace days, "
        "which costs 10 % of 10 points: 1, weight 2; "
        "week3: 15 of 10"
    )
    assert rows["cy@x.org"]["explained"].startswith("week1: 0 of 10, 2 days late, where grace days would save nothing")

    # Pages go to each member under the member's own number, and to nobody under the team's.
    assert term.run("report", outs[2], "-q").exit_code == 0
    with zipfile.ZipFile(outs[2] / "feedback.zip") as archive:
        assert sorted(archive.namelist()) == [
            f"Participant_{number}_assignsubmission_file_/feedback.html" for number in (301, 302, 303)
        ]
    # A worksheet of another week is refused, with any names.
    refused = term.run("export", outs[1], "--format", "moodle", "--into", first)
    assert refused.exit_code == 2
    assert "the two have none of their participant numbers in common" in " ".join(refused.output.split())
    assert grades(first) == ["8", "10", "0"]
    # After a regrade the worksheet that was filled in before is recognised.
    (outs[1] / OVERRIDES).write_text("author,exercise,check,points,why\n202,double,,5,copied\n203,tripple,,1,x\n")
    notes = term.grade("week2", {moodle("Ada", 201): own, moodle("Bo", 202): own}, second)
    assert "overrides.csv: line 3 does not count: there is no exercise tripple; known are double, total" in notes
    again = term.run("export", *outs, "--handin", "week2", "--format", "moodle", "--into", second)
    assert grades(second) == ["9", "5", ""]
    assert "2 scores filled in, 1 in place of another score" in " ".join(again.output.split())
    assert "This worksheet was filled in before." in " ".join(again.output.split())


GROUPS = """\
name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id
"Lovelace, Ada",101,s1,ada,A,Team Rocket,5,
"Turing, Alan",102,s2,alan,A,Team Rocket,5,
"Noether, Emmy",105,s5,emmy,A,,,
"""
CANVAS = """\
Student,ID,SIS Login ID,Section,Week 1 (1),Week 2 (2),Week 3 (3)
    Points Possible,,,,10.00,10.00,10.00
"Byron, Ada",101,ada,A,,,
"Turing, Alan",102,alan,A,,,
"Noether, Emmy",105,emmy,A,,,
"Student, Test",999,test,A,,,
"""


def test_a_term_on_canvas(term: Term, tmp_path: Path) -> None:
    """The number is one member's, the name is the group's: all members get the score, and Canvas takes pages back."""
    (tmp_path / "groups.csv").write_text(GROUPS)
    (tmp_path / "grades.csv").write_text(CANVAS)
    groups, book = tmp_path / "groups.csv", tmp_path / "grades.csv"
    term.grade(
        "week1",
        {"teamrocket_101_": {"9001_double.py": "passed"}, "noetheremmy_LATE_105_": {"9002_double.py": "passed"}},
        groups,
    )
    term.grade(
        "week2",
        {"lovelaceada_101_": {"9003_double.py": "passed"}, "turingalan_102_": {"9004_double.py": "failed"}},
        groups,
    )
    term.grade(
        "week3", {"group_2_101_": {"9005_double.py": "passed"}, "noether_1_105_": {"9006_double.py": "passed"}}, groups
    )
    outs = [term.out(handin) for handin in ("week1", "week2", "week3")]
    ran = term.run("export", *outs, "--format", "canvas", "--into", book)
    assert ran.exit_code == 0, ran.output
    rows = [line.split(",A,")[1] for line in book.read_text().splitlines()[2:]]
    assert rows == ["10,10,10", "10,0,", "10,,10", ",,"]
    assert "late_days" not in ran.output
    assert term.run("report", outs[0], "-q").exit_code == 0
    with zipfile.ZipFile(outs[0] / "feedback.zip") as archive:
        names = archive.namelist()
    assert [read_by_canvas(name, ["Team Rocket", "user", "105"]) for name in sorted(names)] == [
        ("101", "9001"),
        ("105", "9002"),
    ]
    # Of one hand-in alone, with the gradebook as its roster: numbers find their rows, also after a change of name.
    book.write_text(CANVAS)
    notes = term.grade("week1", {"teamrocket_101_": {"9001_double.py": "passed"}}, book)
    assert "cannot be found on the roster" not in " ".join(notes)
    gradebook = (term.out("week1") / "gradebook.csv").read_text().splitlines()
    assert sorted(line.split(",")[0] for line in gradebook[1:]) == ["101", "102", "105"]


def test_a_number_is_read_again_with_a_roster(term: Term, tmp_path: Path) -> None:
    """Without one, the end of a name may be taken for the number: with it, nothing is left of that."""
    book = tmp_path / "grades.csv"
    book.write_text(CANVAS)
    files = {"noether_1_105_": {"9006_double.py": "passed"}, "byronada_101_": {"9007_double.py": "passed"}}
    term.grade("week1", files)
    assert set(finals(term, "week1")) == {"1", "101"}
    notes = " ".join(term.grade("week1", files, book))
    assert finals(term, "week1") == {"101": "10", "102": "0", "105": "10"}
    assert "cannot be found on the roster" not in notes
    assert sorted(path.stem for path in (term.out("week1") / "reports").iterdir()) == ["101", "105"]


def read_by_canvas(name: str, groups: list[str]) -> tuple[str, str]:
    """The user and the file that Canvas finds in a name: it takes a group's name away, then the first two numbers."""
    group = next((group for group in groups if name.startswith(f"{group}_")), None)
    name = name.removeprefix(f"{group}_")
    user, attachment = [word for word in name.split("_") if word.isdecimal()][:2]
    return user, attachment


def test_a_students_file_names_nobody_else(term: Term, tmp_path: Path) -> None:
    """In a flat download of Moodle the first number is the author's, whatever the author called a file."""
    roster = sheet(tmp_path / "ws.csv", 10, ["1|Ada||-", "2|Bo||-"])
    files = {
        "Ada_101_assignsubmission_file_": {"double.py": "passed"},
        "Bo_102_assignsubmission_file_": {"x_101_assignsubmission_file_double.py": "failed"},
    }
    term.grade("week1", files, roster)
    assert [term.classes["week1"].rows()[who].split(",")[0] for who in ("101", "102")] == ["10", "0"]


def test_the_time_of_an_assignment_is_its_own(term: Term) -> None:
    """In nbgrader's layout each assignment has a time; one that cannot be read is named."""
    term.grade(
        "week1",
        {
            "ada/ps1/": {"double.py": "passed", "timestamp.txt": "2026-10-01 12:00:00.0 UTC+0000"},
            "ada/ps2/": {"total.py": "passed", "timestamp.txt": "2026-10-23 12:00:00.0 UTC"},
        },
    )
    with open_journal(term.out("week1"), new=False) as journal:
        (noted,) = journal.submissions()
    assert noted.at == "2026-10-01T12:00:00+00:00"
    notes = term.grade("week1", {"ada/ps1/": {"double.py": "passed", "timestamp.txt": "2026-10-01 12:00:00 PDT"}})
    assert "1 date, such as '2026-10-01 12:00:00 PDT', cannot be read" in " ".join(notes)


@pytest.mark.parametrize(
    ("at", "days"),
    [
        ("2026-10-24T18:05:00+02:00", "0"),  # within the slack
        ("2026-10-25T17:59:00+01:00", "1"),  # 24 hours and 59 minutes on the day on which clocks change
        ("2026-10-25T18:01:00+01:00", "2"),
    ],
)
def test_a_day_is_one_on_the_clock(term: Term, at: str, days: str) -> None:
    """Also over the night in which clocks change."""
    path = term.home / "course.yaml"
    path.write_text(COURSE.replace("due: 2026-10-01 18:00", "due: 2026-10-24 18:00"))
    term.grade("week1", {"ada/ps1/": {"double.py": "passed", "timestamp.txt": at}})
    (row,) = csv.DictReader((term.out("week1") / "gradebook.csv").read_text().splitlines())
    assert row["late_days"] == days


def test_a_german_worksheet(term: Term, tmp_path: Path) -> None:
    """Its columns are found by what stands in them; other points are refused with both, a locked row is left."""
    file = tmp_path / "ws_de.csv"
    shutil.copy(CASES / "ws_de.csv", file)
    own = {"double.py": "passed"}
    term.grade("week1", {moodle("Ada", 2001): own, moodle("Seán", 2005): own})
    refused = term.run("export", term.out("week1"), "--format", "moodle", "--into", file)
    assert refused.exit_code == 2
    assert "is worth 10 points here and 15 on the platform" in " ".join(refused.output.split())
    file.write_text(file.read_text().replace("15,00", "10,00"))
    ran = term.run("export", term.out("week1"), "--format", "moodle", "--into", file)
    assert ran.exit_code == 0, ran.output
    assert grades(file, "Bewertung")[:5] == ["10", "", "", "", ""]
    assert "2005: excused or locked on the platform" in ran.output
    file.write_text(file.read_text().replace("Ja,", "Jah,"))
    unread = " ".join(term.run("export", term.out("week1"), "--format", "moodle", "--into", file).output.split())
    assert "cannot be read in the column Bewertung kann geändert werden" in unread
    file.write_text((CASES / "ws_de.csv").read_text().replace('"15,00"', '"gut, schlecht"'))
    scale = term.run("export", term.out("week1"), "--format", "moodle", "--into", file, "--column", "Bewertung")
    assert "the column Bestwertung says 'gut, schlecht', which is not a number" in " ".join(scale.output.split())


def test_split_names_of_canvas(term: Term, tmp_path: Path) -> None:
    """Each person once, and neither the points nor the test student; all other cells stay."""
    file = tmp_path / "split.csv"
    shutil.copy(CASES / "r_split.csv", file)
    assert len(people_in(file).persons) == 38
    before = file.read_text()
    term.grade("week1", {"lovelaceada_12345_": {"1_double.py": "passed"}}, file)
    file.write_text(before.replace("20.00", "10.00"))
    assert term.run("export", term.out("week1"), "--format", "canvas", "--into", file).exit_code == 0
    assert file.read_text() == before.replace("20.00", "10.00").replace(
        "login12345,Section 1,4.50,,", "login12345,Section 1,4.50,10,"
    )


@pytest.mark.parametrize(
    ("text", "hundredths"),
    [
        ("1,000.00", 100_000),
        ("1.000,00", 100_000),
        ("50,00", 5000),
        ("20", 2000),
        ("1 000,5", 100_050),
        ("-3,5", -350),
        ("1,000", None),  # a thousand here, one there
        ("1,0,0", None),
        ("(read only)", None),
        ("", None),
    ],
)
def test_numbers_of_other_programs(text: str, hundredths: int | None) -> None:
    """They are read whole, or not at all."""
    assert parse_hundredths(text) == hundredths


def test_never_lower_hides_no_broken_check(term: Term) -> None:
    """What counted before still counts, and the run says what is broken."""
    term.grade("week1", {"ada/": {"double.py": "passed"}})
    made = term.classes["week1"]
    (made.folder / "ada" / "double.py").write_text("broken again")
    summary = made.grade([made.course.exercises[0]], handin="week1", never_lower=True)
    assert (summary.broken, summary.lower) == ({"double": ["ada"]}, [])
    assert made.rows()["ada"].split(",")[0] == "10"


def test_rows_name_somebody(term: Term) -> None:
    """Each row of unmatched.csv says what it is about, and with --names whose it is."""
    files = {
        moodle("Ada", 101): {"double.py": "passed"},
        "Bo_102_assignsubmission_onlinetext/": {"onlinetext.html": "hello"},
    }
    term.grade("week1", files)
    made = term.classes["week1"]
    made.grade([made.course.exercises[0]], handin="week1", names=True)
    (row,) = csv.DictReader((made.out / "unmatched.csv").read_text().splitlines())
    assert (row["author"], bool(row["file"]), "name" in row) == ("102", True, True)


def test_pages_of_a_term(term: Term, tmp_path: Path) -> None:
    """They show first what counts, and of which hand-in: grace days of all hand-ins are counted once, and if known."""
    late = "Saturday, {} October 2026, 5:00 PM"
    rows = ["1|Ada|Team A|" + late, "2|Bo|Team A|" + late]
    first = sheet(
        tmp_path / "ws1.csv", 10, [rows[0].format(3), rows[1].format(3).replace("Saturday, 3", "Thursday, 1")]
    )
    second = sheet(tmp_path / "ws2.csv", 20, [row.format(10) for row in rows], "Group,")
    own = {"double.py": "passed"}
    term.grade("week1", {moodle("Ada", 101): own, moodle("Bo", 102): own}, first)
    term.grade("week2", {moodle("Team A", 999): own}, second)
    outs = [term.out("week1"), term.out("week2")]
    alone = " ".join(term.run("report", outs[0], "-q").output.split())
    assert "These pages do not know the grace days of other hand-ins, and say so" in alone
    page = (outs[0] / "feedback" / "101.html").read_text()
    assert "2 of them covered by grace days (unless other hand-ins have used them up)" in page
    assert "10 of 10 points after 2 late days" in page

    ran = term.run("term", *outs, "--to", tmp_path / "term.csv", "--pages")
    assert ran.exit_code == 0, ran.output
    assert "These pages do not know" not in ran.output
    lines = (outs[0] / "feedback" / "101.html").read_text()
    assert (
        lines.index("Hand-in week1") < lines.index("8 of 10 points after 2 late days; 10 before") < lines.index("<tab")
    )
    assert "unless other hand-ins have used them up" not in lines
    text = (outs[0] / "feedback" / "101.md").read_text()
    assert text.startswith("### `A tiny course`, `week1`\n\n**8 of 10 points after 2 late days; 10 before**\n")
    whole = (outs[0] / "report.html").read_text()
    assert "Hand-in Week 1, 2 submissions" in whole
    assert '8 / 10<br><span class="note">after 2 late days; 10 before</span>' in whole
    # Both members have all of their grace days for week 2, which weighs twice.
    assert "10 of 10 points after 2 late days" in (outs[1] / "feedback" / "999.html").read_text()

    # Of a team whose members have other days left, the page says what each has.
    path = term.home / "course.yaml"
    path.write_text(COURSE.replace("weight: 2", "weight: 0.5"))
    assert term.run("term", *outs, "--to", tmp_path / "term.csv", "--pages").exit_code == 0
    assert "over the term 201 has 8, 202 has 10; final: 10" in (outs[1] / "feedback" / "999.html").read_text()
    assert "unless other hand-ins have used them up" in (outs[1] / "feedback" / "999.html").read_text()


def test_teams_that_are_called_like_students(term: Term, tmp_path: Path) -> None:
    """A team's name and number may be those of others. Who marks is no team, and Canvas's number is a member's."""
    rows = ["1|Ada|Bo|-", "2|Bo|Bo|-", "3|Cy|Default group|-", "4|Di|Ada|-"]
    team = sheet(tmp_path / "team.csv", 10, rows, "Group,")
    files = {moodle("Bo", 102): {"double.py": "passed"}, moodle("Ada", 101): {"double.py": "failed"}}
    term.grade("week1", files | {"Default group_assignsubmission_file/": {"double.py": "passed"}}, team)
    assert finals(term, "week1") == {"101": "10", "102": "10", "103": "10", "104": "0"}

    marked = sheet(tmp_path / "marked.csv", 20, ["1|Ada|Bo|-", "2|Bo|Ada|-", "3|Cy|Ada|-"], "Marker,")
    term.grade(
        "week2", {moodle("Bo", 202): {"double.py": "passed"}, moodle("Ada", 201): {"double.py": "failed"}}, marked
    )
    assert finals(term, "week2") == {"201": "0", "202": "10", "203": "0"}

    groups = tmp_path / "groups.csv"
    swapped = GROUPS.replace("A,Team Rocket", 'A,"Turing, Alan"', 1).replace("A,Team Rocket", 'A,"Lovelace, Ada"')
    groups.write_text(swapped)
    own = {"lovelaceada_101_": {"9_double.py": "passed"}, "turingalan_102_": {"8_double.py": "failed"}}
    term.grade("week3", own, groups)
    assert finals(term, "week3") == {"101": "10", "102": "0", "105": "0"}


def finals(term: Term, handin: str) -> dict[str, str]:
    rows = list(csv.DictReader((term.out(handin) / "gradebook.csv").read_text().splitlines()))
    found = {row["author"]: row["final"] for row in rows}
    assert len(found) == len(rows), "somebody has two rows"
    return found


def test_a_group_without_its_table_is_named(term: Term, tmp_path: Path) -> None:
    """With a gradebook as roster one member gets the score; the output names the number, and what to do."""
    book = tmp_path / "grades.csv"
    book.write_text(CANVAS)
    files = {"teamrocket_101_": {"9_double.py": "passed"}, "turingalan_102_": {"8_double.py": "passed"}}
    notes = " ".join(term.grade("week1", files, book))
    assert "1 submission with a name that differs from the roster's for the same number: 101. If these are" in notes


LANGUAGES = {
    "de": ("Teilnehmer/in ", "Ja", "Nein", "ID,Vollständiger Name,E-Mail-Adresse,Status,{}Bewertung,Bestwertung,"
           "Bewertung kann geändert werden,Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung)"),
    "fr": ("Participant ", "Oui", "Non", "Identifiant,Nom complet,Adresse de courriel,Statut,{}Note,Note maximale,"
           "La note peut être modifiée,Dernière modification (travail remis),Dernière modification (note)"),
    "es": ("Participante ", "Sí", "No", "Identificador,Nombre completo,Dirección de correo,Estatus,{}Calificación,"
           "Calificación máxima,La calificación puede cambiarse,Última modificación (entrega),Última (calificación)"),
    "zh": ("参与者", "是", "否", "编号,全名,电子邮件地址,状态,{}成绩,最高分,成绩可以更改,"
           "最后修改 (提交),最后修改 (成绩)"),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("team", ["", "Team,"])
def test_worksheets_of_any_language(term: Term, tmp_path: Path, language: str, team: str) -> None:
    """Rows, teams, points and locks are found by what stands in the columns; times that cannot be read are named."""
    person, yes, no, head = LANGUAGES[language]
    people = [(301, "Ada", "Bo", yes), (302, "Bo", "Bo", yes), (303, "Cy", "T2", no), (304, "Di", "T2", yes)]
    file = tmp_path / "sheet.csv"
    lines = [
        f'{person}{number},{name},{name}@x.org,x,{f"{group}," if team else ""},"10,00",{can},"1. 10. 2026, 17:05",-'
        for number, name, group, can in people
    ]
    file.write_text("\n".join([head.format(team), *lines, ""]))
    passed, failed = {"double.py": "passed"}, {"double.py": "failed"}
    if team:
        files = {moodle("Bo", 301): passed, moodle("T2", 999): failed}  # the number of another member
    else:
        files = {moodle("Ada", 301): passed, moodle("Bo", 302): failed, moodle("Cy", 303): passed}
    notes = " ".join(term.grade("week1", files, file))
    assert "4 dates of the roster, such as '1. 10. 2026, 17:05', cannot be read" in notes
    assert "cannot be found" not in notes
    ran = term.run("export", term.out("week1"), "--format", "moodle", "--into", file)
    assert ran.exit_code == 0, ran.output
    points = [row[4 + bool(team)] for row in csv.reader(file.read_text().splitlines()[1:])]
    assert points == (["10", "10", "", "0"] if team else ["10", "0", "", ""])
    assert "303: excused or locked on the platform" in ran.output


def test_a_scale_is_not_a_number_of_points(term: Term, tmp_path: Path) -> None:
    """Moodle writes its words where the maximum stands otherwise, and takes no points."""
    file = sheet(tmp_path / "ws.csv", 10, ["1|Ada||-"])
    file.write_text(file.read_text().replace("Maximum grade", "Scale").replace("10.00", '"weak\ngood"'))
    term.grade("week1", {moodle("Ada", 101): {"double.py": "passed"}}, file)
    before = file.read_bytes()
    ran = term.run("export", term.out("week1"), "--format", "moodle", "--into", file)
    assert (ran.exit_code, "the column Scale says 'weak\\ngood', which is not a number" in ran.output) == (2, True)
    assert file.read_bytes() == before


@pytest.mark.parametrize("stamp", ["2026-10-01 19:00:00 PDT", "yesterday", "2026-10-01T19:00:00+02:00"])
def test_the_time_of_a_clone(term: Term, tmp_path: Path, stamp: str) -> None:
    """One in the list of `grade clone` that cannot be read is named, and costs nothing."""
    table = tmp_path / "week1" / "in.csv"
    table.parent.mkdir()
    table.write_text(f"folder,repository,commit,at\nada,o/ada,abc,{stamp}\nbo,o/bo\n")
    notes = term.grade("week1", {"ada/": {"double.py": "passed"}, "bo/": {"double.py": "passed"}})
    lines = (term.out("week1") / "gradebook.csv").read_text().splitlines()
    late = {row["author"]: row["late_days"] for row in csv.DictReader(lines)}
    is_read = stamp.endswith("+02:00")
    assert late == {"ada": "1" if is_read else "", "bo": ""}
    assert any(f"1 date, such as {stamp!r}, cannot be read" in note for note in notes) is not is_read
