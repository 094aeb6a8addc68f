"""course.yaml and exercise.yaml: every problem at once, each a sentence with file and key."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from support import COURSES

from grader.course.answers import starter_digest
from grader.course.layout import find_course
from grader.course.load import find_exercises, load_course, rule_texts
from grader.model.errors import CourseError


def problems(root: Path) -> list[str]:
    with pytest.raises(CourseError) as caught:
        load_course(root)
    return list(caught.value.problems)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_pretend_course_loads() -> None:
    """Exercises in the order of course.yaml, points in hundredths, limits from both files, rules of docstrings."""
    course = load_course(COURSES / "tiny")
    assert {exercise.id: exercise.points for exercise in course.exercises} == {"double": 1000, "total": 500}
    assert course.exercises[0].limits.call_s == 2
    assert course.exercises[0].contract["C2"] == "The dtype stays as it is."
    assert course.handins[0].exercises == ("double",)
    source = '"""Title\n\nC1  One rule\n    goes on.\nC2. Two.\n\n    not a rule\n"""\n'
    assert rule_texts(source) == {"C1": "One rule goes on.", "C2": "Two."}


def test_all_problems_at_once(home: Path) -> None:
    """Problems in several files are told together, in one refusal; a number is that of one exercise."""
    total = home / "exercises/01_basics/total/exercise.yaml"
    change(total, "number: 01-2", "number: 01-1")
    told = "exercises/01_basics/total/exercise.yaml: number: 01-1 is that of double already; change one of the two"
    assert problems(home) == [told]
    change(total, "number: 01-1", "number: 01-2")
    change(home / "course.yaml", "title: A tiny course", "titel: A tiny course")
    change(home / "course.yaml", "exercises: [double]", "exercises: [dubble]")
    found = problems(home)
    assert found == ["course.yaml: title: this key is missing", "course.yaml: titel: unknown key; did you mean title?"]
    change(home / "course.yaml", "titel:", "title:")
    folder = home / "exercises/01_basics"
    change(folder / "double/exercise.yaml", "difficulty: 1", "difficulty: 9\ndificulty: 1")
    change(total, "kind: vectorise", "kind: puzzle")
    change(total, "  - A method of the tensor.\n", "")
    text = "\n".join(problems(home))
    for told in (
        "exercises/01_basics/double/exercise.yaml: difficulty: input should be less than or equal to 4 (it is 9)",
        "exercises/01_basics/double/exercise.yaml: dificulty: unknown key; did you mean difficulty?",
        "exercises/01_basics/total/exercise.yaml: kind: input should be 'predict'",
        "exercises/01_basics/total/exercise.yaml: hints: list should have at least 3 items",
        "course.yaml: handins.week1.exercises: there is no exercise dubble; did you mean double?",
    ):
        assert told in text


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("title: A tiny course", "title: [", "course.yaml: line"),
        ("title: A tiny course", "title: A\ntitle: B", "the key 'title' is given twice"),
        ("requires: tensorgrade>=0.1", "requires: tensorgrade>=99", "this course needs tensorgrade>=99, but"),
        ("requires: tensorgrade>=0.1", "requires: '>>'", "is not a requirement such as tensorgrade>=0.1"),
        ("[double, total]", "[double, double]", "the exercise double is listed twice"),
        ("[double, total]", "[double, totall]", "01_basics names totall, and there is no folder"),
        ("[double, total]", "[double, totall]", "exercises/01_basics/totall; did you mean total?"),
        ("handins:\n", "handins:\n  - {id: week1, title: W, exercises: [total]}\n", "two hand-ins have the id week1"),
        ("exercises: [double]", "exercises: [double, double]", "handins.week1.exercises: double is listed twice"),
        ("load_s: 2", "load_s: -2", "limits.load_s: input should be greater than 0"),
        ("load_s: 2", "load_ms: 2", "limits.load_ms: unknown key; did you mean load_s?"),
        ("id: week1", "id: week1\n    dew: 1", "handins.0.dew: unknown key; did you mean due?"),
        ("load_s: 2", "weigt: 2", "limits.weigt: unknown key; known are"),
        ("folder: 01_basics", "folder: shared", "a module cannot be called shared, which is the folder of"),
    ],
)
def test_problem_in_course_yaml(home: Path, old: str, new: str, told: str) -> None:
    """Each kind of problem is told with its key."""
    change(home / "course.yaml", old, new)
    assert any(told in problem for problem in problems(home))


@pytest.mark.parametrize(("here", "works"), [("0.1.1.dev7", True), ("0.2.0rc1", True), ("0.1.0.dev3", False)])
def test_a_commit_between_two_releases_counts(
    home: Path, monkeypatch: pytest.MonkeyPatch, here: str, works: bool
) -> None:
    """A version of a commit is as new as its number says, for what a course requires."""
    monkeypatch.setattr("grader.course.load.metadata.version", lambda name: here)
    if works:
        assert load_course(home).exercises
    else:
        assert any(f"but tensorgrade {here} is installed" in problem for problem in problems(home))


SPOILED = {
    "not YAML": ("exercise.yaml", "title: [", "exercise.yaml: line"),
    "a wrong key": ("exercise.yaml", "titel: T", "number: this key is missing"),
    "no YAML": ("exercise.yaml", None, "exercise.yaml: cannot be read"),
    "no checks": ("check_double.py", None, "there are no checks; write check_double.py"),
}


@pytest.mark.parametrize(("name", "text", "told"), SPOILED.values(), ids=SPOILED)
def test_a_broken_exercise_is_left_out(home: Path, name: str, text: str | None, told: str) -> None:
    """What cannot be used stands apart with what to mend, is told to who asks for it, and stops no other."""
    for path in home.glob(f"*/01_basics/double/{name}"):
        path.unlink() if text is None else path.write_text(text)
    loaded = load_course(home, whole=False)
    assert [exercise.id for exercise in loaded.exercises] == ["total"]
    (broken,) = loaded.broken
    assert (broken.module, broken.id) == ("01_basics", "double")
    assert any(told in problem for problem in broken.problems)
    with pytest.raises(CourseError, match=re.escape(told)):
        find_exercises(loaded, "double")
    assert problems(home) == list(broken.problems)


@pytest.mark.parametrize(
    ("name", "ids"),
    {
        "total": ["total"],
        "1-2": ["total"],
        "01-2.py": ["total"],
        "01_basics": ["double", "total"],
        "1": None,
        "9-9": None,
    }.items(),
)
def test_names_say_which_descriptions_are_read(home: Path, name: str, ids: list[str] | None) -> None:
    """An id, a module and a number name the exercises that are read; with any other name, all are."""
    (home / "exercises/01_basics/double/exercise.yaml").write_text("number: 01-1\ntitle: [")
    loaded = load_course(home, whole=False, named=[name])
    assert [exercise.id for exercise in loaded.exercises] == ["total"]
    assert [item.id for item in loaded.broken] == ([] if ids == ["total"] else ["double"])


def test_course_is_found_from_inside(home: Path, tmp_path: Path) -> None:
    """A course is found from a folder inside it; where there is none, that is one line."""
    assert find_course(home / "exercises" / "01_basics") == home
    with pytest.raises(CourseError, match=r"there is no course here: no course\.yaml in"):
        find_course(tmp_path)


def test_starter_digest_ignores_what_does_not_count_as_work() -> None:
    """Line ends, a byte order mark, blank lines, comments and a mended task are no work; any change of code is."""
    text = b'"""Task."""\n\ndef f():\n    return 1  # TODO\n'
    same = [
        text.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + text,
        text + b"\n\n# thinking\n",
        text.replace(b"Task.", b"Task, in\nclearer words."),
        text.replace(b"  # TODO", b"  # FIXME"),
    ]
    assert {starter_digest(other) for other in same} == {starter_digest(text)}
    changed = [text.replace(b"1", b"2"), text.replace(b"f()", b"f(x)"), text + b"f(", b"", text.replace(b"1", b"'# 1'")]
    assert starter_digest(text) not in {starter_digest(other) for other in changed}


def test_released_copy_knows_what_is_withheld(home: Path) -> None:
    """Without hidden checks, exercise.yaml tells how many there are; with them, they are there."""
    path = home / "exercises/01_basics/double/exercise.yaml"
    path.write_text(path.read_text() + "withheld:\n  checks: 2\n  shares: 3\n")
    assert load_course(home).exercises[0].withheld.checks == 0
    shutil.rmtree(home / "solutions")
    assert load_course(home).exercises[0].withheld.shares == 3


def test_policy(home: Path) -> None:
    """Times get the course's zone; a date is the end of its day; everything that is wrong is told at once."""
    path = home / "course.yaml"
    change(path, "exercises: [double]\n", "exercises: [double, total]\n    due: 2026-03-01\n    extra: [total]\n")
    assert problems(home) == [
        "course.yaml: handins.week1.due: this time has no time zone; add one for the course, such as  "
        "timezone: Europe/Berlin"
    ]
    change(path, "title: A tiny", "timezone: Europe/Berlin\npolicy: {percent_a_day: 12.5}\ntitle: A tiny")
    loaded = load_course(home)
    assert str(loaded.handins[0].due) == "2026-03-01 23:59:59+01:00"
    assert (loaded.policy.percent_a_day, loaded.policy.cap_percent) == (1250, 10000)
    change(path, "Europe/Berlin", "Europe/Berln")
    change(path, "extra: [total]", "extra: [totl]\n    drop: 2\n    extensions: {ada: 2026-03-02 10:00}")
    assert problems(home) == [
        "course.yaml: timezone: there is no time zone 'Europe/Berln'; write one such as Europe/Berlin",
        "course.yaml: handins.week1.extra: totl is not an exercise of this hand-in; did you mean total?",
        "course.yaml: handins.week1.drop: 2 of 2 exercises cannot be dropped; keep at least one",
    ]
    change(path, "2026-03-01", "1.3.2026")
    change(path, "12.5", "120")
    assert problems(home) == [
        "course.yaml: handins.0.due: expected a date such as 2026-03-01 or 2026-03-01 23:59 (it is '1.3.2026')",
        "course.yaml: policy.percent_a_day: input should be less than or equal to 100 (it is 120)",
    ]
