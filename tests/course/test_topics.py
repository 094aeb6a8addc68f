"""Topics: what a course says it teaches, and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import WarmGrade

from grader.author.pages import map_page
from grader.author.text import course_problems
from grader.course.layout import TOPICS, page_of
from grader.course.load import load_course
from grader.course.topics import Coverage, read_topics
from grader.model.errors import CourseError


@pytest.fixture
def course(home: Path) -> Path:
    """A copy of the pretend course with three topics and a page that tells of two."""
    (home / TOPICS).write_text("T1: Tensors\nT2: {name: Sums, from: [slides, tutorial]}\nX-env: {name: Ranks}\n")
    (home / page_of("01_basics")).write_text("# Basics\n\nDoubling.\n\nTopics: T2\n  T9\n")
    return home


def test_topics_have_names_and_documents(course: Path) -> None:
    """A topic is a name, or a name with the documents that it comes from; an odd id or key is told with its file."""
    topics = read_topics(load_course(course))
    assert {id: (topic.name, topic.documents) for id, topic in topics.items()} == {
        "T1": ("Tensors", []),
        "T2": ("Sums", ["slides", "tutorial"]),
        "X-env": ("Ranks", []),
    }
    (course / TOPICS).write_text("topic: Tensors\nT2: {name: Sums, of: [slides]}\n")
    with pytest.raises(CourseError) as caught:
        read_topics(load_course(course))
    told = " ".join(caught.value.problems)
    assert TOPICS.as_posix() in told and "topic" in told and "T2" in told


def test_coverage_names_the_places(course: Path) -> None:
    """Exercises teach, pages tell, also on a second line of ids; what topics.yaml lacks is unknown."""
    coverage = Coverage.of(load_course(course))
    assert coverage.taught["T1"] == ["01-1", "01-2"]
    assert coverage.pages == {"T2": ["01_basics"], "T9": ["01_basics"]}
    assert [coverage.counts(document) for document in ("slides", "tutorial", "")] == [(0, 1, 0), (0, 1, 0), (1, 1, 1)]
    assert coverage.unknown == [(page_of("01_basics").as_posix(), "T9")]
    rows = map_page(load_course(course), coverage).splitlines()
    start = rows.index("## Topics")
    assert rows[start + 4 : start + 9] == [
        "| document | exercise | page only | nowhere |",
        "|---|---|---|---|",
        "| slides | 0 | 1 | 0 |",
        "| tutorial | 0 | 1 | 0 |",
        "| all | 1 | 1 | 1 |",
    ]
    assert [row.split("|")[2].split()[-1] for row in rows[-3:]] == ["01-2", "01_basics", "-"]
    assert course_problems(load_course(course), coverage) == [
        "exercises/01_basics/README.md: Topics: T9 is not in exercises/topics.yaml; add it there or fix it here"
    ]


def test_needs_are_earlier_exercises(course: Path) -> None:
    """What an exercise needs stands before it in the course."""
    file = course / "exercises/01_basics/double/exercise.yaml"
    file.write_text(file.read_text() + "needs: [total]\n")
    with pytest.raises(CourseError, match=r"needs: no exercise total comes before this one in course\.yaml"):
        load_course(course)


def test_pages_of_a_course(type_grade: WarmGrade, course: Path, tmp_path: Path) -> None:
    """The map has every exercise with its needs and time, the other page what is read of each wrong answer."""
    file = course / "exercises/01_basics/total/exercise.yaml"
    file.write_text(file.read_text() + "needs: [double]\nminutes: 75\n")
    run = type_grade("pages", str(tmp_path / "docs"), "double", "--start", "fork", cwd=course)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = (tmp_path / "docs/course-map.md").read_text().splitlines()
    (total,) = [line for line in lines if line.startswith("| 01-2")]
    assert total.endswith("| 01-1 | 1 h 15 min |")
    assert "| T2 Sums | page 01_basics |" in lines
    text = (tmp_path / "docs/messages.md").read_text()
    wrong = sorted(path.stem for path in (course / "solutions/01_basics/double/wrong").glob("*.py"))
    assert [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")] == wrong
    assert text.count("FAIL") >= len(wrong)
