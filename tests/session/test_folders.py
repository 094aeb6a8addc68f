"""A course's shared code and files, and a folder that check and workers both see."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

import pytest
from support import COURSES, FORK

from grader.course.answers import as_submitted
from grader.course.load import load_course
from grader.lanes.lane import Lane
from grader.lanes.open import open_lane
from grader.model import Course, Outcome

CHECKS = '''
import pickle
import torch
from grader.check import check, require, same_values

@check("C1", try_this="write(path)")
def check_sees(student, tmp_path):
    """Sees what is written, renamed and removed"""
    (tmp_path / "old.txt").write_text("old")
    (tmp_path / "kept.txt").write_text("kept")
    made = tmp_path / "made"
    made.mkdir()
    student.work(tmp_path)
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    require(found == ["deep", "deep/new.bin", "kept.txt", "made"], str(found), str(found))
    require((tmp_path / "deep" / "new.bin").read_bytes() == bytes(range(256)), "other bytes")

@check("C1", try_this="write(path)")
def check_hands_over_no_more(student, tmp_path):
    """Hands over what is among the arguments, and nothing beside it"""
    (tmp_path / "secret.txt").write_text("expected")
    (tmp_path / "own.txt").write_text("own")
    require(student.around(tmp_path / "own.txt") == ["own.txt"], "it sees more")

@check("C1", try_this="write(path)")
def check_next(student, tmp_path):
    """Begins with an empty folder"""
    require(not list(tmp_path.iterdir()), "there is something")
    require(student.around(tmp_path / "x") == [], "the worker still has something")

@check("C1", try_this="write(path)")
def check_bad(student, tmp_path):
    """Takes plain files alone"""
    student.bad(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    require(names == ["plain.txt"], str(names), str(names))

@check("C1", try_this="write(path)")
def check_huge(student, tmp_path):
    """Takes so much and no more"""
    student.huge(tmp_path / "huge")

@check("C1", try_this="write(path)")
def check_raises(student, tmp_path):
    """Takes what was written before an error"""
    try:
        student.halfway(tmp_path / "half.txt")
    except ValueError:
        require((tmp_path / "half.txt").read_text() == "half", "nothing is there")

@check("C1", try_this="write(path)")
def check_to_reference(student, reference, tmp_path):
    """Gives the reference nothing of the student's"""
    student.halfway_well(tmp_path / "x.pickle")
    reference.halfway_well(tmp_path / "x.pickle")

@check("C1", try_this="write(path)")
def check_pickle(student, tmp_path):
    """Reads no pickle"""
    student.pickled(tmp_path / "x.pickle")
    pickle.loads((tmp_path / "x.pickle").read_bytes())
'''

ANSWER = """
import os, pickle
from pathlib import Path

def work(folder):
    (folder / "deep").mkdir()
    os.rename(folder / "old.txt", folder / "deep" / "new.bin")
    (folder / "deep" / "new.bin").write_bytes(bytes(range(256)))

def around(path):
    return sorted(one.name for one in path.parent.iterdir())

def bad(folder):
    (folder / "plain.txt").write_text("plain")
    os.symlink("/etc/passwd", folder / "link")
    os.symlink("/etc", folder / "folder")
    try:
        os.mkfifo(folder / "pipe")  # behind the full wall it cannot
    except PermissionError:
        pass

def huge(path):
    with open(path, "wb") as file:
        file.truncate(40 << 20)

def halfway(path):
    path.write_text("half")
    raise ValueError("no more")

def halfway_well(path):
    path.write_text("half")

class Evil:
    def __reduce__(self):
        return (os.getpid, ())

def pickled(path):
    path.write_bytes(pickle.dumps(Evil()))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course of files whose first exercise has the checks of above."""
    root = tmp_path_factory.mktemp("parts") / "course"
    shutil.copytree(COURSES / "parts", root)
    staff = root / "solutions" / "01_parts" / "outer"
    (staff / "check_outer.py").write_text(CHECKS)
    (staff / "outer.py").write_text(ANSWER)
    return load_course(root)


@pytest.fixture(scope="module")
def lane(course: Course) -> Iterator[Lane]:
    """A lane with both exercises."""
    with open_lane(course.exercises, FORK) as opened:
        yield opened


@pytest.fixture(scope="module")
def outcomes(course: Course, lane: Lane) -> dict[str, Outcome]:
    """What becomes of the checks of above, each by its id."""
    run = lane.run(course.exercises[0], {"outer.py": ANSWER.encode()}, 0)
    return {outcome.check: outcome for outcome in run.outcomes}


@pytest.mark.parametrize("check", ["sees", "hands_over_no_more", "next", "bad", "raises"])
def test_a_path_means_the_same_file(outcomes: dict[str, Outcome], check: str) -> None:
    """Files go to the worker and come back, plain ones, and those that a call is given."""
    assert (outcomes[check].verdict, outcomes[check].detail) == ("passed", "")


def test_too_much_is_refused(outcomes: dict[str, Outcome]) -> None:
    """A file that is too large fails the check, and is not read here."""
    assert outcomes["huge"].verdict == "failed"
    assert "leaves files that cannot be handed over" in outcomes["huge"].message


@pytest.mark.parametrize(
    ("check", "why"),
    [("to_reference", "is not handed to the reference"), ("pickle", "a check reads no pickle while a file")],
)
def test_what_a_student_wrote_runs_nowhere_else(outcomes: dict[str, Outcome], check: str, why: str) -> None:
    """Not in the reference's process, nor in the check's: an author who asks for it is told."""
    assert outcomes[check].verdict == "broken"
    assert why in outcomes[check].detail


def tokens(course: Course, lane: Lane, text: str, files: Mapping[str, str] | None = None) -> dict[str, Outcome]:
    sources = {"tokens.py": text, **(files or {})}
    run = lane.run(course.exercises[1], {name: source.encode() for name, source in sources.items()}, 0)
    return {outcome.check: outcome for outcome in run.outcomes}


def test_data_cannot_be_changed(course: Course, lane: Lane) -> None:
    """They lie where the course has them, bytes and all, as the course has them, and are not to be written to."""
    text = """
import os, torch
mode = os.stat("data/words.txt").st_mode & 0o777, open("start.bin", "rb").read()
assert mode == (0o444, b"\\x00\\xff\\xfe\\x80"), mode
def encode(text): return torch.tensor([0, 5])
"""
    assert tokens(course, lane, text, {"start.py": "x = 1"})["first"].verdict == "passed"


def test_shared_code_is_staffs_alone(course: Course, lane: Lane) -> None:
    """A submission that imports it does not load; a known answer that names it has it."""
    assert "No module named 'shared'" in tokens(course, lane, "import shared.words")["first"].message
    answer = b"from shared.words import words_of\n"
    assert sorted(as_submitted(course.exercises[1], answer)) == ["shared/__init__.py", "shared/words.py", "tokens.py"]
    assert sorted(as_submitted(course.exercises[1], b"import torch\n")) == ["tokens.py"]


def test_a_submission_may_be_a_package(course: Course, lane: Lane) -> None:
    """Modules in folders are imported, also by relative imports."""
    text = "from tools.words import encode\n"
    words = "import torch\nfrom . import numbers\ndef encode(text): return torch.tensor(numbers.BOTH)\n"
    files = {"tools/__init__.py": "", "tools/words.py": words, "tools/numbers.py": "BOTH = [0, 5]\n"}
    assert tokens(course, lane, text, files)["first"].verdict == "passed"
