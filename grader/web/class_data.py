"""A graded class as the pages of staff need it, and what they write: points, comments, void checks, extensions, drafts.

What the pages show is read again when the journal, a table of staff or a file of the course changed; results that were
read before are not parsed again. Every change is worked out first (`PlannedChange`), and written only if its file still
is as it was then: two people at work never overwrite each other. The journal is open while something is written, so
that no other process writes at the same time.
"""

from __future__ import annotations

import difflib
import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.batch.changes import RegradedExercise, exercises_changed_by_staff, last_regrade
from grader.batch.class_pages import write_pages
from grader.batch.class_summary import ClassSummary
from grader.batch.comments import COMMENTS, Comment, code_cell, with_comment
from grader.batch.drafts import draft_path, draft_source, write_draft
from grader.batch.journal import Journal, SubmissionRecord
from grader.batch.known_results import KnownResults
from grader.batch.overrides import OVERRIDES, Override, with_override
from grader.batch.policy import Rules
from grader.batch.reports import notes_for_staff, report_from_journal, reports
from grader.batch.results_folder import GRADEBOOK, ROSTER, ResultsFolder
from grader.batch.run import BatchOptions
from grader.course.edits import FileEdit, edit_to_extend, edit_to_unvoid, edit_to_void, write_edit
from grader.course.files import validate
from grader.course.layout import COURSE_FILE, Places
from grader.course.load import load_course
from grader.grading.plan import RunPlan
from grader.grading.unexplained import SimilarSubmissions
from grader.model import Course, Exercise, GradedExercise, HandIn, Report
from grader.model.errors import CourseError, GraderError
from grader.model.files import failing_as, write_whole
from grader.model.messages import Setup, Start
from grader.model.progress import Cancelled
from grader.report.csv_table import without_rows
from grader.report.names import fold_name
from grader.web.long_work import record_end

_TABLES = (OVERRIDES, COMMENTS, ROSTER)


@dataclass(frozen=True)
class Snapshot:
    """A graded class as it was read from the folder of results and from the course.

    Attributes:
        course: the course as it was then.
        overview: the summary of the class, with its rows and groups.
        reports: the reports of all authors, by author name.
        files: the path and the text of each module, by author and exercise.
        rules: the tables of staff and the policy.
        version: a text that changes with the files that it was read from.
        options: the options of the last run that hold for the next one.
        note: a sentence on why this is an earlier state, or "".
    """

    course: Course
    overview: ClassSummary
    reports: Mapping[str, Report]
    files: Mapping[tuple[str, str], tuple[str, bytes]]
    rules: Rules
    version: str
    options: BatchOptions
    note: str = ""

    def members(self, group: SimilarSubmissions) -> list[str]:
        """Return the authors of a group of similar answers, those with the shortest files first."""
        key = group.exercise.id
        return sorted(group.members, key=lambda author: (len(self.files.get((author, key), ("", b""))[1]), author))

    def graded(self, author: str, exercise: str) -> GradedExercise | None:
        """Return a graded exercise of an author; None if the author has no such exercise."""
        report = self.reports.get(author)
        rows = report.exercises if report is not None else ()
        return next((one for one in rows if one.exercise.id == exercise), None)

    def staff_reasons(self, exercise: str, check: str) -> list[tuple[str, str]]:
        """Return the pairs of points and reason that staff entered by hand for a check.

        A pair is such as `("0.5", "The shape is right")`. The most frequent pair comes first.

        Args:
            exercise: the id of the exercise.
            check: the id of the check; "" for points of the whole exercise.
        """
        rows = [(f"{one.worth / 100:g}", one.why) for one in self.rules.overrides]
        rows = [row for row, one in zip(rows, self.rules.overrides, strict=True) if _is_about(one, exercise, check)]
        return sorted(dict.fromkeys(rows), key=lambda row: (-rows.count(row), row))


def _is_about(one: Override, exercise: str, check: str) -> bool:
    return (one.exercise, one.check) == (exercise, check)


@dataclass(frozen=True)
class PlannedChange:
    """A change that was worked out, and that nothing has written yet.

    Attributes:
        file: the name of the file that it changes, as pages show it.
        changed: the reports before and after, by author, of those whose score or line changes.
        diff: the diff of the file.
        replaces: a sentence on the entry that it replaces, or "".
        write: a function that writes it, unless somebody changed the file meanwhile.
    """

    file: str
    changed: Mapping[str, tuple[Report, Report]]
    diff: str
    replaces: str
    write: Callable[[], None]


