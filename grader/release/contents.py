"""Which files a copy has, and what they contain: starters, shown checks, YAML files, pages.

A file that is not listed here is not copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader.course import layout
from grader.course.answers import starter_digest
from grader.course.files import read_yaml
from grader.course.topics import given_text
from grader.model import Course, Exercise, HandIn
from grader.model.errors import CourseError
from grader.model.score import in_points, points_text
from grader.release.answers import Facts
from grader.release.notebooks import notebooks_of

_TEMPLATES = Path(__file__).with_name("templates")
_WIDTH = 110
_IGNORED = ".grade/\n.ipynb_checkpoints/\n__pycache__/\n.venv/\n"
"""What git is to leave out of a student's repository."""

_STAFFS_KEYS = {"column", "weight", "extensions", "late_days"}
"""What a hand-in says to staff: where its points go, what they weigh, and who may be late."""

Files = dict[str, bytes]
"""A copy: contents by path, as it is typed with slashes."""


def chosen(course: Course, handin: HandIn | None) -> Course:
    """A course with the exercises of a hand-in alone, and without modules that have none of them."""
    if handin is None:
        return course
    modules = [
        replace(module, exercises=tuple(item for item in module.exercises if item.id in handin.exercises))
        for module in course.modules
    ]
    return replace(course, modules=tuple(module for module in modules if module.exercises), handins=(handin,))


def copied_files(part: Course) -> Files:
    """The files that go along as they are: starters, shown checks and their probes, pages without ids of topics.

    Raises:
        CourseError: one of them is a link, or a starter is not what it was when its digest was written.
    """
    files: Files = {}
    problems = [problem for exercise in part.exercises for problem in _starter_problems(exercise)]
    for path in layout.released_files(part):
        source = part.root / path
        if source.is_symlink() or not source.is_file():
            problems.append(f"{path.as_posix()}: this is a link or a folder; put the file itself there")
        else:
            files[path.as_posix()] = given_text(part.root, path)
    if problems:
        raise CourseError(*problems)
    return files


def _starter_problems(exercise: Exercise) -> list[str]:
    """A teacher who tried an exercise in its place would give the solution out."""
    places = layout.Places.of(exercise)
    where = places.starter.as_posix()
    if not exercise.starter.is_file():
        return [f"{where}: there is no starter; write it"]
    if exercise.starter_digest and starter_digest(exercise.starter.read_bytes()) != exercise.starter_digest:
        return [
            f"{where}: this is not the starter whose digest stands in {places.description.name}; restore "
            f"it, or, if it was corrected, run  grade verify --write-digests {exercise.id}"
        ]
    return []


def yaml_files(part: Course, facts: Mapping[str, Facts]) -> Files:
    """The course's and the exercises' YAML files, written again: their comments are for staff."""
    ids = [exercise.id for exercise in part.exercises]
    files = {layout.COURSE_FILE: _dumped(_course_file(part))}
    if (part.root / layout.TOPICS).is_file():
        files[layout.TOPICS.as_posix()] = _dumped(read_yaml(part.root / layout.TOPICS, layout.TOPICS.as_posix()))
    for exercise in part.exercises:
        path, fact = layout.Places.of(exercise).description, facts[exercise.id]
        data = read_yaml(part.root / path, path.as_posix())
        data["needs"] = [id for id in data.get("needs", []) if id in ids]
        data["starter"] = starter_digest(exercise.starter.read_bytes())
        if fact.withheld.checks:
            # These may name hidden checks, and hold nothing back where some checks are withheld.
            data.pop("values", None)
            data.pop("void", None)
            data["withheld"] = {**vars(fact.withheld), "points": in_points(fact.withheld.points)}
        if fact.counters:
            data["counters"] = {check: dict(counters) for check, counters in fact.counters.items()}
        files[path.as_posix()] = _dumped({key: value for key, value in data.items() if value not in ([], {}, None)})
    return files


def _course_file(part: Course) -> dict[Any, Any]:
    data = read_yaml(part.root / layout.COURSE_FILE, layout.COURSE_FILE)
    exercises = {module.id: [exercise.id for exercise in module.exercises] for module in part.modules}
    handins = {handin.id for handin in part.handins}
    data["modules"] = [
        {**entry, "exercises": exercises[entry["folder"]]} for entry in data["modules"] if entry["folder"] in exercises
    ]
    data["handins"] = [
        {key: value for key, value in entry.items() if key not in _STAFFS_KEYS}
        for entry in data.get("handins", [])
        if entry["id"] in handins
    ]
    return data


def page_files(part: Course, facts: Mapping[str, Facts], *, notebooks: bool) -> Files:
    """The pages for students, and for programs that help them to write code; notebooks, if they are wanted."""
    requires = read_yaml(part.root / layout.COURSE_FILE, layout.COURSE_FILE).get("requires") or "tensorgrade"
    words = {
        "part": part,
        "requires": requires,
        "hidden": any(fact.withheld.checks for fact in facts.values()),
        "notebooks": notebooks,
        "facts": facts,
        "layout": layout,
        "points_text": points_text,
        "pages": [module for module in part.modules if (part.root / layout.page_of(module.id)).is_file()],
    }
    # Markdown, in which nothing is escaped; the author of the course wrote all words.
    templates = Environment(  # noqa: S701
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    pages = [layout.STUDENTS_PAGE.as_posix(), layout.ASSISTANTS_PAGE.as_posix()]
    files = {name: templates.get_template(name).render(words).encode() for name in pages}
    return {**files, ".gitignore": _IGNORED.encode(), **(notebooks_of(part, requires) if notebooks else {})}


def _dumped(data: Mapping[Any, Any]) -> bytes:
    return yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True, width=_WIDTH).encode()
