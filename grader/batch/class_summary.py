"""A class at a glance, for staff: read from the journal once, and shown as a page."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, median
from urllib.parse import quote

from grader.batch.feedback import MOST_LINES, failing_function_lines
from grader.batch.journal import Journal
from grader.batch.reports import reports
from grader.batch.results_folder import ResultsFolder, author_page
from grader.course.marks import with_caps_text
from grader.grading.plan import RunPlan
from grader.grading.store import Saved
from grader.grading.unexplained import SimilarSubmissions, add_to_group, is_unexplained, lost_checks, named_groups
from grader.model import Check, Course, Exercise, FinalScore, GradedCheck, GradedExercise, Report, Score, Verdict
from grader.model.messages import Setup, Start
from grader.model.score import late_days_text, points_text
from grader.report.gradebook import cell_text
from grader.report.html import CodeLine, render_template

_MOST_LOOKED_AT = 100
"""So many of a group are looked at for the shortest of them."""

_BARS = 10
"""A distribution has so many bars; full marks are a bar of their own behind them."""

_WHAT_TO_DO = {
    Verdict.BROKEN: "a check is broken; --staff writes its error into the report: fix it, then use --rerun broken",
    Verdict.INCONCLUSIVE: "the machine was too busy to judge speed; grade again",
    Verdict.NOT_RUN: "the check needs hardware or files that the machine lacked",
}


def _lines_not_in_starter(exercise: Exercise, text: bytes) -> tuple[CodeLine, ...]:
    """Return the first lines of a student's file that are not in the starter.

    They show what the student wrote where nothing says which lines are wrong. `(4, "    return x", False)` is line 4;
    False says that it has no mark.
    """
    starter = with_caps_text(exercise, exercise.starter.read_bytes()) if exercise.starter.is_file() else b""
    given = {line.strip() for line in starter.decode("utf-8", "replace").splitlines()}
    lines = enumerate(text.decode("utf-8", "replace").splitlines(), 1)
    return tuple((number, line, False) for number, line in lines if line.strip() not in {"", *given})[:MOST_LINES]


@dataclass
class ExerciseTally:
    """Counts the results of a class in one exercise.

    Attributes:
        exercise: the exercise.
        scores: the scores of the authors who handed it in.
        full: the number of authors with all points.
        blank: the number of authors who handed in the unchanged starter.
        missing: the number of authors who handed in nothing.
        checks: the checks in the order in which they ran, each with how many passed, lost, or left it open; by id.
        sentences: the sentences of known mistakes, each with the authors whose reports have it.
        groups: the groups of submissions that no sentence explains, the largest first.
    """

    exercise: Exercise
    scores: list[Score] = field(default_factory=list)
    full: int = 0
    blank: int = 0
    missing: int = 0
    checks: dict[str, tuple[Check, Counter[str]]] = field(default_factory=dict)
    sentences: dict[str, list[str]] = field(default_factory=dict)
    groups: list[SimilarSubmissions] = field(default_factory=list)

    def add(self, author: str, graded: GradedExercise) -> None:
        """Add one author's result in the exercise to the counts."""
        if not graded.handed_in:
            self.missing += 1
            return
        self.scores.append(graded.score)
        self.blank += graded.state == "not_started"
        self.full += graded.score.earned == graded.score.possible
        for row in graded.checks:
            kind = "passed" if row.verdict is Verdict.PASSED else "lost" if row.verdict.is_decided else "open"
            self.checks.setdefault(row.check.id, (row.check, Counter()))[1][kind] += 1
        for sentence in dict.fromkeys(mistake.sentence for mistake in graded.mistakes):
            self.sentences.setdefault(sentence, []).append(author)

    @property
    def mistakes(self) -> list[tuple[str, list[str]]]:
        """Return the sentences of known mistakes, each with the authors who made it.

        The most frequent one comes first. An example is `[("You sum all rows.", ["ada", "bob"])]`.
        """
        return sorted(self.sentences.items(), key=lambda item: (-len(item[1]), item[0]))

    @property
    def mean(self) -> str:
        """Return the mean points of the authors who handed the exercise in, such as "7.5".

        Undecided points are left out. Return "-" if no points are decided.
        """
        own = _earned_shares(self.scores)
        return points_text(round(mean(own) * self.exercise.points / 10) * 10) if own else "-"

    @property
    def hardest(self) -> tuple[Check, int] | None:
        """Return the check that most authors lost points on, with the number of these authors.

        The result is None if nobody lost points.
        """
        worst = max(self.checks.values(), key=lambda row: row[1]["lost"], default=None)
        return (worst[0], worst[1]["lost"]) if worst and worst[1]["lost"] else None

    @property
    def explained_count(self) -> int:
        """Return how many authors have a known mistake in their reports."""
        return len({author for authors in self.sentences.values() for author in authors})

    @property
    def unexplained_count(self) -> int:
        """Return how many authors lost points in a function that no known mistake explains."""
        return len({author for group in self.groups for author in group.members})


