"""How far a student is: what is kept of a run, and that it is never in the way."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from grader.course.load import load_course
from grader.model import Check, Course, Environment, GradedCheck, GradedExercise, Outcome, Report, Score, Verdict
from grader.student.advice import advice
from grader.student.folder import CourseProgress, ExerciseProgress, read_progress, write_progress
from grader.student.side_effects import side_effects

pytestmark = pytest.mark.lane

_WRONG = '{"last": "", "exercises": {"x": {"state": "done", "earned": %s, "solved": 1, "tries": 0, "hints": %s}}}'
HERE = Environment("", "", "", "", "", 1, None, "", None, "")


@pytest.fixture
def course(home: Path) -> Course:
    """A copy of the pretend course."""
    return load_course(home)


def report(course: Course, earned: int, state: str = "started", left_out: int = 0) -> Report:
    """Of a run of the first exercise."""
    check = Check("small", "double", "Small")
    row = GradedCheck(check, Outcome("small", Verdict.PASSED if earned else Verdict.FAILED), Score(earned, 1000))
    rest = tuple(GradedCheck(check, Outcome("x", Verdict.NOT_RUN), Score(0, 100, 100)) for _ in range(left_out))
    graded = GradedExercise(course.exercises[0], state, (row,), Score(earned, 1000, 100 * left_out), left_out=rest)
    return Report("", None, "", "", "", (graded,), HERE)


def test_tries_are_counted_until_success(course: Course) -> None:
    """Each run that loses points is a try; full marks begin anew, and are remembered; what is untouched leaves none."""
    progress = CourseProgress().after(report(course, 0, "not_started"))
    assert progress.exercises == {}
    for _ in range(2):
        progress = progress.after(report(course, 300))
    assert progress.of("double") == ExerciseProgress("started", 3, solved=False, tries=2)
    progress = progress.after(report(course, 1000, "done"))
    assert progress.of("double") == ExerciseProgress("done", 10, solved=True, tries=0)
    progress = progress.after(report(course, 300))
    assert progress.of("double") == ExerciseProgress("started", 3, solved=True, tries=1)
    assert progress.last == "double"


def test_run_of_some_checks_tells_nothing_of_the_exercise(course: Course) -> None:
    """It may be a try, and changes neither state nor points."""
    progress = CourseProgress({"double": ExerciseProgress("done", 10, solved=True)})
    passed = report(course, 900, left_out=1)
    assert progress.after(passed).of("double") == ExerciseProgress("done", 10, solved=True)
    assert progress.after(report(course, 0, left_out=1)).of("double").tries == 1


WON = '{"exercises": {"double": {"state": "won"}}}'
DAMAGED = ["", "{", "[]", WON, '{"exercises": 3}', "[" * 100_000, "\xff", _WRONG % ("1e400", "0"), _WRONG % ("1", "-5")]


@pytest.mark.parametrize("text", DAMAGED, ids=range(9))
def test_damaged_file_is_begun_anew(course: Course, text: str) -> None:
    """Whatever stands in it, it is a sentence, and the next run writes a good one."""
    (course.root / ".grade").mkdir()
    (course.root / ".grade/progress.json").write_bytes(text.encode("latin-1"))
    progress = read_progress(course)
    assert progress.exercises == {}
    assert progress.problem == ".grade/progress.json was damaged, so your progress starts from zero"
    assert write_progress(course, progress.after(report(course, 300))) == ""
    assert read_progress(course).problem == ""


def test_folder_that_cannot_be_written_to(course: Course) -> None:
    """It is a sentence with the cause."""
    (course.root / ".grade").write_text("in the way of a folder, as who runs the tests may write everywhere")
    assert write_progress(course, CourseProgress()) == "your progress is not saved: File exists (.grade/progress.json)"
    assert read_progress(course).problem == "your progress cannot be read: Not a directory (.grade/progress.json)"


def test_a_file_that_may_not_be_read_is_not_replaced(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has another message than a damaged one, and a run does not overwrite it: it may hold weeks of work."""
    good = CourseProgress({"total": ExerciseProgress("done", 5, solved=True)})
    write_progress(course, good)
    with monkeypatch.context() as locked:
        locked.setattr(Path, "read_bytes", mock.Mock(side_effect=PermissionError(13, "Permission denied")))
        progress = read_progress(course)
        said = "your progress cannot be read: Permission denied (.grade/progress.json); make that file readable"
        assert progress.problem == said
    assert write_progress(course, progress.after(report(course, 300))) == f"{said}. Until then nothing is saved"
    assert read_progress(course) == good


def test_hints_are_offered(course: Course) -> None:
    """After two lost runs the next hint that was not seen is named, until there is none left."""
    lost = report(course, 300)
    progress = CourseProgress().after(lost)
    assert list(advice(course, lost, progress)) == []
    for hints, told in ((0, "first"), (2, "third"), (3, None)):
        twice = progress.with_exercise("double", replace(progress.after(lost).of("double"), hints=hints))
        expected = [f"Stuck? Here is the {told} of three hints:  grade hint double"] if told else []
        assert list(advice(course, lost, twice)) == expected


def test_progress_is_written_in_one_step(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written is read, git passes over it, and whoever is interrupted while writing has the old file."""
    good = CourseProgress({"double": ExerciseProgress("done", 10, solved=True, tries=1, hints=2)}, "double")
    assert write_progress(course, good) == ""
    assert (course.root / ".grade/.gitignore").read_text() == "*\n"
    monkeypatch.setattr(os, "replace", mock.Mock(side_effect=OSError(28, "No space left on device")))
    told = "your progress is not saved: No space left on device (.grade/progress.json)"
    assert write_progress(course, CourseProgress()) == told
    assert read_progress(course) == good


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("open('log.txt', 'w').write('x')", "writes a file"),
        ("torch.save(x, 'x.pt')", "writes a file"),
        ("os.system('ls')", "starts a program"),
        ("open('data.txt').read()", ""),
        ("x.save(3)", ""),
        ("# torch.save(x, 'x.pt')", ""),
        ("from torch import save; save(x, 'x.pt')", "writes a file"),
        ("import numpy as n; n.savez('x.npz', x)", "writes a file"),
        ("from subprocess import run as r; r(['ls'])", "starts a program"),
        ("text = \"use open('x', 'w')\"", ""),
        ("open(\n    'x',\n    mode='w',\n)", "writes a file"),
        ("open('data+more.txt').read()", ""),
        ("path.open('w')", "writes a file"),
        (f"x = y{'.f()' * 300}", ""),  # a function that recurses for each of these would fail
    ],
)
def test_files_and_programs_are_mentioned(course: Course, code: str, sentence: str) -> None:
    """What the sandbox drops in silence is said in a sentence with its line."""
    exercise = course.exercises[0]
    exercise.starter.write_text(f"import os, torch\n\n{code}\n")
    said = list(side_effects(exercise))
    assert [text.partition(". ")[0] for text in said] == ([f"Line 3 of double.py {sentence}"] if sentence else [])
    assert bool(list(side_effects(exercise))) == bool(sentence)