@dataclass
class PagesWritten:
    """The pages of authors as they were last written, or are being written.

    Attributes:
        is_running: True if they are being written.
        done: the number of written pages.
        total: the number of all pages.
        lines: sentences on the result.
        problem: a sentence on why it ended, or "".
    """

    is_running: bool = False
    done: int = 0
    total: int = 0
    lines: Sequence[str] = ()
    problem: str = ""
    _stops: threading.Event = field(default_factory=threading.Event)

    def record_page(self, done: int, total: int) -> None:
        """Record how many pages are written.

        Raises:
            Cancelled: `stop` was called.
        """
        self.done, self.total = done, total
        if self._stops.is_set():
            raise Cancelled

    def stop(self) -> None:
        """Ask the thread that writes the pages to end; do not wait for it."""
        self._stops.set()


@dataclass
class ClassFolder:
    """The folder that `grade batch` wrote, and the course of the class.

    Attributes:
        root: the folder of the course.
        results: the folder of results.
        busy: a function that returns what keeps the journal in use for a long time, or "".
        pages: the state of writing the pages of authors.
        shows_names: True if pages name people of whom the platform gave a number, too.
    """

    root: Path
    results: ResultsFolder
    busy: Callable[[], str] = lambda: ""
    pages: PagesWritten = field(default_factory=PagesWritten)
    shows_names: bool = False
    _last: Snapshot | None = None
    _course: tuple[str, Course] | None = None
    _known: KnownResults = field(default_factory=KnownResults)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    # -- reading

    @property
    def course(self) -> Course:
        """The course as its files are now.

        Raises:
            CourseError: the course cannot be read.
        """
        if self._course is not None and self._course[0] == _modification_times(_files_of(self._course[1])):
            return self._course[1]
        course = load_course(self.root, whole=False)
        self._course = _modification_times(_files_of(course)), course
        return course

    def exercise(self, id: str) -> Exercise:
        """Return the exercise with this id, as the course is now.

        Raises:
            CourseError: the course has no such exercise any more.
        """
        for exercise in self.course.exercises:
            if exercise.id == id:
                return exercise
        raise CourseError(f"the course has no exercise {id} any more")

    def read(self) -> Snapshot:
        """Return the class as it is now.

        If the class cannot be read, or the journal is in use for a long time, the result is the state that was read
        last, with a note that says why.

        Raises:
            GraderError: the course, the journal or a table cannot be read, and there is no earlier state.
        """
        if (why := self._why_busy()) and self._last is not None:
            return replace(self._last, note=why)
        with self._lock:
            try:
                with self.results.journal(self._known) as journal:
                    course, tables = self.course, [_digest(self.results.path / name) for name in _TABLES]
                    version = "/".join([self._known.stamp, _modification_times(_files_of(course)), *tables])
                    if self._last is None or self._last.version != version:
                        self._last = self._read(course, journal, version)
            except GraderError as error:
                if self._last is None:
                    raise
                return replace(self._last, note=f"This is an earlier state: {error}")
            return self._last

    def _read(self, course: Course, journal: Journal, version: str) -> Snapshot:
        found: dict[str, Report] = {}
        files: dict[tuple[str, str], tuple[str, bytes]] = {}
        overview = ClassSummary(course, journal, self.results, lambda one: found.update({one.author: one}), names=True)
        for row in journal.current():
            saved = journal.result(row.result)
            if saved.text is not None:
                files[row.author, row.exercise] = saved.path or "", saved.text
        rules = self.results.rules(course, journal, journal.handin())
        return Snapshot(course, overview, found, files, rules, version, BatchOptions.of_next_run(journal.options()))

    def name_on_page(self, now: Snapshot, author: str) -> str:
        """Return how pages name an author: "Ada Lovelace (s123)", or "s123" alone.

        The author stands alone if pages show no names, or if the name is not known.
        """
        name = now.overview.names.get(author, "") if self.shows_names else ""
        return f"{name} ({author})" if name else author

    def changes(self) -> tuple[str, list[RegradedExercise], list[RegradedExercise], list[str]]:
        """Return what the last regrade changed, and what staff changed.

        Returns:
            When the last regrade began, or ""; the exercises that it changed; those that staff changed; and notes on
            tables of staff.
        """
        with self._open_journal() as journal:
            course, rules = self.course, self._rules(journal)
            at, changed = last_regrade(course, journal)
            plan = self._plan(course, journal)
            by_staff = list(exercises_changed_by_staff(plan, journal, rules))
            notes = list(notes_for_staff(plan, journal, rules))
        return at, [one for one in changed if one.differs], by_staff, notes

    def draft(self, group: SimilarSubmissions) -> tuple[Path, str]:
        """Return the path and the text of a draft of a known wrong answer.

        The draft is made of the shortest usable file of a group of similar answers. Nothing is written.

        Raises:
            CourseError: no draft can be made of any file, the course is a student's folder, or a draft exists already.
        """
        course = self.course
        path = draft_path(course, group)
        with self._open_journal() as journal:
            return path, draft_source(journal, group)

    # -- changes

    def plan_override(self, author: str, fields: Mapping[str, str]) -> PlannedChange:
        """Return the change that enters points by hand, or removes them.

        If the form has neither points nor a reason, the points that were entered before are removed.

        Args:
            author: the author name in the report.
            fields: the texts of the form, by `exercise`, `check`, `points` and `why`.

        Raises:
            GraderError: a field is wrong, or the journal or the table cannot be read.
        """
        typed = {key: value.strip() for key, value in fields.items()}
        typed["points"] = typed["points"].replace(",", ".")
        if not (typed["points"] or typed["why"]):
            return self._plan_withdrawal(author, typed["exercise"], typed["check"])
        if missing := [word for key, word in (("points", "points"), ("why", "reason")) if not typed[key]]:
            raise CourseError(f"type the {missing[0]}, too; the author reads both")
        row = validate({**typed, "author": author, "row": 0}, "this form", Override)
        with self._open_journal() as journal:
            noted, rules = self._submission_record(journal, author), self._rules(journal)
            names, before = rules.names(noted), self._report(journal, noted, rules)
            if problem := row.problem(self._report(journal, noted, replace(rules, overrides=()))):
                raise CourseError(problem)
            same = [one for one in rules.overrides if one.author in names and _is_same_check(one, row)]
            rest = [one for one in rules.overrides if one not in same]
            overrides = sorted([*rest, row], key=lambda one: not one.check)
            after = self._report(journal, noted, replace(rules, overrides=overrides))
            path = self.results.path / OVERRIDES
            content = with_override(path, self.course, row, author, names)
        said = [f"This replaces {one.worth / 100:g} points: {one.why}" for one in same]
        return self._planned_change(path, content, {author: (before, after)}, " ".join(said))

    def _plan_withdrawal(self, author: str, exercise: str, check: str) -> PlannedChange:
        """Return the change that removes points which staff entered by hand.

        Args:
            author: the author name in the report.
            exercise: the id of the exercise.
            check: the id of the check; "" for points of the whole exercise.
        """
        with self._open_journal() as journal:
            noted, rules = self._submission_record(journal, author), self._rules(journal)
            names, path = rules.names(noted), self.results.path / OVERRIDES
            gone = [
                one for one in rules.overrides if one.author in names and (one.exercise, one.check) == (exercise, check)
            ]
            if not gone:
                raise CourseError("no points were entered for this by hand; type the points and the reason")
            before = self._report(journal, noted, rules)
            rest = [one for one in rules.overrides if one not in gone]
            after = self._report(journal, noted, replace(rules, overrides=rest))
            content = without_rows(path, [one.row for one in gone])
        said = [f"This takes back {one.worth / 100:g} points: {one.why}" for one in gone]
        return self._planned_change(path, content, {author: (before, after)}, " ".join(said))

    def plan_comment(self, author: str, exercise: str, line: str, text: str) -> PlannedChange:
        """Return the change that writes or removes a comment on a line of code.

        A comment changes no points.

        Args:
            author: the author name in the report.
            exercise: the id of the exercise.
            line: the line number, as it was typed.
            text: the comment; "" removes it.

        Raises:
            GraderError: there is no such line, or the journal or the table cannot be read.
        """
        with self._open_journal() as journal:
            noted, rules = self._submission_record(journal, author), self._rules(journal)
            own = {id: content for _, id, _, content in journal.modules("author", author)}
            lines = own.get(exercise, b"").decode("utf-8", "replace").splitlines()
            if not line.strip().isdecimal() or not 0 < int(line) <= len(lines):
                raise CourseError(f"there is no line {line.strip()!r}; the file has lines 1 to {len(lines)}")
            fields = {"author": author, "exercise": exercise, "line": int(line), "comment": text.strip(), "row": 0}
            code, names, path = code_cell(lines[int(line) - 1]), rules.names(noted), self.results.path / COMMENTS
            there = [one for one in rules.comments if one.author in names and one.exercise == exercise]
            same = [one for one in there if (one.line, one.code) == (int(line), code)]
            content: str | bytes
            verb = "replaces"
            if same and not text.strip():
                verb = "takes back"
                content = without_rows(path, [one.row for one in same])
            else:
                row = validate({**fields, "code": code}, "this form", Comment)
                content = with_comment(path, self.course, row, author, names)
            said = [f"This {verb}: {one.comment}" for one in same]
        return self._planned_change(path, content, {}, " ".join(said))

    def plan_void(self, exercise: Exercise, check: str) -> PlannedChange:
        """Return the change that makes a wrong check void, so that it costs no author points.

        The attribute `changed` of the result has the submissions whose scores change.

        Raises:
            GraderError: the check is void already, or a file cannot be read or changed.
        """
        return self._plan_edit(edit_to_void(self.course, exercise, check))

    def plan_unvoid(self, exercise: Exercise, check: str) -> PlannedChange:
        """Return the change that makes a void check count again.

        The attribute `changed` of the result has the submissions whose scores change.

        Raises:
            GraderError: the check is not void, or a file cannot be read or changed.
        """
        return self._plan_edit(edit_to_unvoid(self.course, exercise, check))

    def plan_extension(self, author: str, handin: HandIn, until: str) -> PlannedChange:
        """Return the change that gives an author another due date.

        Args:
            author: the author name in the report.
            handin: the hand-in that was graded.
            until: the due date, as it was typed.

        Raises:
            GraderError: the text is not a date, or a file cannot be read or changed.
        """
        with self._open_journal() as journal:
            rules = self._rules(journal)
            names = rules.names(self._submission_record(journal, author))
        edit = edit_to_extend(self.course, handin, author, until, lambda name: fold_name(name) in names)
        return self._plan_edit(edit)

    def plan_draft(self, group: SimilarSubmissions, text: str) -> PlannedChange:
        """Return the change that adds a draft to the course as a known wrong answer.

        The change has no effect on scores before a regrade.

        Args:
            group: the group whose draft it is.
            text: the source of the draft.

        Raises:
            CourseError: the course is a student's folder, or the group has a draft already.
        """
        course = self.course
        path = draft_path(course, group)
        file = path.relative_to(course.root).as_posix()

        def write() -> None:
            write_draft(course, group, text)

        return PlannedChange(file, {}, "", "", write)

    def _planned_change(
        self, path: Path, content: str | bytes, changed: Mapping[str, tuple[Report, Report]], replaces: str
    ) -> PlannedChange:
        """Return a planned change of a file in the folder of results.

        `write` of the result raises a `CourseError` if the file has changed meanwhile.

        Args:
            path: the path of the file.
            content: the new content of the file.
            changed: the reports before and after, by author.
            replaces: a sentence on the entry that is replaced, or "".
        """
        before = path.read_bytes() if path.is_file() else b""
        after = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content

        def write() -> None:
            with self._open_journal(), failing_as(f"{path} cannot be written"):
                if (path.read_bytes() if path.is_file() else b"") != before:
                    raise CourseError(
                        f"{path.name} was changed since this was shown; nothing was saved. Look at the new state, then "
                        "save again"
                    )
                write_whole(path, after)

        return PlannedChange(path.name, changed, _diff(path.name, before, after), replaces, write)

    def _plan_edit(self, edit: FileEdit) -> PlannedChange:
        """Work out what an edit of a course file changes, but do not write it.

        The attribute `changed` of the result has the submissions whose scores change.
        """
        before = self.read().reports
        with self._open_journal() as journal:
            after = self._reports(edit.course, journal)
        changed = {
            author: (before[author], after[author])
            for author in after
            if author in before and _comparable_scores(before[author]) != _comparable_scores(after[author])
        }

        def write() -> None:
            with self._open_journal():
                write_edit(edit)

        return PlannedChange(edit.shown_as, changed, _diff(edit.shown_as, edit.before, edit.after), "", write)

    # -- what goes back

    def newer_than_gradebook(self, course: Course) -> Iterator[str]:
        """Yield the names of files that changed after the gradebook was written.

        Its scores are then old. The files are those that decide scores, such as "overrides.csv" and "course.yaml".
        Without a gradebook, nothing is yielded.

        Args:
            course: the course of the class.
        """
        book = self.results.path / GRADEBOOK
        written = book.stat().st_mtime_ns if book.is_file() else 0
        root = course.root
        descriptions = [root / Places.of(one).description for one in course.exercises]
        for path in (self.results.path / OVERRIDES, self.results.path / ROSTER, root / COURSE_FILE, *descriptions):
            if written and path.is_file() and path.stat().st_mtime_ns > written:
                yield path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name

    def write_pages(self) -> None:
        """Start a thread that writes the pages of all authors, unless one is running."""
        if not self.pages.is_running:
            self.pages = PagesWritten(is_running=True)
            threading.Thread(target=self._write_pages, args=(self.pages,)).start()

    def close(self) -> None:
        """Ask the thread that writes pages to end; do not wait for it."""
        self.pages.stop()

    def _write_pages(self, pages: PagesWritten) -> None:
        stopped = "Stopped: some pages are of the state before."
        failed = "The pages were not written, by a fault of ours; the terminal says more."
        with record_end(pages, stopped=stopped, failed=failed):
            if why := self.busy():
                raise CourseError(f"{why} Wait until it has ended.")
            with self._lock, self.results.journal(self._known) as journal:
                names = BatchOptions.of_next_run(journal.options()).names
                pages.lines = write_pages(self.course, journal, self.results, pages.record_page, names=names)[1]

    # -- the journal

    def _why_busy(self) -> str:
        """Return a sentence on what keeps the journal in use for a long time; "" if it is free."""
        if self.pages.is_running:
            return "Everybody's pages are being written; what you see is the state before."
        return self.busy()

    @contextmanager
    def _open_journal(self) -> Iterator[Journal]:
        if why := self._why_busy():
            raise CourseError(f"{why} Wait until it has ended.")
        with self._lock, self.results.journal(self._known) as journal:
            yield journal

    def _rules(self, journal: Journal) -> Rules:
        return self.results.rules(self.course, journal, journal.handin())

    def _plan(self, course: Course, journal: Journal) -> RunPlan:
        return RunPlan(course, course.exercises, Setup(Start.FORK), journal.handin())  # nothing is run

    def _submission_record(self, journal: Journal, author: str) -> SubmissionRecord:
        for noted in journal.submissions():
            if noted.author == author:
                return noted
        raise CourseError(f"no submission is by {author} any more")

    def _report(self, journal: Journal, noted: SubmissionRecord, rules: Rules) -> Report:
        report = report_from_journal(self._plan(self.course, journal), journal, noted, rules)
        if report is None:
            raise CourseError(f"nothing of {noted.author} was graded")
        return report

    def _reports(self, course: Course, journal: Journal) -> dict[str, Report]:
        rules = self.results.rules(course, journal, journal.handin())
        return {report.author: report for report in reports(self._plan(course, journal), journal, rules)}


