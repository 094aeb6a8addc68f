"""Pages of a class: of each author, to return with their own lines; and of all of them, for staff, at a glance.

The page of the class says what came of each exercise and check, and has groups of what no known mistake explains.
"""

from __future__ import annotations

import os
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from statistics import mean, median
from urllib.parse import quote

from grader.batch.book import RETURNED, UNMATCHED, Out, page_of, reports
from grader.batch.journal import MOODLES, Journal, Noted
from grader.batch.policy import Rules
from grader.course.layout import NOTEBOOK
from grader.course.marks import with_marks
from grader.grading.plan import RunPlan
from grader.grading.store import Saved
from grader.grading.unexplained import Group, add_to, draft_text, in_order, is_unexplained, lost_rows
from grader.intake.match import place_in
from grader.model import Check, Course, Exercise, FinalScore, GradedCheck, GradedExercise, Report, Score, Verdict
from grader.model.files import whole_file
from grader.model.messages import Setup, Start
from grader.model.score import Causes, after_late_days, counted, points_text
from grader.report.export.formats import Options, markdown
from grader.report.gradebook import cell_text
from grader.report.html import CodeLine, page, rendered
from grader.report.people import People
from grader.report.safe import cut, for_terminal, prose
from grader.report.schema import ReportFile, line_of
from grader.report.words import VERDICTS

_AROUND, _MOST_LINES = 6, 16
_MOST_LOOKED_AT = 100
"""So many of a group are looked at for the shortest of them."""

_BARS = 10
"""A distribution has so many bars; full marks are a bar of their own behind them."""

_WHAT_TO_DO = {
    Verdict.BROKEN: "a check is broken; --staff writes its error into the report: fix it, then use --rerun broken",
    Verdict.INCONCLUSIVE: "the machine was too busy to judge speed; grade again",
    Verdict.NOT_RUN: "the check needs hardware or files that the machine lacked",
}

_STEP = "      "
_FEW_ROWS, _WIDE = 4, 70
_LEGEND = "in: handed in; all: with all points; known: made a known mistake; new: not explained"


def write_feedback(place: Out, report: Report, journal: Journal) -> None:
    """Write the page of an author, with those of their lines that the cause of the lost points is about; and as text.

    Raises:
        CourseError: it cannot be written.
    """
    graded = {one.exercise.id: one for one in report.exercises}
    modules = journal.modules("author", report.author)
    lines = {id: own_lines(graded[id], path, text) for _, id, path, text in modules if id in graded}
    place.write_page(page_of(report.author), page(report, lines))
    place.write_page(page_of(report.author, "md"), markdown(ReportFile.of(report), Options()))


def own_lines(graded: GradedExercise, path: str, text: bytes) -> tuple[CodeLine, ...]:
    """The function that the first failing check is about, with the line that raised; nothing if no line is known."""
    cause = Causes.of(graded.checks).cause
    # The lines of a notebook's module are not those that its author sees: they have no numbers.
    numbered = PurePosixPath(path).suffix != NOTEBOOK
    place = place_in(text, graded.exercise.file_name if numbered else path)
    if cause is None or (number := line_of(cause, replace(graded, place=place))) is None:
        return ()
    lines = text.decode("utf-8", "replace").splitlines()
    first = max((line for line in place.names.values() if line <= number), default=number)
    last = next((at for at in range(first, len(lines)) if lines[at][:1] not in ("", " ", "\t", ")", "#")), len(lines))
    if number > last:  # below the function
        first = last = number
    if last - first >= _MOST_LINES:
        first = max(first, number - _AROUND)
        last = min(last, first + _MOST_LINES - 1)
    while last > first and not lines[last - 1].strip():
        last -= 1
    raised = number not in place.names.values()
    return tuple(
        (line if numbered else None, lines[line - 1], raised and line == number) for line in range(first, last + 1)
    )


def _not_given(exercise: Exercise, text: bytes) -> tuple[CodeLine, ...]:
    """The first lines of a file that the starter lacks."""
    starter = with_marks(exercise, exercise.starter.read_bytes()) if exercise.starter.is_file() else b""
    given = {line.strip() for line in starter.decode("utf-8", "replace").splitlines()}
    lines = enumerate(text.decode("utf-8", "replace").splitlines(), 1)
    return tuple((number, line, False) for number, line in lines if line.strip() not in {"", *given})[:_MOST_LINES]


