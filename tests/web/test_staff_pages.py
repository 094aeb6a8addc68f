"""Staff in a real browser: the class, appeals, comments, void checks, drafts, a regrade; student text is no markup."""

from __future__ import annotations

import csv
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support import WarmGrade
from web_server import WAIT_MS

from grader.batch.results_folder import ResultsFolder
from grader.course.load import load_course
from grader.grading import store
from grader.grading.outcomes import Outcomes
from grader.model.errors import CourseError
from grader.web.class_data import ClassFolder

YAML = "exercises/01_basics/double/exercise.yaml"


def open_author(page: Any, name: str) -> None:
    """From the table to an author's page."""
    page.goto("")
    page.fill("input[aria-label=Author]", name)
    page.wait_for_selector("caption:has-text('1 of 3 submissions')")
    page.click("table.list a")
    page.wait_for_selector("pre.numbered")


def save(form: Any, said: str) -> None:
    """Look at what a change does, then save it: before, the button does nothing."""
    form.locator("button:disabled:has(span:text-is('Save'))").wait_for()
    form.locator("button:has-text('Show what it changes')").click()
    form.locator("text=Nothing is saved yet.").wait_for()
    form.locator("button:has(span:text-is('Save'))").click()
    form.locator(f"text={said}").wait_for()


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def test_an_appeal_is_decided(staff: Any, graded: Path) -> None:
    """The table is filtered; an author's page shows what an override changes, then writes it with its reason."""
    from playwright.sync_api import expect

    overrides = graded / "out" / "overrides.csv"
    open_author(staff, "carl")
    form = staff.locator("details:has(input[aria-label=Points])")
    form.locator("input[aria-label=Check]").click()
    staff.locator(".q-item:has-text('the whole exercise')").click()
    form.locator("input[aria-label=Points]").fill("7.5")
    form.locator("input[aria-label^=Reason]").fill("Explained it at the blackboard.")
    form.locator("button:has-text('Show what it changes')").click()
    form.locator("text=Nothing is saved yet.").wait_for()
    assert not overrides.exists()
    form.locator("button:has(span:text-is('Save'))").click()
    form.locator("text=Saved in overrides.csv.").wait_for()
    assert rows_of(overrides) == [["carl", "double", "", "7.5", "Explained it at the blackboard."]]
    # Another field: what was shown is not what would be saved.
    form.locator("button:has-text('Show what it changes')").click()
    form.locator("text=This replaces 7.5 points: Explained it at the blackboard.").wait_for()
    form.locator("input[aria-label=Points]").fill("99")
    expect(form.locator("button:has(span:text-is('Save'))")).to_be_disabled()
    form.locator("button:has-text('Show what it changes')").click()
    form.locator("text=99 is more than 10 points").wait_for()


def test_names_of_people_are_shown_where_staff_want_them(staff: Any, graded: Path) -> None:
    """A platform's number stands for a person; a typed name finds it, and a box shows names on all pages."""
    with closing(sqlite3.connect(graded / "out" / "journal.sqlite")) as journal, journal:
        journal.execute("INSERT OR REPLACE INTO people VALUES ('carl', 'Carl F. Gauss', '')")
    staff.reload()
    staff.locator("text=Names of people").wait_for()
    assert staff.locator("text=Gauss").count() == 0
    staff.fill("input[aria-label=Author]", "gauss")
    staff.wait_for_selector("caption:has-text('1 of 3 submissions')")
    staff.click("text=Names of people")
    staff.click("table a:has-text('Carl F. Gauss (carl)')")
    staff.wait_for_selector("h1:has-text('Carl F. Gauss (carl)')")
    staff.goto("author/ada")
    staff.wait_for_selector("nav a:has-text('Next: Carl F. Gauss (carl)')")


WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,Last modified (grade)
Participant 10,ada,a@x.org,Submitted for grading,,10.00,Yes,-
Participant 11,<b id=evil>bob,b@x.org,Submitted for grading,,10.00,Yes,-
Participant 12,carl,c@x.org,Submitted for grading,,10.00,Yes,-
Participant 13,dora,d@x.org,No submission,,10.00,Yes,-
"""


def choose_file(staff: Any, path: Path) -> None:
    """Choose a file as a person does: by the button, in the browser's dialog."""
    with staff.expect_file_chooser() as chooser:
        staff.click("button:has-text('Choose the file')")
    chooser.value.set_files(path)


