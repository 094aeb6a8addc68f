"""What a course teaches: exercises/topics.yaml, and which exercise or page teaches which topic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course.files import TopicEntry, TopicsFile, read_file
from grader.course.layout import TOPICS, page_of
from grader.model import Course, Module

_TOPICS_LINE = re.compile(r"^Topics:(?P<ids>[^\n]*(?:\n[ \t]*[TX][-0-9a-z]+[^\n]*)*)", re.MULTILINE)


def read_topics(course: Course) -> dict[str, TopicEntry]:
    """Return the topics of exercises/topics.yaml by id; {} if there is no such file.

    Raises:
        CourseError: the file is not a mapping from ids to names.
    """
    path = course.root / TOPICS
    return read_file(path, TOPICS.as_posix(), TopicsFile).root if path.is_file() else {}


@dataclass(frozen=True)
class Coverage:
    """The exercises and pages that teach each topic.

    Attributes:
        topics: all of topics.yaml, by id.
        taught: numbers of exercises by topic.
        pages: folders of modules whose page teaches it, by topic.
        unknown: places and ids that topics.yaml does not have.
    """

    topics: Mapping[str, TopicEntry]
    taught: Mapping[str, Sequence[str]]
    pages: Mapping[str, Sequence[str]]
    unknown: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, course: Course) -> Coverage:
        """Return which exercises and pages of a course teach which topics.

        Raises:
            CourseError: topics.yaml is not a mapping from ids to names.
        """
        topics = read_topics(course)
        taught, pages, unknown = dict[str, list[str]](), dict[str, list[str]](), list[tuple[str, str]]()
        for module in course.modules:
            for exercise in module.exercises:
                for id in dict.fromkeys(exercise.topics):
                    taught.setdefault(id, []).append(exercise.number)
            for id in _topics_of_page(course, module):
                pages.setdefault(id, []).append(module.id)
                if id not in topics:
                    unknown.append((page_of(module.id).as_posix(), id))
        return cls(topics, taught, pages, unknown)

    def counts(self, document: str = "") -> tuple[int, int, int]:
        """Count the topics of the course by what teaches them.

        Args:
            document: the source document whose topics count; "" for all topics.

        Returns:
            The number of topics that an exercise teaches, of those that only a page teaches, and of those that nothing
            teaches.
        """
        ids = {id for id, topic in self.topics.items() if not document or document in topic.documents}
        by_exercise = ids & self.taught.keys()
        page_only = (ids & self.pages.keys()) - by_exercise
        return len(by_exercise), len(page_only), len(ids - by_exercise - page_only)

    def where_taught(self, id: str) -> str:
        """Return where a topic is taught, as one text; "" if nowhere.

        An example is "02-1, 03-2, page 02_memory": two exercises, and the page of a module.
        """
        return ", ".join([*self.taught.get(id, ()), *(f"page {module}" for module in self.pages.get(id, ()))])


def content_for_students(root: Path, path: Path) -> bytes:
    """Return the content of a course's file as students get it.

    A module's page loses its line of topic ids.

    Args:
        root: the course's folder.
        path: the path of the file from that folder.
    """
    text = (root / path).read_bytes()
    if path != page_of(path.parent.name):
        return text
    return re.sub(rb"\n*" + _TOPICS_LINE.pattern.encode(), b"", text, flags=re.MULTILINE)


def _topics_of_page(course: Course, module: Module) -> list[str]:
    """Return the topic ids on a module's page.

    They stand on the line `Topics: ...`, and on lines of ids directly below it.
    """
    page = course.root / page_of(module.id)
    lines = _TOPICS_LINE.finditer(page.read_text(encoding="utf-8")) if page.is_file() else ()
    return list(dict.fromkeys(id for line in lines for id in re.split(r"[\s,]+", line["ids"].strip()) if id))
