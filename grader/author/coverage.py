"""Topics and the places where a course speaks of them."""

from __future__ import annotations

from collections.abc import Iterator

from grader.course.layout import TOPICS
from grader.course.topics import Coverage
from grader.report.safe import for_terminal

_NAME = 52
_UNTAUGHT = "-"


def unknown_topics(coverage: Coverage) -> list[str]:
    """A sentence for each id on a module's page that topics.yaml does not have."""
    return [
        f"{page}: Topics: {id} is not in {TOPICS.as_posix()}; add it there or mend it here"
        for page, id in coverage.unknown
    ]


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """A row for each topic with the exercises that teach it and the pages that tell of it; then the totals."""
    yield f"{'topic':<{_NAME + 7}}where"
    for topic in coverage.topics.values():
        name = for_terminal(topic.name, one_line=True)
        name = name if len(name) <= _NAME else f"{name[: _NAME - 3]}..."
        yield f"{topic.id:<6}{name:<{_NAME}} {places_of(coverage, topic.id)}"
    yield ""
    yield f"{len(coverage.met)} of {len(coverage.topics)} topics are taught by an exercise or told on a page"
    documents = dict.fromkeys(document for topic in coverage.topics.values() for document in topic.documents)
    for document in documents:
        ids = [topic.id for topic in coverage.topics.values() if document in topic.documents]
        met = sum(id in coverage.met for id in ids)
        yield f"  {for_terminal(document, one_line=True)}: {met} of {len(ids)}"


def places_of(coverage: Coverage, id: str) -> str:
    """Numbers of exercises, then the pages of modules; a dash where there is neither."""
    pages = [f"page {module}" for module in coverage.told.get(id, ())]
    return ", ".join([*coverage.taught.get(id, ()), *pages]) or _UNTAUGHT
