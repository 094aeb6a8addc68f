"""`grade release`: a copy that works by itself, is the same each time, and is not there if something leaks."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import zipfile
from pathlib import Path

import pytest
from support import COURSES, WarmGrade, read, written

from grader.course.answers import write_digest
from grader.course.install import other_packages
from grader.course.load import load_course
from grader.model.files import zip_bytes

CANARY = "9c41be07-77"


def prepared(folder: Path) -> Path:
    """The pretend course as staff have it: with notes, comments and leftovers that are nobody else's."""
    root = shutil.copytree(COURSES / "tiny", folder)
    shown, staff = root / "exercises/01_basics/double", root / "solutions/01_basics/double"
    (root / "exercises/01_basics/README.md").write_text("# Basics\n\nA product makes a new tensor.\n\nTopics: T1\nT2\n")
    (staff / "double.py").write_text((staff / "double.py").read_text() + f"\n\n# canary: {CANARY}\n")
    for path in (root / "course.yaml", shown / "exercise.yaml", root / "exercises/topics.yaml"):
        path.write_text(f"# canary: {CANARY}\n{path.read_text()}")
    written(shown, {"__pycache__/double.cpython-311.pyc": CANARY, ".old/double.py": CANARY})
    (shown / "solved.py").symlink_to(staff / "double.py")
    (root / "exercises" / CANARY).mkdir()
    return root