def test_a_rubric_is_clicked(staff: Any, graded: Path) -> None:
    """A rule that a person grades has its sentences; one that somebody got is offered for the next."""
    from playwright.sync_api import expect

    open_author(staff, "ada")
    form = staff.locator("details:has(input[aria-label=Points])")
    assert form.get_attribute("open") is not None  # these points are missing
    form.locator("button:has-text('2: Says why, in a sentence.')").click()
    expect(form.locator("input[aria-label=Points]")).to_have_value("2")
    form.locator("input[aria-label^=Reason]").fill("Says why, and well.")
    save(form, "Saved in overrides.csv. The total is 10 / 10 points now.")
    assert rows_of(graded / "out" / "overrides.csv") == [["ada", "double", "C9", "2", "Says why, and well."]]
    open_author(staff, "carl")
    staff.locator("button:has-text('2: Says why, and well.')").wait_for()
    assert staff.locator("button:has-text('1: Says what, and not why.')").count() == 1


def test_a_comment_on_a_line(staff: Any, graded: Path, type_grade: WarmGrade) -> None:
    """A click on the number of a line begins it; it changes no points, and the author's page has it."""
    open_author(staff, "carl")
    staff.click(".nr[data-line='2']")
    form = staff.locator("details:has(textarea)")
    form.locator("textarea").fill("Not <i>three</i> more: twice.")
    assert form.locator("input[aria-label=Line]").input_value() == "2"
    save(form, "Saved in comments.csv.")
    staff.locator(".numbered .said:has-text('Not <i>three</i> more: twice.')").wait_for()
    assert rows_of(graded / "out" / "comments.csv") == [
        ["carl", "double", "2", "return x + 3", "Not <i>three</i> more: twice."]
    ]
    form.locator("input[aria-label=Line]").fill("999")
    form.locator("button:has-text('Show what it changes')").click()
    form.locator("text=there is no line '999'; the file has lines 1 to").wait_for()
    ran = type_grade("report", str(graded / "out"), cwd=graded / "course")
    assert ran.returncode == 0, ran.stderr
    page = (graded / "out" / "feedback" / "carl.html").read_text(encoding="utf-8")
    assert "Not &lt;i&gt;three&lt;/i&gt; more: twice." in page


def test_an_extension_and_a_void_check(staff: Any, graded: Path) -> None:
    """Both say whose scores change before they are saved; what others wrote meanwhile is never overwritten."""
    settings = graded / "course" / "course.yaml"
    before = settings.read_text(encoding="utf-8")
    open_author(staff, "carl")
    staff.wait_for_selector("text=2 days late")
    staff.click("summary:has-text('Give an extension')")
    form = staff.locator("details:has-text('Give an extension')")
    form.locator("input[type=datetime-local]").fill("2026-10-02T18:00")
    form.locator("button:has-text('Show what it changes')").click()
    form.locator("text=carl:").first.wait_for()
    settings.write_text(f"# another person\n{before}", encoding="utf-8")
    form.locator("button:has(span:text-is('Save'))").click()
    form.locator("text=was changed since this was shown; nothing was saved").wait_for()
    assert settings.read_text(encoding="utf-8") == f"# another person\n{before}"
    save(form, "Saved in course.yaml.")
    assert load_course(graded / "course").handins[0].extensions["carl"].isoformat() == "2026-10-02T18:00:00+00:00"
    assert settings.read_text(encoding="utf-8").startswith("# another person\n")
    open_author(staff, "carl")
    staff.wait_for_selector("text=1 day late")
    staff.click("text=Checks")
    staff.click("text=01-1 Double it")
    staff.locator("input[aria-label=Check]").click()
    staff.locator(".q-item:has-text('Doubles three numbers')").click()
    form = staff.locator("section:has-text('Make a check void')")
    form.locator("button:has-text('Show what it changes')").click()
    form.locator("text=2 submissions change.").wait_for()
    assert "void" not in (graded / "course" / YAML).read_text(encoding="utf-8")
    save_again = form.locator("button:has(span:text-is('Save'))")
    save_again.click()
    form.locator(f"text=Saved in {YAML}.").wait_for()
    assert load_course(graded / "course").exercises[0].void == ("small",)
    staff.reload()
    staff.wait_for_selector("td:has-text('Doubles three numbers (void)')")
    staff.click("text=Changes")
    staff.wait_for_selector("[aria-label='By staff'] td:has-text('this check is void')")
    staff.go_back()
    form = staff.locator("section:has-text('Count a void check again')")
    form.locator("button:has-text('Show what it changes')").click()
    form.locator("text=2 submissions change.").wait_for()
    form.locator("button:has(span:text-is('Save'))").click()
    form.locator(f"text=Saved in {YAML}.").wait_for()
    assert "void" not in (graded / "course" / YAML).read_text(encoding="utf-8")
    form.locator("text=Read this page again").click()
    staff.wait_for_selector("td:text-is('Doubles three numbers')")
    assert staff.locator("text=Count a void check again").count() == 0


