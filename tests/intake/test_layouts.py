"""What platforms give, each recognized by itself: whose each file is, and what nobody can be found for."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from support import files_in, written

from grader.intake.collect import Intake, collect, open_intake
from grader.intake.layouts import LAYOUTS, OUT_MARK
from grader.model import Course
from grader.model.errors import SubmissionError

METADATA = """\
---
submission_1:
  :submitters:
  - :name: Ada
    :sid: '17'
    :email: ada@x.org
  - :name: Bo
    :email: bo@x.org
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2026-01-01 10:00:00.000000000 Z
  :score: !ruby/object:BigDecimal 18:0.1e2
submission_2:
  :submitters:
  - :name: Cy
    :sid: 18
  :created_at: 2026-01-01 11:00:00 Z
submission_3:
  :submitters:
  - :name: Cy
    :sid: 18
  :created_at: 2026-01-01 10:00:00 Z
submission_4:
  :submitters:
  - :name: dee
"""

SHAPES: dict[str, tuple[str, Mapping[str, str], dict[str, str]]] = {
    "canvas": (
        "a Canvas download: 5 files of 4 authors",
        {
            "lovelaceada_101_9001_double.py": "ada",
            "lovelaceada_101_9002_total-1.py": "ada",
            "o_brien_lee_LATE_7_9003_Double (1).py": "lee",
            "anon_Ab3_9004_double.py": "nobody",
            "turingalan_104_9005_12_34_double.py": "alan",
        },
        {"anon_Ab3": "double", "101": "double total", "7": "double", "104": "double"},
    ),
    "moodle folders": (
        "a Moodle download: 3 authors",
        {
            "Zoë de K_11_assignsubmission_file_/week1/double.py": "zoe",
            "Zoë de K_11_assignsubmission_onlinetext_/onlinetext.html": "hello",
            "Participant_12_assignsubmission_file_/double.py": "blind",
            "Team A_13_assignsubmission_file/double.py": "team",
        },
        {"11": "double", "12": "double", "13": "double"},
    ),
    "moodle flat": (
        "a Moodle download: 3 files of 2 authors",
        {
            "Ada L_11_assignsubmission_file_double.py": "ada",
            "Ada L_11_assignsubmission_file_total.py": "ada",
            "Bo_12_assignsubmission_file_double.py": "bo",
        },
        {"11": "double total", "12": "double"},
    ),
    "gradescope": (
        "a Gradescope export: 4 authors, 3 submissions",
        {
            "assignment_5_export/submission_metadata.yml": METADATA,
            "assignment_5_export/submission_1/double.py": "group",
            "assignment_5_export/submission_2/double.py": "cy",
        },
        {"18": "double", "ada@x.org+bo@x.org": "double", "dee": ""},
    ),
    "clones": (
        "clones of repositories: 2 authors",
        {
            "week1-submissions/week1-ada/.git/HEAD": "",
            "week1-submissions/week1-ada/exercises/01_basics/double/double.py": "ada",
            "week1-submissions/week1-ada/exercises/01_basics/double/check_double.py": "",
            "week1-submissions/week1-bo/.git/HEAD": "",
            "week1-submissions/week1-bo/double.py": "bo",
        },
        {"ada": "double", "bo": "double"},
    ),
    "nbgrader": (
        "nbgrader's submitted folder: 2 authors",
        {
            "submitted/ada/week1/double.py": "ada",
            "submitted/ada/week1/timestamp.txt": "2026",
            "submitted/bo/week1/total.py": "bo",
            "release/week1/double.py": "",
        },
        {"ada": "double", "bo": "total"},
    ),
    "folders": (
        "a folder for each author: 3 authors",
        {
            "in/ada/week1/double.py": "ada",
            "in/ada/__MACOSX/._double.py": "",
            "in/bo/exercises/01_basics/double/double.py": "bo",
            "in/cy/Double.py": "cy",
        },
        {"ada": "double", "bo": "double", "cy": "double"},
    ),
    "single files": (
        "a folder for each author: 3 files of 2 authors",
        {"ada_double.py": "ada", "ada_total.py": "ada", "bo.py": "def total(x):\n    return 1\n"},
        {"ada": "double total", "bo": "total"},
    ),
    "single files of exercises alone": (
        "a folder for each author: 4 files of 2 authors",
        {"ada_double.py": "ada", "ada_total.py": "ada", "bo_double-2.py": "bo", "bo_total (1).py": "bo"},
        {"ada": "double total", "bo": "double total"},
    ),
}


def found(intake: Intake, course: Course) -> dict[str, str]:
    own = {}
    for handed in intake.handed:
        (submission,), _ = collect(handed, course.exercises, course.exercises)
        own[handed.key] = " ".join(sorted(files_in(submission)))
    return own


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["folder", "zip"])
def test_shapes(tiny: Course, tmp_path: Path, shape: str, way: str) -> None:
    """Each is told apart, as a folder and as the zip that was downloaded."""
    told, files, asked = SHAPES[shape]
    path = written(tmp_path / "in", files)
    if way != "folder":
        if shape == "clones":
            return  # nothing hidden is unpacked
        shutil.make_archive(str(tmp_path / "in"), "zip", path)
        shutil.rmtree(path)
        path = tmp_path / "in.zip"
    with open_intake(path, tiny.exercises) as intake:
        assert intake.title() == told
        assert found(intake, tiny) == asked


HOSTILE = {
    "submission_metadata.yml": "s1:\n  :submitters:\n  - :email: bob@x.org\n",
    "s1/double.py": "x = 1",
    "submitted/bob/hw/timestamp.txt": "2026",
    "submitted/bob/hw/double.py": "x = 1",
    "bob/.git/HEAD": "",
    "bob/double.py": "x = 1",
    "cy/double.py": "x = 1",
    "bob_12_assignsubmission_file_/double.py": "x = 1",
}
"""What one author may put into a hand-in to be taken for a whole class."""


@pytest.mark.parametrize("way", ["folder", "zip"])
@pytest.mark.parametrize("others", [False, True], ids=["alone", "with others"])
def test_no_author_decides_whose_a_hand_in_is(tiny: Course, tmp_path: Path, way: str, others: bool) -> None:
    """Whatever lies in one author's folder or zip, it is that author's; where it is alone, staff reads what to do."""
    written(tmp_path / "in" / "eve", HOSTILE)
    if way == "zip":
        shutil.make_archive(str(tmp_path / "in" / "eve"), "zip", tmp_path / "in" / "eve")
        shutil.rmtree(tmp_path / "in" / "eve")
    if others:
        written(tmp_path / "in" / "ada", {"double.py": "x = 2"})
    with open_intake(tmp_path / "in", tiny.exercises) as intake:
        assert [one.key for one in intake.handed] == (["ada", "eve"] if others else ["eve"])
        name = "eve" if way == "folder" else "eve.zip"
        assert [note.split(",")[0] for note in intake.notes] == ([] if others else [f"{name} is alone in in"])


@pytest.mark.parametrize("shape", ["canvas", "gradescope", "moodle flat"])
def test_a_download_in_a_folder_of_its_own(tiny: Course, tmp_path: Path, shape: str) -> None:
    """Staff may say what it is; else it could be one author's, and the output says how to name it."""
    told, files, asked = SHAPES[shape]
    shutil.make_archive(str(tmp_path / "all" / "class"), "zip", written(tmp_path / "in", files))
    with open_intake(tmp_path / "all", tiny.exercises, shape.split()[0]) as intake:
        assert (intake.title(), found(intake, tiny)) == (told, asked)
    with open_intake(tmp_path / "all", tiny.exercises) as intake:
        assert [one.key for one in intake.handed] == ["class"]
        assert intake.notes[0].endswith(f"name it:  grade batch {tmp_path / 'all' / 'class.zip'}")


