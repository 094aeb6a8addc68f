"""A class at a glance as a page of HTML: no script, no other file but the authors' own pages, which it leads to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.model import GradedCheck, Verdict
from grader.model.score import counted, points_text
from grader.report.html import rendered
from grader.report.overview import (
    CheckTally,
    ExerciseTally,
    GroupTold,
    Overview,
    mean_points,
    middle_text,
    spread,
)
from grader.report.words import VERDICTS, hidden_text, score_text

_MOST_LINES = 40
_MOST_NAMES = 12


@dataclass(frozen=True)
class _Bar:
    """A bar in parts, each with a class by which it is coloured and its width in percent."""

    parts: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, **counts: int) -> _Bar:
        total = sum(counts.values())
        return cls(tuple((kind, round(100 * count / total, 2)) for kind, count in counts.items() if count))


@dataclass(frozen=True)
class _Person:
    """A report's name, and where its page lies."""

    name: str
    page: str


@dataclass(frozen=True)
class _Group:
    """A group as the template shows it."""

    name: str
    size: str
    alike: str
    people: tuple[_Person, ...]
    more: int
    author: _Person
    path: str
    rows: tuple[tuple[str, str, str, str, str], ...]
    code: str
    told: str


@dataclass(frozen=True)
class _Exercise:
    """An exercise as the template shows it."""

    id: str
    name: str
    points: str
    handed: int
    missing: int
    blank: int
    full: int
    mean: str
    explained: int
    unexplained: int
    middle: str
    bar: _Bar
    checks: tuple[tuple[CheckTally, _Bar], ...]
    mistakes: tuple[tuple[str, int, tuple[_Person, ...], int], ...]
    groups: tuple[_Group, ...]


def overview_page(overview: Overview) -> str:
    """The page; it lies beside the folder that the authors' pages are in."""
    people = {row.author: _Person(row.author, row.page) for row in overview.rows}
    scores = [row.score for row in overview.rows]
    counts = spread(scores)
    most = max((count for _, count in counts), default=0) or 1
    return rendered(
        "overview.html",
        overview=overview,
        hidden_text=hidden_text,
        when=overview.at[:16].replace("T", " "),
        submissions=counted(len(overview.rows), "submission"),
        middle=middle_text(scores),
        spread=[(name, count, round(100 * count / most, 2)) for name, count in counts],
        exercises=[_exercise(tally, people) for tally in overview.exercises],
        open=[
            (VERDICTS[verdict][0], f"{exercise.number} {exercise.title}", people[author], _why(verdict))
            for author, exercise, verdict in overview.open
        ],
        rows=[(people[row.author], row, score_text(row.score)) for row in overview.rows],
    )


def _why(verdict: Verdict) -> str:
    told = {
        Verdict.BROKEN: "a check of ours is broken; --staff writes detail into the report: fix it, then --rerun broken",
        Verdict.INCONCLUSIVE: "the machine was too busy to judge speed; grade once more",
        Verdict.NOT_RUN: "it needs what that machine has not",
    }
    return told[verdict]


def _exercise(tally: ExerciseTally, people: dict[str, _Person]) -> _Exercise:
    exercise, handed = tally.exercise, len(tally.scores)
    mistakes = [
        (sentence, len(authors), tuple(people[author] for author in authors[:_MOST_NAMES]), _more(authors))
        for sentence, authors in tally.mistakes
    ]
    part = handed - tally.full - tally.blank
    return _Exercise(
        exercise.id,
        f"{exercise.number} {exercise.title}",
        points_text(exercise.points),
        handed,
        tally.missing,
        tally.blank,
        tally.full,
        mean_points(tally),
        tally.explained,
        tally.unexplained,
        middle_text(tally.scores),
        _Bar.of(passed=tally.full, lost=part, blank=tally.blank + tally.missing),
        tuple((check, _Bar.of(passed=check.passed, lost=check.lost, open=check.undecided)) for check in tally.checks),
        tuple(mistakes),
        tuple(_group(group, people) for group in tally.groups),
    )


def _more(authors: Sequence[str]) -> int:
    return max(0, len(authors) - _MOST_NAMES)


def _group(group: GroupTold, people: dict[str, _Person]) -> _Group:
    example = group.example
    lines = [f"{number:>4}  {line}" for number, line in example.lines[:_MOST_LINES]]
    if more := len(example.lines) - len(lines):
        lines.append(f"      ... {counted(more, 'more line')}")
    return _Group(
        group.name,
        counted(len(group.authors), "submission"),
        " behave alike" if len(group.authors) > 1 else "",
        tuple(people[author] for author in group.authors[:_MOST_NAMES]),
        _more(group.authors),
        people[example.author],
        example.path,
        tuple(_rows(example.rows)),
        "\n".join(lines),
        f"No wrong answer can be made of it: {group.why_not}." if group.why_not else "",
    )


def _rows(rows: Sequence[GradedCheck]) -> Iterator[tuple[str, str, str, str, str]]:
    before = ""
    for row in rows:
        title = row.check.title + hidden_text(row.check.shown)
        verdict, message = row.outcome.verdict, row.outcome.message.split("\n")[0]
        # What a file that does not load is told of each check is read once.
        yield verdict.value, VERDICTS[verdict][0], row.check.contract, title, message if message != before else ""
        before = message
