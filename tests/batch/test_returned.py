"""What becomes of a graded class: pages to return, notes, pairs to read, and an author who is forgotten."""

from __future__ import annotations

import csv
import json
import multiprocessing
import re
import shutil
import stat
import time
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from batch.pretend import PretendClass
from support import COURSES, WarmGrade

from grader.batch.journal import open_journal
from grader.batch.similar import similar_answers
from grader.course.load import load_course
from grader.grading.diagnosis import SEEDS
from grader.model import Course, Verdict
from grader.model.progress import Progress

pytestmark = pytest.mark.lane

CANVAS = {
    "lovelaceada_101_9001_double.py": "failed",
    "lovelaceada_101_9002_total-1.py": "passed",
    "o_brien_lee_LATE_7_9003_double.py": "passed",
    "o_brien_lee_LATE_7_9004_double-1.py": "failed",
    "anon_Ab3_9005_double.py": "failed",
    "typed_55_text.html": "an answer that was typed",
}
MOODLE = {"Zoë de K_11_assignsubmission_file_/week1/double.py": "failed", "Bo_12_assignsubmission_file_/x.txt": "?"}


def handed_in(course: Course, folder: Path, files: dict[str, str]) -> PretendClass:
    """A class that was graded, of these files."""
    made = PretendClass(course, folder)
    for name, text in files.items():
        path = made.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    made.out.mkdir(mode=0o755, exist_ok=True)
    made.judge = lambda exercise, check, source: Verdict.PASSED if source == b"passed" else Verdict.FAILED
    made.grade()
    return made


def table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def moodle_finds(name: str) -> tuple[int, str]:
    """Whom Moodle's import of feedback files finds by a path in a zip, and which file it gives to them."""
    parts = name.split("/")
    for place, part in enumerate(parts):
        words = part.split("_", 4)
        if len(words) >= 4 and words[1].isdigit() and words[2:4] == ["assignsubmission", "file"]:
            return int(words[1]), "/".join([*words[4:], *parts[place + 1 :]]).lstrip("/")
    raise AssertionError(name)


def canvas_finds(name: str) -> tuple[str, str]:
    """Whom Canvas's upload of submissions finds by a file's name, and by which of the files that they handed in."""
    words = [word for word in name.split("_") if word != "LATE"]
    found = words[1:3] if words[0] == "anon" else [word for word in words if word.isdigit()][:2]
    return found[0], found[1]


def test_pages_go_back_by_their_names(tiny: Course, tmp_path: Path, type_grade: WarmGrade) -> None:
    """The zip of a download of Canvas or of Moodle has one page for each author, where the platform looks for it."""
    canvas, moodle = handed_in(tiny, tmp_path / "c", CANVAS), handed_in(tiny, tmp_path / "m", MOODLE)
    printed = type_grade("report", str(canvas.out), cwd=COURSES / "tiny").stdout
    assert "3 pages to return" in printed
    assert "It has no page for 55, who are not on the roster, or handed in no file." in printed
    names = zipfile.ZipFile(canvas.out / "feedback.zip").namelist()
    assert {canvas_finds(name) for name in names} == {("101", "9001"), ("7", "9003"), ("Ab3", "9005")}
    type_grade("report", str(moodle.out), cwd=COURSES / "tiny")
    names = zipfile.ZipFile(moodle.out / "feedback.zip").namelist()
    assert {moodle_finds(name) for name in names} == {(11, "feedback.html"), (12, "feedback.html")}
    page = zipfile.ZipFile(moodle.out / "feedback.zip").read(sorted(names)[0])
    assert page == (moodle.out / "feedback" / "11.html").read_bytes()


TEAMS = {"Team A_13_assignsubmission_file_/double.py": "passed",
         "Team B-Cy de K_13_assignsubmission_file_/double.py": "failed"}  # fmt: skip
WORKSHEET = """\
Identifier,Full name,Email address,Status,Group,Grade,Maximum grade
Participant 11,Ada L,ada@x.org,Submitted,Team A,,10.00
Participant 12,Bo,bo@x.org,Submitted,Team A,,10.00
Participant 13,Cy de K,cy@x.org,Submitted,Team B,,10.00
"""


def test_teams_of_moodle(tiny: Course, tmp_path: Path, type_grade: WarmGrade) -> None:
    """Each member has a row and a page: of a team by its name in the worksheet, of an older Moodle's by their own."""
    (tmp_path / "worksheet.csv").write_text(WORKSHEET)
    for (name, text), members in zip(TEAMS.items(), (["11", "12"], ["13"]), strict=True):
        made = handed_in(tiny, tmp_path / text, {name: text})
        notes = made.grade(tiny.exercises[:1], roster=tmp_path / "worksheet.csv").notes
        assert notes == [f"{3 - len(members)} of 3 persons on the roster handed in nothing."]
        (report,) = (made.out / "reports").glob("*.json")
        assert json.loads(report.read_text())["authors"] == members
        rows = {row[0]: row[1] for row in table(made.out / "gradebook.csv")}
        assert rows == {
            one: ("10" if text == "passed" else "0") if one in members else "" for one in ("11", "12", "13")
        }
        type_grade("report", str(made.out), cwd=COURSES / "tiny")
        names = zipfile.ZipFile(made.out / "feedback.zip").namelist()
        assert [moodle_finds(name) for name in names] == [(int(one), "feedback.html") for one in members]