def test_what_nobody_handed_in_is_reported(tiny: Course, tmp_path: Path) -> None:
    """A file without an author, a text that was typed in, a link: each with why; OUT and another OUT are nobody."""
    names = ("ada/double.py", "bo/double.py", "double.py", "notes.txt", "out/x", f"old/{OUT_MARK}")
    folder = written(tmp_path / "in", dict.fromkeys(names, ""))
    (folder / "cy").symlink_to(folder / "ada")
    with open_intake(folder, tiny.exercises, out=folder / "out") as intake:
        assert [handed.key for handed in intake.handed] == ["ada", "bo"]
        assert {row.file: row.why for row in intake.unmatched} == {
            "double.py": "it is named like an exercise, and its name does not say whose it is",
            "notes.txt": "neither a folder nor a zip, nor Python, nor a notebook",
            "cy": "a link, which is not followed",
        }


def test_who_typed_a_text_has_a_row(tiny: Course, tmp_path: Path) -> None:
    """Nothing of it can be graded, and its author is not forgotten."""
    written(tmp_path, {"ada_1_2_double.py": "", "bo_3_text.html": "", "cy_LATE_4_5_total.py": ""})
    with open_intake(tmp_path, tiny.exercises) as intake:
        assert found(intake, tiny) == {"1": "double", "3": "", "4": "total"}
        assert [(row.file, row.author) for row in intake.unmatched] == [("3_text.html", "3")]
        assert [handed.late for handed in intake.handed] == [False, False, True]