@pytest.fixture(scope="module")
def released(type_grade: WarmGrade, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the course, its copy, and its copy as a zip."""
    folder = tmp_path_factory.mktemp("released")
    root = prepared(folder / "course")
    ran = type_grade("release", str(folder / "copy"), "--notebooks", cwd=root)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 hidden checks stay here and decide 8.7 of 15 points" in ran.stdout
    options = ("--zip", "--notebooks", "--quiet", "--course", str(root))
    assert type_grade("release", str(folder / "copy"), *options, cwd=folder).stdout == f"{folder / 'copy.zip'}\n"
    return folder


def test_copy_has_what_students_need(released: Path) -> None:
    """Starters, checks and pages come along as they are, and what is written; modes and times tell of no machine."""
    copy, course = read(released / "copy"), read(released / "course")
    written = {".gitignore", "AGENTS.md", "README.md", "course.yaml", "exercises/topics.yaml"}
    written.add("notebooks/01_basics.ipynb")
    described = {f"exercises/01_basics/{id}/exercise.yaml" for id in ("double", "total")}
    given = {f"exercises/01_basics/{id}/{name}{id}.py" for id in ("double", "total") for name in ("", "check_")}
    mistakes = "exercises/01_basics/double/mistakes.json"
    assert set(copy) == written | described | given | {"exercises/01_basics/README.md", mistakes}
    assert not [path for path, data in copy.items() if b"tripled" in data]
    assert all(copy[path] == course[path] for path in given)
    assert not [path for path, data in copy.items() if CANARY.encode() in data]
    # The ids are for the course map alone.
    assert copy["exercises/01_basics/README.md"] == b"# Basics\n\nA product makes a new tensor.\n"
    assert b"do not solve" in copy["AGENTS.md"]
    assert b'the course "A tiny course"' in copy["AGENTS.md"]
    assert b"| 01-1 | [Double it](exercises/01_basics/double/double.py) | 10 | 5 |" in copy["README.md"]
    found = [(released / "copy").stat(), *(path.stat() for path in (released / "copy").rglob("*"))]
    assert {item.st_mode for item in found} == {stat.S_IFDIR | 0o755, stat.S_IFREG | 0o644}
    assert {item.st_mtime for item in found} == {315532800.0}


def test_zip_is_the_same_byte_for_byte(type_grade: WarmGrade, released: Path, tmp_path: Path) -> None:
    """Made elsewhere of files with other times, in another place, it has the same bytes, and those of the folder."""
    root = shutil.copytree(released / "course", tmp_path / "another", symlinks=True, copy_function=shutil.copyfile)
    ran = type_grade("release", str(tmp_path / "copy.zip"), "--zip", "--notebooks", cwd=root)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (tmp_path / "copy.zip").read_bytes() == (released / "copy.zip").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another", "copy.zip"]
    with zipfile.ZipFile(released / "copy.zip") as archive:
        inside = {name.removeprefix("copy/"): archive.read(name) for name in archive.namelist()}
        assert archive.namelist() == sorted(archive.namelist())
    assert inside == read(released / "copy")


def test_copy_works_by_itself(type_grade: WarmGrade, released: Path, tmp_path: Path) -> None:
    """Starters earn nothing of what is shown; a right answer all, a wrong one its message; the totals are honest."""
    copy = shutil.copytree(released / "copy", tmp_path / "mine")
    untouched = type_grade(cwd=copy)
    assert "0 / 6.3 points, 8.7 more at hand-in" in untouched.stdout
    assert untouched.returncode == 1
    answers = released / "course/solutions/01_basics"
    shutil.copyfile(answers / "double/double.py", copy / "exercises/01_basics/double/double.py")
    shutil.copyfile(answers / "total/wrong/list.py", copy / "exercises/01_basics/total/total.py")
    solved = type_grade("double", cwd=copy)
    assert (solved.returncode, "5 / 5 points, 5 more at hand-in" in solved.stdout) == (0, True)
    assert "2 hidden checks will decide 5 more points at hand-in." in solved.stdout
    # A rule that only hidden checks look at has no table of points here.
    hidden = type_grade("double", "C2", cwd=copy)
    assert (hidden.returncode, hidden.stdout.split()[:4], "0 / 0" in hidden.stdout) == (
        0,
        ["C2", "has", "only", "hidden"],
        False,
    )
    # That is another state than done: there is no game and no applause, and both commands use one scale.
    lines = solved.stdout.splitlines()
    assert lines[-5].split() == ["01-1", "Double", "it", "shown", "pass", "5", "/", "5"]
    assert lines[-2:] == [
        "Shown checks pass, 5 points at hand-in: read each rule again.",
        "Next: 01-2 Sum without a loop:  grade next",
    ]
    listed = type_grade("list", cwd=copy).stdout
    assert re.search(r"Double it +shown pass +5 / 5", listed)
    assert "Shown checks pass in 1 of 2, 5 / 6.3 points, 8.7 more at hand-in\n" in listed
    assert "Double it" in type_grade("list", "--state", "shown-pass", cwd=copy).stdout
    ran = type_grade("--json", "-", cwd=copy)
    report = json.loads(ran.stdout)
    assert report["score"] == {"earned": 6.3, "possible": 15.0, "undecided": 8.7}
    withheld = [item["withheld"] for item in report["exercises"]]
    assert withheld == [{"checks": 2, "points": 5.0}, {"checks": 1, "points": 3.7}]
    shutil.copyfile(answers / "double/wrong/triples.py", copy / "exercises/01_basics/double/double.py")
    told = type_grade("double", cwd=copy)
    assert told.returncode == 1
    assert "the result has the wrong values: 3 of 3 elements are wrong" in told.stdout
    assert "This looks like: You tripled it; double means two times." in told.stdout
    assert "print(double(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float32)))" in told.stdout


def test_hand_in_takes_its_exercises(type_grade: WarmGrade, released: Path, tmp_path: Path) -> None:
    """With a hand-in, only its exercises are there, and what they need of others is no riddle to the copy."""
    root = shutil.copytree(released / "course", tmp_path / "course", symlinks=True)
    text = (root / "course.yaml").read_text().replace("[double]", "[total]")
    (root / "course.yaml").write_text(text.replace("title: Week 1", "title: W\n    column: secret"))
    path = root / "exercises/01_basics/total/exercise.yaml"
    path.write_text(path.read_text() + "needs: [double]\n")
    ran = type_grade("release", str(tmp_path / "copy"), "--handin", "week1", cwd=root)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    files = read(tmp_path / "copy")
    assert not [name for name in files if "double" in name]
    assert b"secret" not in files["course.yaml"]
    assert b"needs" not in files["exercises/01_basics/total/exercise.yaml"]


def test_leak_leaves_nothing(type_grade: WarmGrade, released: Path, tmp_path: Path) -> None:
    """A leak ends the command with file and line, and neither the copy nor its draft stays."""
    root = shutil.copytree(released / "course", tmp_path / "course", symlinks=True)
    (root / "exercises/01_basics/README.md").write_text(f"# Basics\n\n{CANARY}\n")
    ran = type_grade("release", str(tmp_path / "copy"), cwd=root)
    assert ran.returncode == 2
    told = "grade: exercises/01_basics/README.md:3: has the canary of solutions/01_basics/double/double.py:"
    assert told in ran.stderr
    assert os.listdir(tmp_path) == ["course"]


def with_install(root: Path, install: str) -> None:
    """Let a course say where the grader comes from."""
    path, address = root / "course.yaml", "install:\n  address: git+https://git.example.org/course/tensorgrade@v1\n"
    path.write_text(path.read_text().replace(address, install))


def test_a_copy_says_where_the_grader_comes_from(type_grade: WarmGrade, home: Path, tmp_path: Path) -> None:
    """A course that does not say it is not released; a wheel goes along; no line leaves its name to an index."""
    with_install(home, "")
    ran = type_grade("release", str(tmp_path / "copy"), cwd=home)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "course.yaml: install: is missing, so nobody could install the grader" in ran.stderr
    assert "install: {address: git+https://HOST/OWNER/NAME@TAG}" in ran.stderr
    name = "tensorgrade-0.1.0-py3-none-any.whl"
    (home / "course.yaml").write_text(f"{(home / 'course.yaml').read_text()}install: {{wheel: {name}}}\n")
    assert f"install.wheel: there is no file {name}" in type_grade("release", "../copy", cwd=home).stderr
    (home / name).write_bytes(b"none")
    assert f"{name} is not a wheel" in type_grade("release", "../copy", cwd=home).stderr
    solution = (home / "solutions/01_basics/double/double.py").read_bytes()
    for member, content in (("grader/bundled/a.py", solution), ("grader/a.py", b"x = 1\n")):
        (home / name).write_bytes(zip_bytes({member: content}))
        ran = type_grade("release", "../copy", "--notebooks", cwd=home)
        is_leak = content == solution
        assert (ran.returncode, f"{member} in it is a file of staff's" in ran.stderr) == (2 * is_leak, is_leak)
    copy = read(tmp_path / "copy")
    assert copy[name] == (home / name).read_bytes()
    assert f'$ pip install "./{name}"\n'.encode() in copy["README.md"]
    assert f'# %pip install \\"../{name}\\"'.encode() in copy["notebooks/01_basics.ipynb"]


def test_packages_that_exercises_import_are_installed(home: Path, tmp_path: Path, type_grade: WarmGrade) -> None:
    """The README and the notebooks name them, and none that the grader brings or that is a file of the course."""
    starter = home / "exercises/01_basics/double/double.py"
    imports = "import yaml, torch, double, os\n    from no_such_tables.core import Table\n    from . import total"
    starter.write_text(f"{starter.read_text()}\n\ndef other():\n    {imports}\n")
    assert other_packages(load_course(home)) == ["no_such_tables"]
    write_digest(load_course(home).exercises[0])
    ran = type_grade("release", str(tmp_path / "copy"), "--notebooks", cwd=home)
    assert ran.returncode == 0, ran.stderr
    copy = read(tmp_path / "copy")
    assert b'@v1"\n$ pip install no_such_tables\n$ grade\n' in copy["README.md"]
    assert b"The last line installs what files of the exercises import." in copy["README.md"]
    assert b"# %pip install no_such_tables" in copy["notebooks/01_basics.ipynb"]


@pytest.mark.parametrize(
    ("install", "told"),
    [
        ("{}", "install: write exactly one of address, wheel and index; there is none"),
        (
            "{wheel: a.whl, index: https://a.invalid}",
            "exactly one of address, wheel and index; there is wheel and index",
        ),
        ("{address: https://a.invalid/b}", "'b' is not the name of a wheel of the grader"),
        ("{wheel: torch-2.13.0-py3-none-any.whl}", "'torch-2.13.0-py3-none-any.whl' is not the name of a wheel of the"),
        ("{address: 'git+https://a.invalid/$(b)'}", "install.address: string should match pattern"),
        ("{wheel: ../tensorgrade-0.1.0-py3-none-any.whl}", "install.wheel: string should match pattern"),
        ("{index: http://a.invalid}", "install.index: string should match pattern"),
        ("{place: here}", "install.place: unknown key"),
    ],
)
def test_a_wrong_install_is_refused(type_grade: WarmGrade, home: Path, install: str, told: str) -> None:
    """What no installer could take for the grader, and what could be more than an address where it is printed."""
    with_install(home, f"install: {install}\n")
    ran = type_grade("release", "../copy", cwd=home)
    assert (ran.returncode, told in ran.stderr) == (2, True), ran.stderr


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("mémoire vive/out", "mémoire vive/out is in the course itself"),
        (".", ". exists; a copy needs a new or an empty folder"),
        ("..", ".. exists"),
        ("full", "full exists"),
        ("file", "file exists"),
        ("link", "link exists"),
        ("no/copy", "there is no folder"),
        ("file/copy", "there is no folder"),
    ],
)
def test_places_that_cannot_be_used(type_grade: WarmGrade, home: Path, tmp_path: Path, place: str, told: str) -> None:
    """A place in or above the course, one that is taken, or in no folder, is refused before anything is run."""
    written(tmp_path, {"full/mine.py": "", "file": ""})
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    ran = type_grade("release", place, "--course", str(home), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert told in ran.stderr
    assert sorted(os.listdir(tmp_path)) == ["file", "full", "link", home.name]


def test_course_that_cannot_be_given_out(type_grade: WarmGrade, home: Path, tmp_path: Path) -> None:
    """A check that the reference does not pass, or all at once: a starter that is solved, and a page that is a link."""
    (home / "solutions/01_basics/total/total.py").write_text("def total(x):\n    return 1\n")
    ran = type_grade("release", str(tmp_path / "copy"), cwd=home)
    assert ran.returncode == 2
    assert "solutions/01_basics/total/total.py: the reference does not pass check_small (failed)" in ran.stderr
    starter = home / "exercises/01_basics/double/double.py"
    shutil.copyfile(home / "solutions/01_basics/double/double.py", starter)
    (home / "exercises/01_basics/README.md").symlink_to(home / "solutions/01_basics/double/double.py")
    ran = type_grade("release", str(tmp_path / "copy"), cwd=home)
    assert ran.returncode == 2
    assert "exercises/01_basics/double/double.py: this is not the starter whose digest stands in" in ran.stderr
    assert "exercises/01_basics/README.md: this is a link or a folder" in ran.stderr
    assert os.listdir(tmp_path) == [home.name]
    shutil.rmtree(home / "solutions")
    assert "it is a copy" in type_grade("release", str(tmp_path / "copy"), cwd=home).stderr