def return_pages(place: Out, journal: Journal, people: People) -> tuple[int, list[str]]:
    """Zip the pages for the bulk upload of the platform from which the submissions came.

    Moodle takes "Upload multiple feedback files in a zip": a folder `Participant_<id>_assignsubmission_file_` for each
    author, found by the number, which is each member's own where a team handed in. Canvas takes "Upload submissions":
    files whose names have the numbers of the user and of a file that was handed in; it shows the page under the name of
    that file, and to that user's whole group. Without a platform all pages lie beside each other, also as Markdown.

    Args:
        place: the folder of results.
        journal: of the batch.
        people: on the roster. Of a worksheet of Moodle, nobody gets a page whose number is not in it: it may be a
            team's, which another participant has.

    Returns:
        of how many authors there is a page, and whose pages no platform gives back by this zip.

    Raises:
        CourseError: it cannot be written.
    """
    starts, count, unknown = journal.returned(), 0, []
    target = place.path / RETURNED
    with whole_file(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for noted in journal.submissions():
            page, text = (place.path / page_of(noted.author, end) for end in ("html", "md"))
            names = {page.name: page, text.name: text}
            if starts:
                names = {f"{start}feedback.html": page for start in _starts(noted, starts, people)}
            if not page.is_file():
                continue
            for name, path in names.items():
                # A name on this machine need not be text, and a name in a zip must.
                archive.write(path, os.fsencode(name).decode("utf-8", "backslashreplace"))
            count += bool(names)
            unknown += [] if names else [noted.author]
    return count, unknown


def _starts(noted: Noted, starts: Mapping[str, str], people: People) -> Iterator[str]:
    """What the names of an author's files begin with that their platform takes back; nothing if it takes none."""
    start = starts.get(noted.author, "")
    if not start and people.kind == "moodle":  # the default group has no number, and its members have
        start = f"{MOODLES}{noted.author}_assignsubmission_file_/"
    if not start.startswith(MOODLES):
        yield from [start] if start else []
        return
    for member in noted.members:
        own = f"{MOODLES}{member}_"
        if member.isdecimal() and (people.kind != "moodle" or people.person_of(member)):
            yield start.replace(f"{MOODLES}{noted.author}_", own, 1)


@dataclass
class ExerciseTally:
    """What came of one exercise.

    Attributes:
        exercise: the exercise.
        scores: of those who handed it in.
        full: how many got all points.
        blank: how many handed it in as it was given out.
        missing: how many handed nothing in.
        checks: by id, the checks in the order in which they ran, each with how many passed, lost, or left it open.
        sentences: those of known mistakes, each with the reports that have it.
        groups: of those that no sentence explains, the largest first.
    """

    exercise: Exercise
    scores: list[Score] = field(default_factory=list)
    full: int = 0
    blank: int = 0
    missing: int = 0
    checks: dict[str, tuple[Check, Counter[str]]] = field(default_factory=dict)
    sentences: dict[str, list[str]] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)

    def add(self, author: str, graded: GradedExercise) -> None:
        """Count the exercise of one submission."""
        if not graded.handed_in:
            self.missing += 1
            return
        self.scores.append(graded.score)
        self.blank += graded.state == "not_started"
        self.full += graded.score.earned == graded.score.possible
        for row in graded.checks:
            kind = "passed" if row.verdict is Verdict.PASSED else "lost" if row.verdict.decided else "open"
            self.checks.setdefault(row.check.id, (row.check, Counter()))[1][kind] += 1
        for sentence in dict.fromkeys(mistake.sentence for mistake in graded.mistakes):
            self.sentences.setdefault(sentence, []).append(author)

    @property
    def mistakes(self) -> list[tuple[str, list[str]]]:
        """The sentences of known mistakes with the reports that have them, the most frequent first."""
        return sorted(self.sentences.items(), key=lambda item: (-len(item[1]), item[0]))

    @property
    def mean(self) -> str:
        """The mean in points, of those who handed it in."""
        own = _shares(self.scores)
        return points_text(round(mean(own) * self.exercise.points / 10) * 10) if own else "-"

    @property
    def hardest(self) -> tuple[Check, int] | None:
        """The check that most lost, and how many that were, if anybody did."""
        worst = max(self.checks.values(), key=lambda row: row[1]["lost"], default=None)
        return (worst[0], worst[1]["lost"]) if worst and worst[1]["lost"] else None

    @property
    def explained(self) -> int:
        """How many read the sentence of a known mistake."""
        return sum(map(len, self.sentences.values()))

    @property
    def unexplained(self) -> int:
        """How many lost points for a reason that no sentence names."""
        return sum(len(group.members) for group in self.groups)


@dataclass(frozen=True)
class AuthorRow:
    """One submission.

    Attributes:
        authors: whose it is.
        cells: by exercise, points or a sign; see `report.gradebook`.
        score: what counts of all exercises together.
        late: how late it was and what it was before that, in words, or "".
        page: where the author's page lies, from the class's page, as an address.
    """

    authors: tuple[str, ...]
    cells: Mapping[str, str]
    score: Score
    late: str
    page: str