@dataclass(frozen=True)
class AuthorRow:
    """The row of one submission on the page of the class.

    Attributes:
        authors: the members, if the author is a group.
        cells: the points, or a sign in place of them, by exercise; see `report.gradebook`.
        score: the score that counts of all exercises together.
        late: the days by which it was late, and the score without their cost, in words; or "".
        page: the address of the author's page, from the class's page.
    """

    authors: tuple[str, ...]
    cells: Mapping[str, str]
    score: Score
    late: str
    page: str


@dataclass(frozen=True)
class Example:
    """The shortest submission of a group of similar answers, which is shown for all of them.

    Attributes:
        author: the name of the report.
        path: the path of its file in the folder of submissions; "" if that is unknown.
        rows: the checks that it lost points on.
        lines: the lines of its file that the cause of the lost points is about; if unknown, lines that were not given.
    """

    author: str
    path: str
    rows: Sequence[GradedCheck]
    lines: Sequence[CodeLine]


class ClassSummary:
    """The results of a class: what is in a journal, read once.

    Args:
        course: the course as it is now, with its points and starters.
        journal: open; the files of examples are read from it.
        folder: the folder that it lies in.
        on_report: receives each report, one after another.
        names: True if people are named of whom the platform gave a number, too.
        over_term: final scores by author, if the grace days of all hand-ins are known; else None.

    Attributes:
        course: the same.
        handin: the title of the hand-in, or "".
        at: the time of the latest result.
        exercises: the tallies of the exercises of which anything was graded, in order.
        groups: the groups of answers that no known mistake explains, the largest first.
        rows: the rows of all submissions, by the names of their reports.
        open: the undecided results: author, exercise, and verdict.
        by_staff: the authors whose points a person has not entered yet, by exercise, rule and title.
        notes: the numbers of exercises, by author and by a note that staff should know.
        unmatched: True if some files have no author or exercise.
        names: the names of people, by the number that is shown otherwise.
    """

    def __init__(
        self,
        course: Course,
        journal: Journal,
        folder: ResultsFolder,
        on_report: Callable[[Report], object] = lambda report: None,
        *,
        names: bool = False,
        over_term: Mapping[str, FinalScore] | None = None,
    ) -> None:
        self.course, self._journal = course, journal
        self._people = journal.names()
        self.names = self._people if names else {}
        self.at, self.unmatched = "", folder.has_unmatched()
        self.rows: dict[str, AuthorRow] = {}
        self.open: list[tuple[str, Exercise, Verdict]] = []
        self.by_staff = defaultdict[tuple[str, str, str], list[str]](list)
        self.notes = defaultdict[tuple[str, str], list[str]](list)
        self._tallies = {exercise.id: ExerciseTally(exercise) for exercise in course.exercises}
        self._unexplained: dict[str, SimilarSubmissions] = {}
        plan = RunPlan(course, course.exercises, Setup(Start.FORK), journal.handin())  # nothing is run
        rules = folder.rules(course, journal, journal.handin())
        self.handin = rules.handin.title if rules.handin else ""
        for report in reports(plan, journal, replace(rules, over_term=over_term)):
            self._add(report)
            on_report(report)
        self.exercises = [tally for tally in self._tallies.values() if tally.scores or tally.missing]
        self.groups = named_groups(self._unexplained)
        for group in self.groups:
            self._tallies[group.exercise.id].groups.append(group)

    def _add(self, report: Report) -> None:
        """Add a report to the tallies, the groups, the notes and the rows of the class."""
        author = report.author
        numbers = {row.exercise: row.result for row in self._journal.current(author)}
        for graded in report.exercises:
            id = graded.exercise.id
            self._tallies[id].add(author, graded)
            if is_unexplained(graded):
                add_to_group(self._unexplained, author, numbers[id], graded)
            for note in graded.notes:
                self.notes[author, note].append(graded.exercise.number)
            by_hand = graded.set_by
            rows = [row for row in graded.checks if not (row.verdict.is_decided or row.set_by or by_hand)]
            for row in (row for row in rows if row.check.id in graded.exercise.staff):
                self.by_staff[id, row.check.id, row.check.title].append(author)
            open_ = dict.fromkeys(row.verdict for row in rows if row.check.id not in graded.exercise.staff)
            self.open += [(author, graded.exercise, verdict) for verdict in open_]
        cells = {graded.exercise.id: cell_text(graded) for graded in report.exercises}
        page = quote(os.fsencode(author_page(author)))
        late = late_days_text(report.final_score, report.policy)
        self.rows[author] = AuthorRow(report.authors or (author,), cells, report.final_score, late, page)
        self.at = max(self.at, report.graded_at)

    @property
    def mean_and_median(self) -> str:
        """Return a text with the mean and the median of the class.

        An example is "mean 75 %, median 75 %; what was not handed in counts as 0". The part behind the semicolon is
        left out if everybody handed in all exercises.
        """
        text = _mean_and_median_text([row.score for row in self.rows.values()])
        return f"{text}; what was not handed in counts as 0" if any(tally.missing for tally in self.exercises) else text

    def page(self) -> str:
        """Return the page of the class as HTML without scripts.

        The page links to the authors' pages in the same folder of results.
        """
        scores = [row.score for row in self.rows.values()]
        values = {"spread": _histogram(scores), "what_to_do": _WHAT_TO_DO, "middle_text": _mean_and_median_text}
        return render_template("overview.html", overview=self, when=self.at[:16].replace("T", " "), **values)

    def example(self, group: SimilarSubmissions) -> Example:
        """Return the shortest submission of a group, as an example of it."""
        saved = results_of_group(self._journal, group)[0]
        graded = saved.outcomes.graded(group.exercise)
        text, rows = saved.text, lost_checks(graded, group.function)
        lines = (
            failing_function_lines(graded, saved.path or "", text, rows[0] if group.function else None) if text else ()
        )
        lines = lines or (_lines_not_in_starter(group.exercise, text) if text else ())
        # The name of a download's file begins with that of a person.
        path = saved.path or "" if self.names or saved.author not in self._people else ""
        return Example(saved.author, path, rows, lines)