SCORES = "username,first_name,score,submission_tag\nAda,,1,submit/x\nanna-k,,,\nk,,,\nbo,,,\n"


@pytest.mark.parametrize(
    ("names", "authors", "scores"),
    [
        (("repos/anna-k", "repos/anna-m"), ["anna-k", "anna-m"], ""),
        (("hw-anna-k", "hw-anna-m"), ["hw-anna-k", "hw-anna-m"], ""),
        (("hw-submissions/hw-anna-k", "hw-submissions/hw-anna-m"), ["anna-k", "anna-m"], ""),
        (("cs-hw_submissions_2026_05_09_T_14_30_45/cs-hw-anna-k",), ["anna-k"], ""),
        (("mine/cs-hw-ada", "mine/cs-hw-anna-k", "mine/cs-hw-bo"), ["ada", "anna-k", "bo"], SCORES),
        (("mine/cs-hw-anna-k", "mine/cs-hw-k"), ["anna-k", "k"], SCORES),
        (("mine/anna-k", "mine/bo"), ["anna-k", "bo"], SCORES),
    ],
)
def test_whose_a_clone_is(
    tiny: Course, tmp_path: Path, names: tuple[str, ...], authors: list[str], scores: str
) -> None:
    """What a platform calls the assignment is cut off, and nothing else; what names have in common says nothing."""
    written(tmp_path / "in", {f"{name}/{file}": "" for name in names for file in (".git/HEAD", "double.py")})
    if scores:
        written(tmp_path / "in" / Path(names[0]).parent, {"scores.csv": scores})
    with open_intake((tmp_path / "in" / names[0]).parent, tiny.exercises) as intake:
        assert intake.title().startswith("clones of repositories")
        assert [handed.key for handed in intake.handed] == authors
        assert not intake.unmatched