@dataclass(frozen=True)
class Example:
    """The shortest submission of a group.

    Attributes:
        author: the name of the report.
        path: where its file lay, from the folder of submissions; "" if that is unknown.
        rows: the checks that it lost points on.
        lines: of its file, what the cause of the lost points is about; where that is unknown, what was not given.
    """

    author: str
    path: str
    rows: Sequence[GradedCheck]
    lines: Sequence[CodeLine]


class Class:
    """What is in a journal, read once.

    Args:
        course: as it is now: points and starters are its.
        journal: open; the files of examples are read from it.
        out: the folder that it lies in.
        on_report: receives each report, one after another.
        names: whether people are named of whom the platform gave a number, too.
        over_term: by author, what counts where the grace days of all hand-ins are known; None where they are not.

    Attributes:
        course: the same.
        handin: the title of the hand-in, or "".
        at: the time of the latest result.
        exercises: those that anything was graded of, in order.
        groups: of what nothing explains, the largest first.
        rows: of all submissions, by the names of their reports.
        open: what is undecided: author, exercise, and which verdict it is.
        notes: what staff should know of submissions: by author and note, the numbers of exercises.
        unmatched: whether some files have no author or exercise.
        names: of people, by the number that is shown otherwise.
    """

    def __init__(
        self,
        course: Course,
        journal: Journal,
        out: Path,
        on_report: Callable[[Report], object] = lambda report: None,
        *,
        names: bool = False,
        over_term: Mapping[str, FinalScore] | None = None,
    ) -> None:
        self.course, self._journal = course, journal
        self._people = journal.names()
        self.names = self._people if names else {}
        self.at, self.unmatched = "", (out / UNMATCHED).is_file()
        self.rows: dict[str, AuthorRow] = {}
        self.open: list[tuple[str, Exercise, Verdict]] = []
        self.notes = defaultdict[tuple[str, str], list[str]](list)
        self._tallies = {exercise.id: ExerciseTally(exercise) for exercise in course.exercises}
        self._unexplained: dict[str, Group] = {}
        plan = RunPlan(course, course.exercises, Setup(Start.FORK), journal.handin())  # nothing is run
        rules = Rules.read(out, course, journal.handin(), self._people, journal.platform())
        self.handin = rules.handin.title if rules.handin else ""
        for report in reports(plan, journal, replace(rules, over_term=over_term)):
            self._add(report)
            on_report(report)
        self.exercises = [tally for tally in self._tallies.values() if tally.scores or tally.missing]
        self.groups = in_order(self._unexplained)
        for group in self.groups:
            self._tallies[group.exercise.id].groups.append(group)

    def _add(self, report: Report) -> None:
        author = report.author
        numbers = {row.exercise: row.result for row in self._journal.current(author)}
        for graded in report.exercises:
            id = graded.exercise.id
            self._tallies[id].add(author, graded)
            if is_unexplained(graded):
                add_to(self._unexplained, author, numbers[id], graded)
            for note in graded.notes:
                self.notes[author, note].append(graded.exercise.number)
            open_ = dict.fromkeys(row.verdict for row in graded.checks if not row.verdict.decided)
            self.open += [(author, graded.exercise, verdict) for verdict in open_]
        cells = {graded.exercise.id: cell_text(graded) for graded in report.exercises}
        page = quote(os.fsencode(page_of(author)))
        late = after_late_days(report.total, report.policy)
        self.rows[author] = AuthorRow(report.authors or (author,), cells, report.total, late, page)
        self.at = max(self.at, report.graded_at)

    @property
    def middle(self) -> str:
        """Mean and median of the class, and whether exercises that were not handed in count in them."""
        text = _middle_text([row.score for row in self.rows.values()])
        return f"{text}; what was not handed in counts as 0" if any(tally.missing for tally in self.exercises) else text

    def page(self) -> str:
        """The page, without a script. It lies beside the folder of the authors' pages, and links to them."""
        scores = [row.score for row in self.rows.values()]
        values = {"spread": _spread(scores), "what_to_do": _WHAT_TO_DO, "middle_text": _middle_text}
        return rendered("overview.html", overview=self, when=self.at[:16].replace("T", " "), **values)

    def example(self, group: Group) -> Example:
        """The shortest file of a group."""
        saved = self._members(group)[0]
        graded = saved.outcomes.graded(group.exercise)
        text = saved.text
        lines = own_lines(graded, saved.path or "", text) or _not_given(group.exercise, text) if text else ()
        # The name of a download's file begins with that of a person.
        path = saved.path or "" if self.names or saved.author not in self._people else ""
        return Example(saved.author, path, lost_rows(graded), lines)

    def draft(self, group: Group) -> str:
        """A new known wrong answer of the shortest file of a group of which one can be made.

        Raises:
            ValueError: of none of them.
        """
        if group.why_not:
            raise ValueError(group.why_not)
        members = {noted.author: noted.members for noted in self._journal.submissions()}
        why = "the journal has none of its files; run the batch once more with --rerun all"
        for saved in self._members(group):
            if saved.text is not None:
                people = (saved.author, *members[saved.author], self._people.get(saved.author, saved.author))
                try:
                    return draft_text(saved.outcomes.graded(group.exercise), saved.text, people)
                except ValueError as error:
                    why = str(error)
        raise ValueError(why)

    def _members(self, group: Group) -> list[Saved]:
        """The first of a group, those with the shortest files first, and those last of which there is no file."""
        results = [self._journal.result(number) for number in list(group.members.values())[:_MOST_LOOKED_AT]]
        return sorted(results, key=lambda saved: (saved.text is None, len(saved.text or b""), saved.author))


