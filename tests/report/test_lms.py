"""Files of Canvas and Moodle, as they are downloaded: scores go in, and every other byte stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.model.errors import CourseError
from grader.report.csv_table import CsvTable
from grader.report.export.lms import LOCKED, OVER, UNDECIDED, UNKNOWN, ScoreColumn, fill_columns
from grader.report.people import people_in

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Quiz (55),Week 1 (301),Current Score\r\n"
    ",,,,,Manual Posting,,(read only)\r\n"
    "    Points Possible,,,,,20.0,10.0,(read only)\r\n"
    '"Lovelace, Ada",101,s1,ada,"Lab ""A"", early",=1+1,,91.5\r\n'
    '"O\'Brien, Lee",7,s7,lee,Lab B,,4.0,\r\n'
    '"Kim, Min",201,s21,mkim,"line one\nline two",3,,\r\n'
    '"Kim, Min",203,s23,mkim2,Lab A,3,,\r\n'
    '"=HYPERLINK(""x"")",202,s22,hy,Lab A,,EX,\r\n'
    '"Krüger, Zoë",205,s25,zoë,Lab A,-,,\r\n'
    '"Noël, Ann",206,s26,ann,Lab A\r\n'
    '"Student, Test",999,,x,Lab A,,,\r\n'
)
MOODLE = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 11","Ada Lovelace",ada@x.org,"Submitted for grading",,"10,00",Yes,'
    '"Monday, 9 March 2026, 11:58 PM",-,"a ""quote"", =1"\n'
    '"Participant 12","Zoë Krüger",zoe@x.org,"No submission","3,00","10,00",Yes,-,-,\n'
    '"Participant 13","Min Kim",min@x.org,"Submitted for grading",,"10,00",No,"neunter März",-,\n'
)


def table_of(folder: Path, text: str, encoding: str = "utf-8") -> CsvTable:
    (folder / "file.csv").write_bytes(text.encode(encoding))
    return CsvTable(folder / "file.csv")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CANVAS, "utf-8"),
        (MOODLE, "utf-8"),
        (MOODLE.replace('"10,00"', "10,00").replace(",", ";"), "utf-8"),
        (CANVAS.lstrip("\ufeff"), "cp1252"),
        ("a\tb\r\r1", "utf-8"),
        ('a,b\n"",\n\n , \n1', "utf-8"),
    ],
)
def test_what_is_not_touched_stays_as_it_is(text: str, encoding: str, tmp_path: Path) -> None:
    """Byte order mark, quotes, line ends, delimiter and encoding come back."""
    assert table_of(tmp_path, text, encoding).content() == text.encode(encoding)


def test_canvas(tmp_path: Path) -> None:
    """Only the cells of one column change, of people who are found; the others are named."""
    table = table_of(tmp_path, CANVAS)
    scores = {
        "lovelaceada_101": 950,
        "obrienlee_7": 400,
        "kimmin_203": 1000,  # two have this name; the number says who
        "Min Kim": 300,
        "hyperlinkx_202": 500,
        "zoë": None,
        "Ann Noël": 725,
        "anon_1b2": 100,
    }
    done = fill_columns(table, "canvas", [ScoreColumn("week 1", 1000, scores)])
    expected = CANVAS.replace("=1+1,,91.5", "=1+1,9.5,91.5").replace("Lab B,,4.0", "Lab B,,4")
    expected = expected.replace("mkim2,Lab A,3,,", "mkim2,Lab A,3,10,").replace("Lab A\r\n", "Lab A,,7.25\r\n", 1)
    assert table.content() == expected.encode()
    assert (done.scores, done.replaced, done.absent) == (4, 0, 1)
    assert done.named == {UNDECIDED: ["zoë"], LOCKED: ["hyperlinkx_202"], OVER: [], UNKNOWN: ["Min Kim", "anon_1b2"]}
    with pytest.raises(CourseError, match="Min Kim, anon_1b2 cannot be found"):
        fill_columns(table, "canvas", [ScoreColumn("Week 1", 1000, scores)], zeros=True)


def test_moodle(tmp_path: Path) -> None:
    """Decimals have a comma where the file's have one; a locked row, and points above the maximum, are named."""
    table = table_of(tmp_path, MOODLE)
    column = ScoreColumn("", 1000, {"Ada Lovelace_11": 725, "Participant_12": 1200, "min@x.org": 100})
    done = fill_columns(table, "moodle", [column])
    expected = MOODLE.replace('grading",,"10,00",Yes', 'grading","7,25","10,00",Yes').replace('"3,00"', "10")
    assert table.content() == expected.encode()
    assert (done.scores, done.replaced) == (2, 1)
    assert (done.named[OVER], done.named[LOCKED]) == (["Participant_12"], ["min@x.org"])
    people = people_in(tmp_path / "file.csv")
    assert [person.at for person in people.persons] == ["2026-03-09T23:58:00", "", ""]
    assert people.unread == ["neunter März"]


