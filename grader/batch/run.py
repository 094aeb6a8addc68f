"""Many submissions → reports and a gradebook. What was graded before and has not changed is not graded again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.batch.journal import Journal, Shard, SubmissionRecord, open_run
from grader.batch.policy import Rules
from grader.batch.reports import notes_for_staff, report_from_journal, reports
from grader.batch.results_folder import ResultsFolder
from grader.grading.diagnosis import KnownMistakes
from grader.grading.lanes import Executor
from grader.grading.outcomes import WorkResult, is_broken
from grader.grading.plan import RunPlan, Work
from grader.grading.runtime import Runtime
from grader.grading.schedule import schedule
from grader.intake.collect import Intake, collect
from grader.intake.contents import Handed, Unmatched
from grader.intake.layouts import move_to_rostered_authors
from grader.model import GradedExercise, Report, Submission
from grader.model.errors import CourseError
from grader.model.files import from_json, to_json
from grader.model.progress import Progress
from grader.model.score import join_names, pluralize

OnGradebook = Callable[[Iterator[Report]], None]
"""Receives reports one after another; no more than one of them need be in memory at a time."""
OpenExecutor = Callable[[RunPlan, Progress], AbstractContextManager[Executor]]
"""Opens what grades in place of lanes of this machine, and what it reports to."""


_KEPT = ("only", "never_lower", "best", "staff", "names", "submissions", "layout")
"""Options of a run that hold for the next one, too, where it is started from a page."""


@dataclass(frozen=True)
class BatchOptions:
    """The options of a batch: what to grade, and what to grade again though nothing changed.

    Attributes:
        only: the exercises that are graded, by id; none for all.
        authors: the authors whose submissions are graded, by name; none for everybody's.
        rerun: "broken" for what was broken, "all" for everything; "" for what changed alone.
        never_lower: True if a lower score than before does not count.
        best: True if the best of several attempts counts, and not the latest.
        staff: True if its reports are for staff, with detail of hidden checks.
        shard: the part of the class that is graded; None for all of it.
        roster: a table of everybody in the class; None for that of an earlier run.
        names: True if the gradebook names people of whom the platform gave a number, too.
        submissions: the path that the submissions were read from, for whoever grades them again.
        layout: the name of their layout, if it was named.
    """

    only: Sequence[str] = ()
    authors: Sequence[str] = ()
    rerun: str = ""
    never_lower: bool = False
    best: bool = False
    staff: bool = False
    shard: Shard | None = None
    roster: Path | None = None
    names: bool = False
    submissions: str = ""
    layout: str | None = None

    @classmethod
    def of_next_run(cls, text: str) -> BatchOptions:
        """Return the options of an earlier run that hold for the next run, too.

        Args:
            text: the options of the earlier run, from the journal; "" where there was none.

        Raises:
            FormatError: the text is not what this program writes into the journal.
        """
        if not text:
            return cls()
        earlier = from_json(cls, text, "the journal's last run")
        return cls(**{name: getattr(earlier, name) for name in _KEPT})

    def must_rerun(self, graded: GradedExercise) -> bool:
        """Return True if an exercise must be graded again because of `rerun`, even if unchanged."""
        return self.rerun == "all" or (self.rerun == "broken" and is_broken(graded))


@dataclass
class Summary:
    """Counts of a run, and what staff must know of it.

    Attributes:
        graded: the number of exercises of submissions that were graded.
        saved: the number of those that had been graded before, and have not changed.
        broken: the authors of broken results, by exercise.
        lower: the author and the exercise of each lower score that does not count.
        changed: the number of results that replaced one that counted before.
        stale: the number of results that count and were found by other checks than the course has now.
        unmatched: the number of rows of unmatched.csv.
        unread: the reasons why submissions could not be read, by a fault of ours; by author.
        notes: sentences about overrides and the roster.
    """

    graded: int = 0
    saved: int = 0
    broken: dict[str, list[str]] = field(default_factory=dict)
    lower: list[tuple[str, str]] = field(default_factory=list)
    changed: int = 0
    stale: int = 0
    unmatched: int = 0
    unread: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def grade_batch(
    plan: RunPlan,
    intake: Intake,
    results: ResultsFolder,
    options: BatchOptions,
    progress: Progress | None = None,
    *,
    slots: int = 1,
    executor: OpenExecutor | None = None,
    on_gradebook: OnGradebook = lambda reports: None,
) -> Summary:
    """Grade the submissions of a class, and write the reports and the gradebook.

    Killed and run again, it goes on where it was. The results do not depend on `slots` and `executor`.

    Args:
        plan: the run plan. Its secret is the batch's own, which is stored in `results`.
        intake: the submissions that were handed in.
        results: the folder of results.
        options: the options of the batch: what is graded, and what is graded again.
        progress: the receiver of each report when it is final, and of how many submissions are done.
        slots: the number of lanes on this machine that work at once.
        executor: a function that opens another executor in place of these lanes, such as a cluster.
        on_gradebook: a callback that receives all reports that count at the end, also those of earlier runs.

    Raises:
        CourseError: another batch works in `results`, it cannot be written, or overrides or the roster cannot be read.
        ConfinementError: student code cannot be confined as well as the set-up requires.
    """
    shard = options.shard
    if shard is not None:
        intake = replace(intake, handed=intake.handed[shard.number - 1 :: shard.count], unmatched=())
    authors = [handed.key for handed in intake.handed]
    run = open_run(results.path, shard, to_json(options).decode(), intake.root, authors, plan.handin)
    with run as (journal, secret):
        plan = replace(plan, setup=replace(plan.setup, secret=secret))
        _refuse_another_course(plan, journal, results)
        journal.save_people(intake.handed)
        if options.roster is not None:
            results.save_roster(options.roster)
        rules = results.rules(plan.course, journal, plan.handin)  # before anything is graded: it may refuse
        handed = move_to_rostered_authors(intake.handed, rules.platform_numbers())
        for key in {one.key for one in intake.handed}.difference(one.key for one in handed):
            # A run without the roster took another number of the name for this one.
            journal.forget_author(key)
            results.remove_report(key)
        intake = replace(intake, handed=tuple(map(rules.with_members, handed)))
        journal.save_people(intake.handed)
        batch = _Batch(plan, intake, results, options, journal, rules, progress or Progress())
        batch.grade(slots, executor)
        summary = batch.complete_summary()
        if shard is None:
            results.write_unmatched(batch.unmatched, journal.names() if options.names else None)
            on_gradebook(reports(plan, journal, rules))
            summary.notes += notes_for_staff(plan, journal, rules)
    return summary


def _refuse_another_course(plan: RunPlan, journal: Journal, results: ResultsFolder) -> None:
    known = {item.id for item in plan.course.exercises} | {item.id for item in plan.course.broken}
    graded = {row.exercise for row in journal.current()}
    if graded and graded.isdisjoint(known):
        names = ", ".join(sorted(graded)[:3])
        raise CourseError(f"--out: {results.path} has the results of another course ({names}); name another folder")


def handed_in_at(handed: Handed, submission: Submission) -> tuple[str, str]:
    """Return the time when the files that count were handed in.

    Where a platform has a time for each folder, it is the latest one of the folders with files that count.

    Returns:
        The time, such as "2026-11-27T17:00", or ""; and a date that cannot be read, as text, or "".
    """
    if not any(part.at or part.unread for part in handed.parts):
        return handed.at, handed.unread
    files = [own.path for own in submission.exercises.values() if own.files and own.path is not None]
    used = [part for part in handed.parts if any(path.is_relative_to(part.path) for path in files)]
    return max((part.at for part in used), default=""), next((part.unread for part in used if part.unread), "")


@dataclass
class _OpenSubmission:
    """A submission in progress.

    Attributes:
        number: its place in the class.
        handed: the files that its author handed in.
        submissions: the one that counts, then earlier attempts.
        waiting: its works of which there is no result yet.
        open: its works of which there is no final result: some are repeated at the end.
        is_new: True if anything was graded now.
        results: the number of the result in the journal, and the graded exercise; by exercise and attempt.
    """

    number: int
    handed: Handed
    submissions: list[Submission]
    waiting: set[Work] = field(default_factory=set)
    open: set[Work] = field(default_factory=set)
    is_new: bool = False
    results: dict[str, dict[int, tuple[int, GradedExercise]]] = field(default_factory=dict)


class _BatchProgress(Progress):
    """Reports, while results are waited for, how far a batch is, and how many known wrong answers ran."""

    def __init__(self, batch: _Batch, known: KnownMistakes, answers: int) -> None:
        self._batch = batch
        self._known = known
        self._answers = answers

    def still_waiting(self) -> None:
        """Report how many submissions are done, and how many known wrong answers ran."""
        self._batch.progress.compared(self._known.compared_count, self._answers)
        self._batch.progress.advanced(self._batch.done, self._batch.total)

    def noted(self, line: str) -> None:
        """Pass a line from the executor to the progress of the batch."""
        self._batch.progress.noted(line)


@dataclass
class _Batch:
    """The state of one run that grades a class of students."""

    plan: RunPlan
    intake: Intake
    results: ResultsFolder
    options: BatchOptions
    journal: Journal
    rules: Rules
    progress: Progress
    summary: Summary = field(default_factory=Summary)
    done: int = 0
    under_way: dict[Work, tuple[_OpenSubmission, int]] = field(default_factory=dict)
    unread_times: dict[str, str] = field(default_factory=dict)
    """By author, what stands in place of a time."""
    hidden_broken: dict[tuple[str, str], None] = field(default_factory=dict)
    """Authors and exercises of broken results that do not count, because of `never_lower`."""

    def __post_init__(self) -> None:
        only = self.options.only
        self.chosen = [exercise for exercise in self.plan.exercises if not only or exercise.id in only]
        self.unmatched = list(self.intake.unmatched)
        self.total = sum(not self.options.authors or one.key in self.options.authors for one in self.intake.handed)

    def grade(self, slots: int, executor: OpenExecutor | None) -> None:
        """Grade the submissions, then write the gradebook.

        The gradebook is written even if Ctrl-C ends the grading. A shard has no gradebook.
        """
        plan, options = self.plan, self.options
        known, answers = KnownMistakes(plan.setup, self.journal), sum(len(exercise.wrong) for exercise in self.chosen)
        hidden = (self.intake.root, self.intake.source, self.results.path)
        progress = _BatchProgress(self, known, answers)
        if executor is not None:
            opened = executor(replace(plan, exercises=self.chosen), progress)
        else:
            opened = Runtime(self.chosen, plan.setup, slots, hidden=hidden, known=known, progress=progress, strict=True)
        with opened as runtime:
            try:
                for finished in schedule(self.works(), runtime, self.journal, again=options.must_rerun):
                    self.record_result(finished)
            finally:
                if options.shard is None:
                    self.results.write_gradebook(plan, self.journal, self.rules, self.unmatched, names=options.names)

    def works(self) -> Iterator[Work]:
        """Yield what is to be graded: a `Work` for each exercise of each submission.

        Each submission is read only when its first work is needed. Earlier attempts have works, too, if the best one
        counts.
        """
        number = 0
        for handed in self.intake.handed:
            # Those of others are read, too, so that unmatched.csv is about the whole class.
            submissions, unmatched = self._read_submissions(handed)
            self.unmatched += unmatched
            if self.options.authors and handed.key not in self.options.authors:
                continue
            number += 1
            if not submissions:
                continue
            own = _OpenSubmission(number, handed, submissions)
            works = {
                Work(self.plan, exercise, submission): (own, attempt)
                for attempt, submission in enumerate(submissions)
                for exercise in self.chosen
                if not attempt or submission.files_of(exercise).files
            }
            own.waiting, own.open = set(works), set(works)
            self.under_way |= works
            if not works:
                self._finish_submission(own)
            yield from works

    def _read_submissions(self, handed: Handed) -> tuple[list[Submission], list[Unmatched]]:
        """Read what one author handed in, as submissions.

        After an error of ours, return no submission, and a row for unmatched.csv.
        """
        try:
            return collect(
                handed, self.plan.course.exercises, self.plan.exercises, with_earlier_attempts=self.options.best
            )
        except Exception as error:  # of any kind: it must not keep others from their marks
            self.summary.unread[handed.key] = f"{type(error).__name__}: {error}"
            why = f"it could not be read, by a fault of ours: {self.summary.unread[handed.key]}; please report it"
            return [], [Unmatched("", handed.key, why)]

    def record_result(self, finished: WorkResult) -> None:
        """Record the result of one exercise; finish its submission if all of it has results now.

        After a later retry of one of these exercises, the submission is finished again.
        """
        work = finished.work
        own, attempt = self.under_way[work]
        if finished.id is not None:
            own.results.setdefault(work.exercise.id, {})[attempt] = finished.id, finished.graded
        own.is_new |= not finished.saved
        if finished.final:
            del self.under_way[work]
            own.open.discard(work)
            self.summary.saved += finished.saved
            self.summary.graded += not finished.saved
        self.done += own.waiting == {work}
        own.waiting.discard(work)
        if not own.waiting:
            self._finish_submission(own)

    def _finish_submission(self, own: _OpenSubmission) -> None:
        """Choose the results of a submission that count, and write its report.

        The record of the submission is saved before that. The report is shown once it is final.
        """
        submission = own.submissions[0]
        authors = tuple(submission.authors)
        at, unread = handed_in_at(own.handed, submission)
        if unread:
            self.unread_times[submission.author] = unread
        record = SubmissionRecord(submission.author, authors, submission.digest, at, own.handed.late)
        self.journal.save_submission(record)
        self._make_best_count(own)
        if own.is_new and not own.open:
            self.journal.sync()  # before anybody reads that it is graded
        report = report_from_journal(self.plan, self.journal, record, self.rules)
        if report is not None:
            self.results.write_report(report, staff=self.options.staff)
            if own.is_new and not own.open:
                self.progress.reported(report, own.number, self.total)

    def _make_best_count(self, own: _OpenSubmission) -> None:
        """Choose the result that counts for each exercise: that of the best attempt.

        Of equally good attempts, the latest one counts. With `never_lower`, an earlier run's result with a higher score
        goes on counting.
        """
        submission, journal = own.submissions[0], self.journal
        current = {row.exercise: row for row in journal.current(submission.author)}
        for id, rows in own.results.items():
            number, graded = max((rows[attempt] for attempt in sorted(rows)), key=lambda row: row[1].score.earned)
            if self.options.never_lower and id in current:
                before = journal.result(current[id].result).outcomes.graded(graded.exercise)
                if before.score.earned > graded.score.earned:
                    if is_broken(graded):  # not lower, but unknown
                        self.hidden_broken[submission.author, id] = None
                    else:
                        self.summary.lower.append((submission.author, id))
                    continue
            self.summary.changed += id in current and current[id].run != journal.run and current[id].result != number
            journal.make_current(submission.author, id, number)

    def complete_summary(self) -> Summary:
        """Complete and return the summary of the run.

        This lists the broken results that count, and counts the results of older checks.
        """
        self.summary.unmatched = len(self.unmatched)
        if self.unread_times:
            whose, stamp = join_names(list(self.unread_times)), next(iter(self.unread_times.values()))
            self.summary.notes.append(
                f"{pluralize(len(self.unread_times), 'date')}, such as {stamp!r}, cannot be read, so nobody knows "
                f"whether these are late: {whose}. Write late_days of the hand-in into course.yaml."
            )
        known = {exercise.id: exercise for exercise in self.plan.exercises}
        for author, id in self.hidden_broken:
            self.summary.broken.setdefault(id, []).append(author)
        for row in sorted(self.journal.current(), key=lambda row: row.author):
            if row.exercise in known:
                saved, exercise = self.journal.result(row.result), known[row.exercise]
                self.summary.stale += saved.key.judge != self.journal.keys.judge_digest(exercise)
                if is_broken(saved.outcomes.graded(exercise)):
                    self.summary.broken.setdefault(row.exercise, []).append(row.author)
        return self.summary