def test_a_group_becomes_a_known_mistake(staff: Any, graded: Path) -> None:
    """A draft is written with its sentence, the class is graded again, and all of the group read the sentence."""
    folder = graded / "course/solutions/01_basics/double/wrong"
    staff.click("text=Groups")
    staff.click("text=/group .*: 2 answers/")
    staff.wait_for_selector("pre.numbered >> nth=1")
    staff.click("text=Make a draft")
    staff.wait_for_selector(".cm-content:has-text('TODO')")
    staff.click(".cm-content")
    staff.keyboard.press("Control+Home")
    staff.keyboard.press("Shift+End")
    staff.keyboard.insert_text('"""You added three; double means two times.')
    form = staff.locator("section:has-text('Make a known wrong answer of this group')")
    save(form, "Saved in solutions/01_basics/double/wrong/group_")
    (draft,) = folder.glob("group_*.py")
    text = draft.read_text(encoding="utf-8")
    assert text.startswith('"""You added three; double means two times.\n') and "onerror" not in text
    staff.click("text=Grade again")
    staff.fill("input[aria-label^='Folder or zip']", str(graded / "nowhere"))
    staff.click("button:has-text('Grade again')")
    staff.wait_for_selector("text=type the path of the submissions")
    staff.fill("input[aria-label^='Folder or zip']", str(graded / "submitted"))
    staff.click("button:has-text('Grade again')")
    staff.wait_for_selector("text=See what changed", timeout=4 * WAIT_MS)
    staff.goto("groups")
    staff.wait_for_selector("text=All lost points are explained by known mistakes.")
    staff.goto("")
    staff.locator("input[aria-label='Known mistake']").click()
    staff.locator(".q-item:has-text('You added three')").click()
    staff.wait_for_selector("caption:has-text('2 of 3 submissions')")
    # One author, all of it: the others stay.
    staff.goto("again")
    staff.locator("input[aria-label=Whose]").click()
    staff.locator(".q-item:has-text('ada')").click()
    staff.locator("input[aria-label=What]").click()
    staff.locator(".q-item:has-text('though nothing changed')").click()
    staff.click("button:has-text('Grade again')")
    staff.wait_for_selector("li:has-text('ada: 8 / 10')", timeout=4 * WAIT_MS)
    staff.click("text=See what changed")
    staff.wait_for_selector("text=Graded again on")


def test_pairs_and_text_that_students_wrote(staff: Any) -> None:
    """Two with much in common stand side by side; nothing that a student wrote is an element, on any page."""
    pytest.importorskip("copydetect", reason="copydetect is not installed: pip install 'tensorgrade[similarity]'")
    staff.click("text=Pairs")
    staff.click("button:has-text('Compare')")
    summary = staff.locator("details summary").first
    summary.wait_for()
    assert "ada" in summary.inner_text() and "carl" in summary.inner_text()
    assert "def helper" in staff.locator("mark").first.inner_text()
    open_author(staff, "bob")
    staff.wait_for_selector("pre.code:has-text('onerror=alert(1)')")
    for path in ("", "groups", "pairs", "again", "changes", "checks/double", "author/%3Cb%20id%3Devil%3Ebob"):
        staff.goto(path)
        staff.wait_for_selector("h1")
        assert staff.locator("#evil, img[src=x]").count() == 0, path


