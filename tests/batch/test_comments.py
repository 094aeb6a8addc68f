"""Comments on lines of code: on the author's page and in the report, and they go with the line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from support import RIGHT, WarmGrade

from grader.batch.comments import Comment, with_comment
from grader.batch.overrides import Override, with_override
from grader.course.load import load_course

ADA = "def double(x):\n    return x + 3\n\n\ndef double_(x):\n    return x.mul_(2)\n"
EVIL = "=cmd()"


def hand_in(folder: Path, **texts: str) -> None:
    """Files of `double`, by author."""
    for name, text in texts.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "double.py").write_text(text)


def comments_in(out: Path, author: str) -> list[dict[str, object]]:
    """Those in an author's report."""
    report = json.loads((out / "reports" / f"{author}.json").read_text())
    found: list[dict[str, object]] = next(one for one in report["exercises"] if one["id"] == "double")["comments"]
    return found


def test_a_comment_goes_with_its_line(home: Path, tmp_path: Path, type_grade: WarmGrade) -> None:
    """It is on the page, as text, in its Markdown and in the report; a new version has it where the line is then."""
    out, folder = tmp_path / "out", tmp_path / "in"
    hand_in(folder, ada=ADA, bob=RIGHT)
    words = ("batch", str(folder), "--out", str(out), "--confinement", "none", "-j", "1")
    assert type_grade(*words, cwd=home).returncode == 0
    rows = ["author,exercise,line,code,comment"]
    rows += ["Ada,01-1,2,return x + 3,<b>Twice</b> is not three more.", "ada,double,3,gone = 1,Why?", "who,double,1,,x"]
    (out / "comments.csv").write_text("\n".join(rows) + "\n")
    ran = type_grade(*words, cwd=home)
    assert "comments.csv: line 4 does not count: no submission is by who" in " ".join(ran.stdout.split())
    first = {"line": 2, "code": "return x + 3", "text": "<b>Twice</b> is not three more."}
    assert comments_in(out, "ada") == [first, {"line": None, "code": "gone = 1", "text": "Why?"}]
    assert comments_in(out, "bob") == []
    assert type_grade("report", str(out), cwd=home).returncode == 0
    page = (out / "feedback" / "ada.html").read_text()
    assert "Comments on your code" in page
    assert "&lt;b&gt;Twice&lt;/b&gt; is not three more." in page and "<b>Twice" not in page
    assert "<b>Twice</b> is not three more." in (out / "feedback" / "ada.md").read_text()
    assert "Comments on your code" not in (out / "feedback" / "bob.html").read_text()
    hand_in(folder, ada=f"import torch\n\n\n{ADA}")
    assert type_grade(*words, cwd=home).returncode == 0
    assert comments_in(out, "ada")[0] == {**first, "line": 5}
    assert type_grade("forget", str(out), "ada", cwd=home).returncode == 0
    assert (out / "comments.csv").read_text() == "author,exercise,line,code,comment\nwho,double,1,,x\n"


def test_wrong_rows_are_all_named(home: Path, tmp_path: Path, type_grade: WarmGrade) -> None:
    """A line that is no number, and a comment that is missing."""
    out, folder = tmp_path / "out", tmp_path / "in"
    hand_in(folder, ada=ADA)
    words = ("batch", str(folder), "--out", str(out), "--confinement", "none", "-j", "1")
    assert type_grade(*words, cwd=home).returncode == 0
    (out / "comments.csv").write_text("author,exercise,line,code,comment\nada,double,two,,x\nada,double,1,,\n")
    ran = type_grade(*words, cwd=home)
    said = " ".join(ran.stderr.split())
    assert ran.returncode == 2
    assert "comments.csv: line 2: line:" in said and "comments.csv: line 3: comment:" in said


def test_a_row_that_is_added_leaves_the_others_as_they_are(home: Path, tmp_path: Path) -> None:
    """Delimiter, order of columns, quotes and line ends of a table stay; one about the same is replaced."""
    course, path = load_course(home), tmp_path / "overrides.csv"
    path.write_bytes(
        b'\xef\xbb\xbfwhy;points;check;exercise;author\r\n"a; ""b""";1;small;01-1;Bob\r\nx;2;;total;ADA\r\n'
    )
    row = Override(author="bob", exercise="double", check="small", points=2.5, why="say; more", row=0)
    content = with_override(path, course, row, EVIL, {"bob"})
    assert content == (
        b'\xef\xbb\xbfwhy;points;check;exercise;author\r\nx;2;;total;ADA\r\n"say; more";2.5;small;double;\'=cmd()\r\n'
    )
    one = Comment(author="ada", exercise="double", line=1, code="'=1", comment="two\nlines", row=0)
    text = with_comment(tmp_path / "comments.csv", course, one, "ada", {"ada"})
    assert isinstance(text, str)
    assert list(csv.reader(text.splitlines(keepends=True)))[1] == ["ada", "double", "1", "'=1", "two\nlines"]