def _shares(scores: Sequence[Score]) -> list[float]:
    """What was earned of what is decided, as shares; those of which nothing is decided are left out."""
    decided = [(score.earned, score.possible - score.undecided) for score in scores]
    return [earned / possible for earned, possible in decided if possible]


def _spread(scores: Sequence[Score]) -> list[tuple[str, int]]:
    """A distribution: bars of ten percent each, then full marks."""
    counts = Counter(min(int(share * _BARS), _BARS) for share in _shares(scores))  # extra credit may give more
    step = 100 // _BARS
    names = [f"{step * place} to {step * (place + 1) - 1} %" for place in range(_BARS)]
    return [(name, counts[place]) for place, name in enumerate([*names, "all points"])]


def _middle_text(scores: Sequence[Score]) -> str:
    """Mean and median in words."""
    own = _shares(scores)
    return f"mean {100 * mean(own):.0f} %, median {100 * median(own):.0f} %" if own else "nothing is decided"


def class_lines(overview: Class, width: int) -> Iterator[str]:
    """For a terminal: the class, its exercises, and what is undecided."""
    people = counted(len(overview.rows), "submission")
    yield from prose(f"{overview.course.title}: {people}, {overview.middle}", width, further="  ")
    yield ""
    yield f"{'in':>5}{'all':>5}{'mean':>6}{'known':>7}{'new':>5}  exercise"
    for tally in overview.exercises:
        numbers = f"{len(tally.scores):>5}{tally.full:>5}{tally.mean:>6}{tally.explained:>7}{tally.unexplained:>5}  "
        yield from prose(f"{numbers}{tally.exercise.number} {tally.exercise.title}", width, further=" " * len(numbers))
        if tally.hardest:
            check, lost = tally.hardest
            indent = " " * (len(numbers) + 2 if width >= _WIDE else len(_STEP))
            yield from prose(f"{lost} lose {check.contract} {check.title}", width, indent)
    yield from prose(_LEGEND, width, "  ", "  ")
    for verdict, count in Counter(verdict for _, _, verdict in overview.open).items():
        text = f"{VERDICTS[verdict][0]}: {counted(count, 'exercise')} of submissions; the page names them."
        yield from prose(text, width, further="  ")


def group_lines(overview: Class, most: int, width: int) -> Iterator[str]:
    """For a terminal: the largest groups, each with an example: what it loses, and the lines that this is about."""
    groups = overview.groups
    if groups:
        shown = f" ({most} of {len(groups)}; --all shows the others)" if len(groups) > most else ""
        yield ""
        text = f"Answers that no known mistake explains, grouped by behaviour{shown}:"
        yield from prose(text, width, further="  ")
    for group in groups[:most]:
        count, example = counted(len(group.members), "submission"), overview.example(group)
        yield from prose(f"{group.name}  {count} of {group.exercise.number} {group.exercise.title}", width, "", _STEP)
        where = f", {example.path}" if example.path else ""
        yield from prose(for_terminal(f"{example.author}{where}", one_line=True), width, _STEP, "  ")
        for row in example.rows[:_FEW_ROWS]:
            title = f"{VERDICTS[row.outcome.verdict][0]:<6}{row.check.contract} {row.check.title}"
            yield from prose(title, width, _STEP, _STEP)
        if (more := len(example.rows) - _FEW_ROWS) > 0:
            yield f"{_STEP}... {counted(more, 'more check')}"
        for number, line, _ in example.lines:
            yield cut(f"{_STEP}{number or '':>4}  {for_terminal(line, one_line=True)}", width)
        if group.why_not:
            yield from prose(f"No wrong answer can be made of it: {group.why_not}.", width, _STEP, "  ")
