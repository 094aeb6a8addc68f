"""A course's shared code and files of data, the modules of a submission, and folders that are replaced."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support import COURSES, FORK, open_lane

from grader.course.answers import as_submitted
from grader.course.load import load_course
from grader.model import Course, Outcome
from grader.runner.lane import Lane

pytestmark = pytest.mark.lane


@pytest.fixture(scope="module")
def course() -> Course:
    """A course with data and shared code."""
    return load_course(COURSES / "parts")


@pytest.fixture(scope="module")
def lane(course: Course) -> Iterator[Lane]:
    """A lane with both exercises."""
    with open_lane(course.exercises, FORK) as opened:
        yield opened


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


@pytest.mark.usefixtures("own_server")
def test_a_course_that_is_replaced_is_read_from_its_new_folders(tmp_path: Path) -> None:
    """`git checkout` makes folders anew, to which rules of the kernel for the old ones do not extend."""
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    exercises = load_course(root).exercises

    def replace() -> None:
        for name in ("exercises", "solutions"):
            shutil.copytree(root / name, tmp_path / "new")
            (root / name).rename(tmp_path / f"old-{len(os.listdir(tmp_path))}")
            (tmp_path / "new").rename(root / name)

    def graded(lane: Lane) -> list[str]:
        run = lane.run(exercises[0], {"double.py": b"def double(x):\n    return x\n"}, 0)
        return [outcome.verdict.value for outcome in run.outcomes]

    with open_lane(exercises, FORK) as lane:
        found = [[check.id for check in lane.collected.checks], ["failed", "error", "failed", "passed"]]
        replace()  # before references and probes are first read
        assert [[check.id for check in lane.collected.checks], graded(lane)] == found
        replace()
        lane.recollect(exercises)
        assert lane.collected.problems == {}
        # While the old folders are away and the new ones not there yet, checks that were read are run.
        (root / "exercises").rename(root / "away")
        assert len(lane.collected.checks) == len(found[0])
        (root / "away").rename(root / "exercises")
        assert graded(lane) == found[1]
