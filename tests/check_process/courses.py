"""Courses with checks of a test's own: copies of the pretend course, and a course of one exercise."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support import COURSES, FORK, Grade, grader_of, open_lane

from grader.course.load import load_course
from grader.model import Course


def course_with(folder: Path, shown: str | None = None, hidden: str | None = None) -> Course:
    """A copy of the pretend course; its exercise `double` has these checks, or its own for None, or none for ""."""
    root = Path(shutil.copytree(COURSES / "tiny", folder / "course"))
    for place, text in (("exercises", shown), ("solutions", hidden)):
        path = root / place / "01_basics/double/check_double.py"
        if text is not None:
            path.write_text(text)
        if text == "":
            path.unlink()
    return load_course(root)


def without_solutions(course: Course) -> Course:
    """The course as students have it, with no reference in it."""
    shutil.rmtree(course.root / "solutions")
    return load_course(course.root)


def course_of_one(root: Path, text: str, reference: str, shown: str, hidden: str) -> Course:
    """A course of one exercise, `task`."""
    for name, content in {
        "course.yaml": "title: T\nrequires: tensorgrade>=0.1\nmodules: [{folder: m, title: M, exercises: [task]}]\n",
        "exercises/topics.yaml": "T1: {name: One}\n",
        "exercises/m/README.md": "# M\n",
        "exercises/m/task/task.py": text,
        "exercises/m/task/exercise.yaml": (
            "number: 01-1\ntitle: Task\nkind: implement\ndifficulty: 1\npoints: 10\ntopics: [T1]\nhints: [a, b, c]\n"
        ),
        "exercises/m/task/check_task.py": shown,
        "solutions/m/task/task.py": reference,
        "solutions/m/task/check_task.py": hidden,
    }.items():
        if content:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    return load_course(root)


@contextmanager
def graded(course: Course, folder: Path, exercise: str = "double") -> Iterator[Grade]:
    """Grades texts as the first exercise of a course."""
    answers = folder / "answers"
    answers.mkdir()
    with open_lane(course.exercises[:1], FORK) as lane:
        grade = grader_of(course, lane, answers)
        yield lambda text, exercise=exercise, seed=0: grade(text, exercise, seed)