def test_names_are_shown_on_demand(tiny: Course, tmp_path: Path, type_grade: WarmGrade) -> None:
    """No file that people read has a name that the platform put before its number, unless --names is given."""
    made = handed_in(tiny, tmp_path, CANVAS)
    assert stat.S_IMODE(made.out.stat().st_mode) == 0o700
    shown = type_grade("report", str(made.out), cwd=COURSES / "tiny").stdout
    files = [path for path in made.out.rglob("*") if path.is_file() and not path.name.startswith("journal")]
    texts = {path.name: path.read_text() for path in files if path.suffix != ".zip"}
    assert [name for name, text in texts.items() if re.search("lovelace|brien|typed_", text)] == []
    assert not re.search("lovelace|brien", shown)
    type_grade("report", str(made.out), "--names", cwd=COURSES / "tiny")
    assert "101</a> lovelaceada" in (made.out / "report.html").read_text()
    made.grade(names=True)
    assert ["101", "lovelaceada"] in [[row[0], row[-1]] for row in table(made.out / "gradebook.csv")]


def test_notes(tiny: Course, tmp_path: Path) -> None:
    """What staff should know of files is a row each, by author and exercise, with its kind; a second run keeps it."""
    made = handed_in(tiny, tmp_path, CANVAS)
    rows = table(made.out / "notes.csv")
    assert [row[:3] for row in rows] == [
        ["101", "total", "taken from"],
        ["55", "", "not read"],
        ["7", "double", "late"],
        ["7", "double", "several versions"],
        ["7", "double", "taken from"],
    ]
    assert rows[3][3] == "several versions: double-1.py counts, not double.py"
    made.grade()
    assert table(made.out / "notes.csv") == rows


OWN = """import torch


def helper(x):
    return x


def double(x):
    y = helper(x)

    return y @ 2


def double_(x):
    return x.mul_(2)
"""


def test_own_lines(tmp_path: Path, type_grade: WarmGrade) -> None:
    """The page shows the function that failed with its line numbers, the line that raised, and the hints."""
    folder = tmp_path / "in" / "ada"
    folder.mkdir(parents=True)
    (folder / "double.py").write_text(OWN)
    out = tmp_path / "out"
    ran = type_grade("batch", str(tmp_path / "in"), "--out", str(out), "-j", "1", cwd=COURSES / "tiny")
    assert ran.returncode == 0, ran.stderr
    type_grade("report", str(out), cwd=COURSES / "tiny")
    text = (out / "feedback" / "ada.html").read_text()
    lines = re.findall(r'<span class="line( raised)?"><span class="nr">(\d+)</span>(.*)\n</span>', text)
    assert lines == [
        ("", "8", "def double(x):"),
        ("", "9", "    y = helper(x)"),
        ("", "10", ""),
        (" raised", "11", "    return y @ 2"),
    ]
    assert "<summary>Hints</summary>" in text
    with zipfile.ZipFile(out / "feedback.zip") as pages:
        assert pages.namelist() == ["ada.html", "ada.md"]
        assert pages.read("ada.md").startswith(b"### `A tiny course`\n")


def test_an_author_is_forgotten(tiny: Course, tmp_path: Path, type_grade: WarmGrade) -> None:
    """Nothing of theirs is left in any file, the journal's free pages included; others stay as they are."""
    made = handed_in(tiny, tmp_path, CANVAS)
    type_grade("report", str(made.out), cwd=COURSES / "tiny")
    (made.out / "overrides.csv").write_text("author,exercise,check,points,why\n101,double,,1,appeal\n7,double,,1,x\n")
    (made.out / "roster.csv").write_text("number,first,last\n101,Ada,Lovelace\n7,Lee,O'Brien\n")
    before = table(made.out / "gradebook.csv")
    wrong = type_grade("forget", str(made.out), "lovelace", cwd=COURSES / "tiny")
    assert (wrong.returncode, "did you mean lovelaceada?" in wrong.stderr) == (2, True)
    ran = type_grade("forget", str(made.out), "lovelaceada", cwd=COURSES / "tiny")
    assert ran.returncode == 0, ran.stderr
    assert table(made.out / "gradebook.csv") == [row for row in before if row[0] != "101"]
    assert table(made.out / "roster.csv") == [["7", "Lee", "O'Brien"]]
    assert [row[0] for row in table(made.out / "overrides.csv")] == ["7"]
    left = [path for path in made.out.rglob("*") if path.is_file()]
    assert {path.name for path in left if path.suffix == ".html"} == {"55.html", "7.html", "anon_Ab3.html"}
    assert [path.name for path in left if re.search(rb"lovelace|9001", path.read_bytes())] == []
    again = type_grade("forget", str(made.out), "101", cwd=COURSES / "tiny")
    assert (again.returncode, "has nothing of '101'" in again.stderr) == (2, True)