def test_two_people_do_not_overwrite_each_other(graded: Path) -> None:
    """A change that was worked out before somebody else's is not saved, and says so; both are there in the end."""
    folder = ClassFolder(graded / "course", ResultsFolder(graded / "out"))
    fields = {"exercise": "double", "check": "", "points": "5", "why": "A first reason."}
    first = folder.plan_override("ada", fields)
    second = folder.plan_override("carl", {**fields, "points": "6,5", "why": "A second reason."})
    first.write()
    with pytest.raises(CourseError, match="was changed since this was shown; nothing was saved"):
        second.write()
    folder.plan_override("carl", {**fields, "points": "6,5", "why": "A second reason."}).write()
    assert rows_of(graded / "out" / "overrides.csv") == [
        ["ada", "double", "", "5", "A first reason."],
        ["carl", "double", "", "6.5", "A second reason."],
    ]
    with pytest.raises(CourseError, match="99 is more than 10 points"):
        folder.plan_override("carl", {**fields, "points": "99"})
    with pytest.raises(CourseError, match=r"^type the reason, too; the author reads both$"):
        folder.plan_override("carl", {**fields, "why": " "})


def test_what_was_entered_is_taken_back(graded: Path) -> None:
    """Points without a number and a reason, and an empty comment, remove the row; what is not there is said."""
    folder = ClassFolder(graded / "course", ResultsFolder(graded / "out"))
    fields = {"exercise": "double", "check": "", "points": "5", "why": "A mistake."}
    before = folder.read().reports["carl"].final_score
    empty = {**fields, "points": " ", "why": ""}
    with pytest.raises(CourseError, match="no points were entered for this by hand"):
        folder.plan_override("carl", empty)
    for author in ("ada", "carl"):
        folder.plan_override(author, fields).write()
        folder.plan_comment(author, "double", "2", "Why?").write()
    planned = folder.plan_override("carl", empty)
    assert planned.replaces == "This takes back 5 points: A mistake."
    assert planned.changed["carl"][1].final_score == before
    planned.write()
    folder.plan_comment("carl", "double", "2", "").write()
    assert rows_of(graded / "out" / "overrides.csv") == [["ada", "double", "", "5", "A mistake."]]
    assert rows_of(graded / "out" / "comments.csv") == [["ada", "double", "2", "return 2 * x", "Why?"]]


def test_the_class_is_read_again_after_a_change_alone(graded: Path) -> None:
    """Reading takes seconds for a large class: the journal, the tables of staff and the course's files say when."""
    folder = ClassFolder(graded / "course", ResultsFolder(graded / "out"))
    first = folder.read()
    assert folder.read() is first
    folder.plan_comment("carl", "double", "2", "Why?").write()
    second = folder.read()
    assert second is not first and folder.read() is second
    folder.plan_void(folder.exercise("double"), "small").write()
    third = folder.read()
    assert third.course.exercises[0].void == ("small",) and folder.read() is third
    (graded / "out" / "comments.csv").write_text("author\nx\n", encoding="utf-8")
    assert "This is an earlier state: " in folder.read().note


