"""What a course teaches: exercises/topics.yaml, and which exercise or page speaks of which topic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from grader.course.files import read_file
from grader.course.layout import TOPICS, page_of
from grader.course.schema import TopicsFile
from grader.model import Course, Module
from grader.model.errors import CourseError

_TOPICS_LINE = re.compile(r"^Topics:(?P<ids>[^\n]*(?:\n[ \t]*[TX][-0-9a-z]+[^\n]*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Topic:
    """One thing that a course teaches.

    Attributes:
        id: such as T22.
        name: in a few words.
        documents: names of the source documents that it comes from; empty where it is the course's own.
    """

    id: str
    name: str
    documents: tuple[str, ...] = ()


def read_topics(course: Course) -> dict[str, Topic]:
    """The topics of exercises/topics.yaml by id; none if there is no such file.

    Raises:
        CourseError: the file is not a mapping from ids to names.
    """
    path = course.root / TOPICS
    if not path.is_file():
        return {}
    problems: list[str] = []
    file = read_file(path, TOPICS.as_posix(), TopicsFile, problems)
    if file is None:
        raise CourseError(*problems)
    return {id: Topic(id, entry.name, tuple(entry.documents)) for id, entry in file.root.items()}


def page_topics(course: Course, module: Module) -> tuple[str, ...]:
    """The ids on the line `Topics: ...` of a module's page, which may go on in further lines of ids."""
    page = course.root / page_of(module.id)
    if not page.is_file():
        return ()
    lines = _TOPICS_LINE.finditer(page.read_text(encoding="utf-8"))
    return tuple(id for found in lines for id in re.split(r"[\s,]+", found["ids"].strip()) if id)


@dataclass(frozen=True)
class Coverage:
    """Where each topic of a course is met.

    Attributes:
        topics: all of topics.yaml, by id.
        taught: numbers of exercises by topic.
        pages: folders of modules whose page teaches it, by topic.
        unknown: places and ids that topics.yaml does not have.
    """

    topics: Mapping[str, Topic]
    taught: Mapping[str, tuple[str, ...]]
    pages: Mapping[str, tuple[str, ...]]
    unknown: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, course: Course) -> Coverage:
        """That of a course.

        Raises:
            CourseError: topics.yaml is not as it must be.
        """
        topics = read_topics(course)
        taught: dict[str, list[str]] = {}
        pages: dict[str, list[str]] = {}
        unknown = []
        for module in course.modules:
            for exercise in module.exercises:
                for id in exercise.topics:
                    taught.setdefault(id, []).append(exercise.number)
            for id in page_topics(course, module):
                pages.setdefault(id, []).append(module.id)
                if id not in topics:
                    unknown.append((page_of(module.id).as_posix(), id))
        return cls(topics, _frozen(taught), _frozen(pages), tuple(unknown))

    @property
    def met(self) -> tuple[str, ...]:
        """The ids that an exercise or a page teaches, in the order of topics.yaml."""
        return tuple(id for id in self.topics if id in self.taught or id in self.pages)

    def places(self, id: str) -> str:
        """Where a topic is taught: numbers of exercises, then the pages of modules; "" if nowhere."""
        return ", ".join([*self.taught.get(id, ()), *(f"page {module}" for module in self.pages.get(id, ()))])


def _frozen(places: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {id: tuple(dict.fromkeys(found)) for id, found in places.items()}