LONG = """
def double(x):
    first = x.clone()
    for index, row in enumerate(first.unbind(0)):
        second = row + row * index - row * index
        if second.dim() > 3 and second.shape[0] == index:
            raise ValueError("too many dimensions")
        first[index] = second
    return first.reshape(x.shape)
"""
OTHER = """
def double(x):
    if not isinstance(x, torch.Tensor):
        x = torch.as_tensor(x)
    result = torch.empty_like(x, memory_format=torch.contiguous_format)
    torch.add(x, x, out=result)
    assert result.dtype is x.dtype, "promoted"
    while False:
        break
    return result if result.numel() else x.clone()
"""


def test_pairs_to_read(tiny: Course, tmp_path: Path) -> None:
    """Copies are listed whatever their names are; what is short is left out, and the starter does not count."""
    starter = tiny.exercises[0].starter.read_text()
    renamed = re.sub(r"\b(first|second|index|row)\b", lambda found: f"my_{found[0]}", LONG)
    files = {"ada": LONG, "bo": f"{starter}\n{renamed}", "cy": OTHER, "dee": starter + "\n\nx = 1\n"}
    total = {f"{author}/total.py": f"def total(x):\n    return x.sum()  # {author}\n" for author in files}
    made = handed_in(tiny, tmp_path, {f"{author}/double.py": text for author, text in files.items()} | total)
    with open_journal(made.out, new=False) as journal:
        found = {item.exercise.id: item for item in similar_answers(tiny, journal, Progress())}
    (pair,) = found["double"].pairs
    assert {side[0] for side in pair} == {"ada", "bo"}
    assert all(share > 0.8 for _, share, _ in pair)
    assert not any(starter[:40] in text for _, _, parts in pair for text, both in parts if both)
    assert found["total"].why_not == "answers are too short to tell"


def test_known_answers_run_once(home: Path, tmp_path: Path) -> None:
    """Whatever kills a batch among them, and though everything is graded again: each result is saved as it arrives."""
    folder = home / "solutions/01_basics/double/wrong"
    shutil.rmtree(folder)
    folder.mkdir()
    for number in range(6):
        text = f'"""You made mistake {number}.\n\ncaught by: double_0\n"""\n\n\ndef double(x):\n    return {number}\n'
        (folder / f"mistake{number}.py").write_text(text)
    made = PretendClass(load_course(home), tmp_path)
    made.hand_in("ada", double="failed")
    log = tmp_path / "log"

    def judge(exercise: str, check: str, source: bytes) -> Verdict:
        found = re.search(rb"mistake \d", source)
        with log.open("a") as file:
            file.write(f"{check} {found[0].decode()}\n" if found else "")
        time.sleep(0.02)
        return Verdict.FAILED

    made.judge = judge
    log.touch()

    def lines() -> int:
        return log.read_text().count("\n")

    kills = 3
    for _ in range(kills):
        before = lines()
        batch = multiprocessing.get_context("fork").Process(target=made.grade)
        batch.start()
        while lines() < before + 12 and batch.is_alive():
            time.sleep(0.01)
        batch.kill()
        batch.join()
    made.grade()
    made.hand_in("bo", double="failed")
    made.grade(rerun="all")
    runs = Counter(log.read_text().splitlines())
    assert len({line.split(" ", 1)[1] for line in runs}) == 6
    assert sum(runs.values()) - len(SEEDS) * len(runs) <= 2 * kills  # a run that was killed had two checks


MANY = (
    '''"""Double it."""


def double(x):
    """Double.

'''
    + "".join(f"    Line {k} of a long docstring.\n" for k in range(20))
    + '''    """
    return 3 * x


def double_(x):
    """Double in place."""
    return x + 1
'''
)


def test_the_first_failure_of_each_function_is_shown(tmp_path: Path, type_grade: WarmGrade) -> None:
    """On the page with the code of the function, without its docstring; as Markdown and in the terminal, too."""
    folder = tmp_path / "in" / "ada"
    folder.mkdir(parents=True)
    (folder / "double.py").write_text(MANY)
    out = tmp_path / "out"
    ran = type_grade("batch", str(tmp_path / "in"), "--out", str(out), "-j", "1", cwd=COURSES / "tiny")
    assert ran.returncode == 0, ran.stderr
    type_grade("report", str(out), cwd=COURSES / "tiny")
    text = (out / "feedback" / "ada.html").read_text()
    lines = re.findall(r'<span class="line(?: raised)?"><span class="nr">\d+</span>(.*)\n</span>', text)
    assert lines == ["def double(x):", "    return 3 * x", "def double_(x):", "    return x + 1"]
    markdown = (out / "feedback" / "ada.md").read_text()
    titles = re.findall(r"^`(C\d .*)`$", markdown.partition("#### `01-1 ")[2].partition("#### ")[0], re.MULTILINE)
    assert titles == ["C1 Doubles three numbers", "C3 Doubles in place"]
    shown = type_grade("double", "--submission", str(folder), cwd=COURSES / "tiny").stdout
    assert "`double_`" in shown.replace("`double_(x)`", "") or shown.count("\n          C") >= 2, shown
