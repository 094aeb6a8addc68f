"""A class at a glance: what came of each exercise and each check, and what staff should look at; as data and a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median

from grader.model import Check, Exercise, GradedCheck, GradedExercise, Score, Verdict
from grader.model.score import points_text

BARS = 10
"""A distribution has so many bars; full marks are a bar of their own behind them."""

_WHAT_TO_DO = {
    Verdict.BROKEN: "a check is broken; --staff writes its error into the report: fix it, then use --rerun broken",
    Verdict.INCONCLUSIVE: "the machine was too busy to judge speed; grade again",
    Verdict.NOT_RUN: "the check needs hardware or files that the machine lacked",
}


@dataclass
class CheckTally:
    """How one check ended in a class, by verdict."""

    check: Check
    verdicts: Counter[Verdict] = field(default_factory=Counter)

    @property
    def passed(self) -> int:
        """How many passed it."""
        return self.verdicts[Verdict.PASSED]

    @property
    def undecided(self) -> int:
        """For how many nothing was decided."""
        return sum(count for verdict, count in self.verdicts.items() if not verdict.decided)

    @property
    def lost(self) -> int:
        """How many lost its points."""
        return sum(self.verdicts.values()) - self.passed - self.undecided


@dataclass(frozen=True)
class GroupRow:
    """Submissions that no known wrong answer explains, and that behave alike; the shortest of them is an example.

    Attributes:
        name: by which it is called.
        exercise: the exercise.
        authors: of the reports.
        why_not: why no wrong answer can be made of it, or "".
        author: of the example; the name of the report.
        path: where its file lay, from the folder of submissions; "" if that is unknown.
        rows: the checks that it lost points on.
        lines: by number, those of its file that are not the starter's.
    """

    name: str
    exercise: Exercise
    authors: tuple[str, ...]
    why_not: str
    author: str
    path: str
    rows: tuple[GradedCheck, ...]
    lines: tuple[tuple[int, str], ...]


@dataclass
class ExerciseTally:
    """What came of one exercise.

    Attributes:
        exercise: the exercise.
        scores: of those who handed it in.
        full: how many got all points.
        blank: how many handed it in as it was given out.
        missing: how many handed nothing in.
        tallies: by id, the checks in the order in which they ran.
        sentences: those of known mistakes, each with the reports that have it.
        groups: of those that no sentence explains, the largest first.
    """

    exercise: Exercise
    scores: list[Score] = field(default_factory=list)
    full: int = 0
    blank: int = 0
    missing: int = 0
    tallies: dict[str, CheckTally] = field(default_factory=dict)
    sentences: dict[str, list[str]] = field(default_factory=dict)
    groups: list[GroupRow] = field(default_factory=list)

    def add(self, author: str, graded: GradedExercise, mistakes: Sequence[str]) -> None:
        """Count the exercise of one submission, with the sentences that its author reads."""
        if not graded.handed_in:
            self.missing += 1
            return
        self.scores.append(graded.score)
        self.blank += graded.state == "not_started"
        self.full += graded.score.earned == graded.score.possible
        for row in graded.checks:
            self.tallies.setdefault(row.check.id, CheckTally(row.check)).verdicts[row.verdict] += 1
        for mistake in mistakes:
            self.sentences.setdefault(mistake, []).append(author)

    @property
    def mistakes(self) -> list[tuple[str, list[str]]]:
        """The sentences of known mistakes with the reports that have them, the most frequent first."""
        return sorted(self.sentences.items(), key=lambda item: (-len(item[1]), item[0]))

    @property
    def mean(self) -> str:
        """The mean in points, of those who handed it in."""
        own = shares(self.scores)
        return points_text(round(mean(own) * self.exercise.points / 10) * 10) if own else "-"

    @property
    def hardest(self) -> CheckTally | None:
        """The check that most lost, if anybody did."""
        worst = max(self.tallies.values(), key=lambda tally: tally.lost, default=None)
        return worst if worst is not None and worst.lost else None

    @property
    def explained(self) -> int:
        """How many read the sentence of a known mistake."""
        return sum(map(len, self.sentences.values()))

    @property
    def unexplained(self) -> int:
        """How many lost points for a reason that no sentence names."""
        return sum(len(group.authors) for group in self.groups)


@dataclass(frozen=True)
class AuthorRow:
    """One submission.

    Attributes:
        author: the name of its report.
        authors: whose it is.
        cells: by exercise, points or a sign; see `report.gradebook`.
        score: of all exercises together.
        page: where its report lies, from the class's page, as an address.
    """

    author: str
    authors: tuple[str, ...]
    cells: Mapping[str, str]
    score: Score
    page: str


@dataclass(frozen=True)
class Overview:
    """A class at a glance.

    Attributes:
        course: its title.
        at: the time of the latest result.
        exercises: those that anything was graded of, in order.
        rows: of all submissions, by name.
        open: what is undecided: author, exercise, and which verdict it is.
        notes: what staff should know of submissions: author, numbers of exercises, and the note.
        unmatched: whether some files have no author or exercise.
        names: of people, by the number that is shown otherwise.
    """

    course: str
    at: str
    exercises: tuple[ExerciseTally, ...]
    rows: tuple[AuthorRow, ...]
    open: tuple[tuple[str, Exercise, Verdict], ...]
    notes: tuple[tuple[str, str, str], ...]
    unmatched: bool
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def groups(self) -> list[GroupRow]:
        """All groups, the largest first."""
        groups = [group for tally in self.exercises for group in tally.groups]
        return sorted(groups, key=lambda group: (-len(group.authors), bool(group.why_not)))

    @property
    def middle(self) -> str:
        """Mean and median of the class, and whether exercises that were not handed in count in them."""
        text = middle_text([row.score for row in self.rows])
        return f"{text}; what was not handed in counts as 0" if any(tally.missing for tally in self.exercises) else text


def shares(scores: Sequence[Score]) -> list[float]:
    """What was earned of what is decided, as shares; those of which nothing is decided are left out."""
    decided = [(score.earned, score.possible - score.undecided) for score in scores]
    return [earned / possible for earned, possible in decided if possible]


def spread(scores: Sequence[Score]) -> list[tuple[str, int]]:
    """A distribution: bars of ten percent each, then full marks."""
    counts = [0] * (BARS + 1)
    for share in shares(scores):
        counts[int(share * BARS)] += 1
    step = 100 // BARS
    names = [f"{step * place} to {step * (place + 1) - 1} %" for place in range(BARS)]
    return list(zip([*names, "all points"], counts, strict=True))


def middle_text(scores: Sequence[Score]) -> str:
    """Mean and median in words."""
    own = shares(scores)
    return f"mean {percent(mean(own))}, median {percent(median(own))}" if own else "nothing is decided"


def percent(share: float) -> str:
    """A share for people."""
    return f"{100 * share:.0f} %"


def overview_page(overview: Overview) -> str:
    """The page, without a script. It lies beside the folder of the authors' pages, and links to them."""
    from grader.report.html import rendered  # jinja2, which no terminal needs

    return rendered(
        "overview.html",
        overview=overview,
        pages={row.author: row.page for row in overview.rows},
        when=overview.at[:16].replace("T", " "),
        spread=spread([row.score for row in overview.rows]),
        what_to_do=_WHAT_TO_DO,
        middle_text=middle_text,
    )


def similar_page(course: str, items: Sequence[object], names: Mapping[str, str]) -> str:
    """The page of pairs that are to be read side by side.

    Args:
        course: its title.
        items: what `batch.similar` found in each exercise.
        names: of people, by the number that is shown otherwise.
    """
    from grader.report.html import rendered

    return rendered("similar.html", course=course, items=items, names=names, percent=percent)
