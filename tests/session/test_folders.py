"""A course's shared code and files of data, and the modules of a submission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from support import COURSES, FORK

from grader.course.answers import as_submitted
from grader.course.load import load_course
from grader.lanes.lane import Lane
from grader.lanes.open import open_lane
from grader.model import Course, Outcome


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