def results_of_group(journal: Journal, group: SimilarSubmissions) -> list[Saved]:
    """Return up to 100 results of a group of similar submissions, the shortest file first.

    Results without a file come last.
    """
    results = [journal.result(number) for number in list(group.members.values())[:_MOST_LOOKED_AT]]
    return sorted(results, key=lambda saved: (saved.text is None, len(saved.text or b""), saved.author))


def _earned_shares(scores: Sequence[Score]) -> list[float]:
    """Return the share of the decided points that each score earned.

    A score of 3 of 10 points, of which 4 are undecided, becomes 0.5. Scores without decided points are left out.
    """
    decided = [(score.earned, score.possible - score.undecided) for score in scores]
    return [earned / possible for earned, possible in decided if possible]


def _histogram(scores: Sequence[Score]) -> list[tuple[str, int]]:
    """Return the distribution of scores: bars of ten percent each, and a bar of all points.

    Returns:
        Pairs of the label of a bar and the number of scores in it: `("0 to 9 %", 0)`, `("10 to 19 %", 2)`, and so on to
        `("all points", 5)`. Scores without decided points are in no bar.
    """
    counts = Counter(min(int(share * _BARS), _BARS) for share in _earned_shares(scores))  # extra credit may give more
    step = 100 // _BARS
    names = [f"{step * place} to {step * (place + 1) - 1} %" for place in range(_BARS)]
    return [(name, counts[place]) for place, name in enumerate([*names, "all points"])]


def _mean_and_median_text(scores: Sequence[Score]) -> str:
    """Return the mean and the median of scores, such as "mean 75 %, median 75 %"."""
    own = _earned_shares(scores)
    return f"mean {100 * mean(own):.0f} %, median {100 * median(own):.0f} %" if own else "nothing is decided"