def test_points_of_the_platform(tmp_path: Path) -> None:
    """Other points than the hand-in's are refused, or scores are scaled to them; people without any get 0 if asked."""
    column = ScoreColumn("Quiz", 1000, {"ada": 333})
    with pytest.raises(CourseError, match=r"Quiz is worth 10 points here and 20 on the platform; set 10 points there"):
        fill_columns(table_of(tmp_path, CANVAS), "canvas", [column])
    table = table_of(tmp_path, CANVAS)
    done = fill_columns(table, "canvas", [column], scales=True, zeros=True)
    assert (done.scores, done.replaced, done.absent) == (7, 2, 6)
    assert [table.cell(row, 5) for row in range(3, 11)] == ["6.66", *["0"] * 6, ""]


@pytest.mark.parametrize(
    ("text", "kind", "title", "why"),
    [
        (CANVAS, "moodle", "", "is not a Moodle file: expected columns such as Identifier"),
        (MOODLE, "canvas", "Week 1", "is not a Canvas file: expected columns such as Student"),
        (CANVAS, "canvas", "Wek 1", "has no column Wek 1.*did you mean Week 1"),
        (CANVAS, "canvas", "Current Score", "Canvas ignores the column Current Score, which is read only"),
        (CANVAS.replace("Quiz (55)", "Week 1 (55)"), "canvas", "Week 1", "has 2 columns Week 1"),
        ('Student,ID,Section\n"Ada,1,\n', "canvas", "Week 1", "line 2 is not CSV"),
        ("\n \n", "canvas", "Week 1", "is empty"),
        ("PK\0", "canvas", "Week 1", "is not CSV in UTF-8"),
    ],
)
def test_what_is_wrong_is_said(text: str, kind: str, title: str, why: str, tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(CourseError, match=why):
        fill_columns(table_of(tmp_path, text), kind, [ScoreColumn(title, 1000, {"ada": 1})])


def test_a_table_made_by_hand(tmp_path: Path) -> None:
    """Any cell can name a submission, if no other row has it."""
    (tmp_path / "class.csv").write_text("login;first;last;group\nada;Ada;Lovelace;1\nbo;Bo;Li;1\n=x();Xu;Yi;2\n")
    people = people_in(tmp_path / "class.csv", {"7": "lovelaceada", "12": "Bo Li"})  # as a platform names them
    found = {name: person.author if (person := people.person_of(name)) else None for name in
             ("ADA", "lovelaceada", "7", "12", "1", "2", "=x()", "nobody", "ada_1", "Bo Li_3")}  # fmt: skip
    assert [*found.values()] == ["ada", "ada", "ada", "bo", None, "=x()", "=x()", None, None, None]


def test_a_table_of_numbers_is_not_a_worksheet(tmp_path: Path) -> None:
    """A list whose first column has s101, s102 is one's own, and people are called as they stand there."""
    rows = "id,first,last,mail,section\ns101,Ada,L,a@x.org,A\ns102,Bo,M,b@x.org,B\n"
    (tmp_path / "class.csv").write_text(rows)
    people = people_in(tmp_path / "class.csv")
    assert (people.kind, [person.author for person in people.persons]) == ("plain", ["s101", "s102"])