def test_what_was_read_is_not_parsed_again(graded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change of staff's no result is parsed again; what another journal has under the same number is."""
    folder = ClassFolder(graded / "course", ResultsFolder(graded / "out"))
    first = folder.read()
    parsed: list[int] = []
    as_before = store._parse_outcomes  # of a row, which is parsed

    def counted(text: str, number: int) -> Outcomes:
        parsed.append(number)
        return as_before(text, number)

    monkeypatch.setattr(store, "_parse_outcomes", counted)
    fields = {"exercise": "double", "check": "", "points": "5", "why": "A reason."}
    folder.plan_override("ada", fields).write()
    folder.plan_comment("carl", "double", "2", "Why?").write()
    folder.plan_void(folder.exercise("double"), "small").write()
    now = folder.read()
    assert (now.reports["ada"].final_score.earned, parsed) == (500, [])
    assert now.reports["carl"].final_score.earned > first.reports["carl"].final_score.earned
    assert folder.read().reports == ClassFolder(graded / "course", ResultsFolder(graded / "out")).read().reports
    parsed.clear()
    with closing(sqlite3.connect(graded / "out" / "journal.sqlite")) as journal, journal:
        (right,) = journal.execute("SELECT outcomes FROM results WHERE author = 'ada'").fetchone()
        journal.execute("UPDATE results SET outcomes = ?, at = '2026-11-01' WHERE author = 'carl'", (right,))
        journal.execute("UPDATE runs SET started = '2026-11-01'")
    assert folder.read().reports["carl"].final_score.earned > now.reports["carl"].final_score.earned
    assert len(parsed) == 1


def test_scores_and_pages_are_returned(staff: Any, graded: Path) -> None:
    """After an appeal: graded again where the class lies, the gradebook, a platform's own file, and all pages."""
    folder = ClassFolder(graded / "course", ResultsFolder(graded / "out"))
    folder.plan_override("carl", {"exercise": "double", "check": "", "points": "9", "why": "Explained it."}).write()
    folder.plan_comment("ada", "double", "2", "Read on here.").write()
    staff.goto("return")
    staff.wait_for_selector("text=overrides.csv: changed after the gradebook was written")
    staff.click(".warn a")
    staff.wait_for_selector("h1:has-text('Grade again')")
    given = staff.locator("input[aria-label^='Folder or zip']")
    assert given.input_value().endswith("/submitted")  # as `grade batch` got it, before it was copied
    given.fill(str(graded / "submitted"))
    staff.click("button:has-text('Grade again')")
    staff.wait_for_selector("text=See what changed", timeout=4 * WAIT_MS)
    staff.click("nav >> text=Return")
    staff.wait_for_selector("h2:has-text('The gradebook')")
    assert staff.locator(".warn").count() == 0
    with staff.expect_download() as book:
        staff.click("button:has-text('Download gradebook.csv')")
    assert Path(book.value.path()).read_bytes() == (graded / "out" / "gradebook.csv").read_bytes()
    theirs = graded / "theirs.csv"
    theirs.write_text("Student,ID,SIS Login ID,Section,Week 1\nPoints Possible,,,,10\nB,2,carl,S,\n", encoding="utf-8")
    staff.fill("input[aria-label='Title of the column']", "Week 1")
    with staff.expect_download() as filled:
        choose_file(staff, theirs)
    assert filled.value.suggested_filename == "theirs.csv"
    assert "B,2,carl,S,7" in Path(filled.value.path()).read_text(encoding="utf-8")  # 9, less two days
    staff.wait_for_selector("text=1 score filled in: theirs.csv")
    theirs.write_text("name,points\ncarl,1\n", encoding="utf-8")
    choose_file(staff, theirs)
    staff.wait_for_selector("text=theirs.csv is neither Canvas's gradebook nor a grading worksheet of Moodle")
    worksheet = graded / "Grades-Week 1.csv"
    worksheet.write_text(WORKSHEET, encoding="utf-8-sig")
    staff.click("text=0 for everybody who handed in nothing")
    with staff.expect_download() as filled:
        choose_file(staff, worksheet)
    assert filled.value.suggested_filename == "Grades-Week 1.csv"
    rows = Path(filled.value.path()).read_text(encoding="utf-8-sig").splitlines()
    # Points by hand are missing for the first two.
    assert [row.split(",")[4] for row in rows[1:]] == ["", "", "7.2", "0"]
    staff.wait_for_selector("text=Upload it to Moodle before feedback.zip")
    staff.wait_for_selector("text=Nothing handed in: 1 person, which got 0.")
    staff.click("button:has-text('Write the pages')")
    staff.wait_for_selector("text=3 pages to return are in")
    with staff.expect_download() as pages:
        staff.click("button:has-text('Download feedback.zip')")
    with zipfile.ZipFile(pages.value.path()) as archive:
        assert "Read on here." in archive.read("ada.html").decode()
