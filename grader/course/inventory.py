"""Which files a course has: all, those that students get, and those that have no place in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from grader.course.layout import (
    COURSE_FILE,
    TOPICS,
    Places,
    files_there,
    is_description,
    page_of,
    shared_code,
    staff_files,
)
from grader.model import Course


def given_files(course: Course) -> list[Path]:
    """All files that a student has of a course, as paths from its root."""
    wanted = (Path(COURSE_FILE), TOPICS, *_students_files(course))
    return [path for path in wanted if (course.root / path).is_file()]


def released_files(course: Course) -> tuple[Path, ...]:
    """The files that a released copy has as they are, as paths from the course's root; not the YAML files."""
    found = (path for path in _students_files(course) if not is_description(path))
    return tuple(path for path in found if os.path.lexists(course.root / path))


def _students_files(course: Course) -> Iterator[Path]:
    """Where the files of modules and exercises are that students have, whether they are there or not."""
    for module in course.modules:
        yield page_of(module.id)
        for exercise in module.exercises:
            places = Places.of(exercise)
            yield from (places.starter, places.description, places.shown_checks, places.probes[0])
            yield from (places.shown / name for name in exercise.data)


def whole_course(course: Course) -> tuple[Path, ...]:
    """Every file that grading a course needs, as paths from its root."""
    staff = (path.relative_to(course.root) for path in staff_files(course))
    return tuple(dict.fromkeys((*given_files(course), *staff)))


def stray_files(course: Course) -> list[str]:
    """Files under exercises/ and solutions/ that have no place in a course, as paths from its root."""
    # A file with a misspelt name is read by nobody, and its author would believe that it counts.
    known, there = set(_known_files(course)), files_there(course)
    broken = {(item.module, item.id) for item in course.broken}  # told by themselves
    return sorted(path.as_posix() for path in there if path not in known and path.parts[1:3] not in broken)


def _known_files(course: Course) -> Iterator[Path]:
    yield TOPICS
    yield from (path.relative_to(course.root) for path in shared_code(course.root).values())
    yield from _students_files(course)
    for exercise in course.exercises:
        places = Places.of(exercise)
        yield from (places.reference, places.hidden_checks, places.probes[1], places.mistakes)
        yield from (path.relative_to(course.root) for path in (*exercise.wrong, *exercise.right))