def _comparable_scores(report: Report) -> tuple[object, ...]:
    """Return the scores of a report as a value, to see whether a change affects them.

    It has the total, the policy, and the score of each exercise.
    """
    return report.final_score, report.policy, tuple(one.score for one in report.exercises)


def _is_same_check(one: Override, other: Override) -> bool:
    return (one.exercise, one.check) == (other.exercise, other.check)


def _files_of(course: Course) -> Sequence[Path]:
    """Return the files and folders whose change requires loading a course again."""
    places = [Places.of(one) for one in course.exercises]
    known = [path for one in places for path in (one.wrong, one.wrong_entries, one.right, one.right_entries)]
    return [course.root / COURSE_FILE, *(course.root / path for path in [*(one.description for one in places), *known])]


def _modification_times(paths: Sequence[Path]) -> str:
    """Return the modification times of files as one text, to see whether one was written.

    For a file that was written at 1,800,000,000 s, and one that does not exist, it is "1800000000000000000/".
    """
    return "/".join(str(path.stat().st_mtime_ns) if path.exists() else "" for path in paths)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()


def _diff(name: str, before: bytes, after: bytes) -> str:
    old, new = (text.decode("utf-8", "replace").splitlines() for text in (before, after))
    return "\n".join(list(difflib.unified_diff(old, new, name, name, n=1, lineterm=""))[2:])