def test_a_layout_can_be_forced(tiny: Course, tmp_path: Path) -> None:
    """A folder of folders is read as what somebody says it is; a wrong word is answered with the nearest."""
    written(tmp_path, {"w-ada/double.py": "", "w-bo/double.py": ""})
    with open_intake(tmp_path, tiny.exercises, "clones") as intake:
        assert [handed.key for handed in intake.handed] == ["ada", "bo"]
        assert "All names begin with w-, which is cut off as the assignment's name." in " ".join(intake.notes)
    with pytest.raises(SubmissionError, match=r"there is no layout 'canvass'; did you mean canvas\?"):
        open_intake(tmp_path, tiny.exercises, "canvass").__enter__()
    assert [layout.name for layout in LAYOUTS] == ["gradescope", "moodle", "canvas", "nbgrader", "clones", "plain"]


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "has no submissions: a folder or a zip for each author is expected"),
        ({"submission_metadata.yml": "a: [", "submission_1/double.py": ""}, "cannot be read: while parsing"),
        ({"submission_metadata.yml": "- 1", "submission_1/double.py": ""}, "does not say whose the submissions are"),
        ({"submission_metadata.yml": "!ruby/object:X {}", "submission_1/double.py": ""}, "has no submissions"),
    ],
)
def test_what_cannot_be_read_says_so(tiny: Course, tmp_path: Path, files: dict[str, str], told: str) -> None:
    """An empty folder and damaged metadata are errors that say where, and what to do."""
    with pytest.raises(SubmissionError) as error, open_intake(written(tmp_path, files), tiny.exercises):
        pass
    assert told in str(error.value)


def test_somebody_in_two_submissions_is_reported(tiny: Course, tmp_path: Path) -> None:
    """In a group and alone: both rows stand, and staff read of it."""
    alone = "submission_5:\n  :submitters:\n  - :email: bo@x.org\n"
    files = {"submission_metadata.yml": METADATA + alone, "submission_1/double.py": "", "submission_5/double.py": ""}
    written(tmp_path, files)
    with open_intake(tmp_path, tiny.exercises) as intake:
        why = [row.why for row in intake.unmatched if row.author == "bo@x.org"]
        assert why == [
            "several submissions, each with a row of its own: ada@x.org+bo@x.org, bo@x.org; keep the one that counts"
        ]


def test_when_it_was_handed_in(tmp_path: Path, tiny: Course) -> None:
    """Gradescope says it of a submission, nbgrader of each assignment's folder; Canvas says only what was late."""
    written(tmp_path / "g", {"submission_1/double.py": "ada", "submission_metadata.yml": METADATA})
    ends = {"ada": "2026-01-01 10:00:00.5 America/New_York", "bo": "2026-01-01 10:00", "cy": "soon"}
    written(tmp_path / "n", {f"{author}/hw/timestamp.txt": at for author, at in ends.items()})
    written(tmp_path / "c", {"ada_LATE_1_2_double.py": "x", "bo_3_4_double.py": "x"})
    times: dict[str, tuple[str, bool]] = {}
    for folder in "gnc":
        with open_intake(tmp_path / folder, tiny.exercises) as intake:
            for one in intake.handed:
                of_parts = [part.at for part in one.parts]
                times[f"{folder} {one.key}"] = (one.at or "".join(of_parts), one.late)
    assert times == {
        "g ada@x.org+bo@x.org": ("2026-01-01T10:00:00+00:00", False),
        "g 18": ("2026-01-01T11:00:00+00:00", False),
        "g dee": ("", False),
        "n ada": ("2026-01-01T15:00:00+00:00", False),
        "n bo": ("2026-01-01T10:00:00+00:00", False),
        "n cy": ("", False),
        "c 1": ("", True),
        "c 3": ("", False),
    }


@pytest.mark.parametrize(
    "files",
    [
        {"double.py": "x = 1", "notes.txt": ""},
        {"double/double.py": "x = 1", "total/total.py": "x = 1"},
        {"01_basics/double/double.py": "x = 1"},
        {"course.yaml": "", "exercises/01_basics/double/double.py": "x = 1"},
    ],
)
def test_one_authors_folder_is_not_a_class(tiny: Course, tmp_path: Path, files: dict[str, str]) -> None:
    """It says how one author is graded, and how the folder is taken for a class all the same."""
    folder = written(tmp_path, files)
    with pytest.raises(SubmissionError, match=r"the files of one author.*grade --submission .*--layout plain"):
        open_intake(folder, tiny.exercises).__enter__()
    if "double/double.py" in files:
        with open_intake(folder, tiny.exercises, "plain") as intake:
            assert [one.key for one in intake.handed] == ["double", "total"]
