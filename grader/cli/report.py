"""What came of a class: `grade report`, `similar`, `diff`, `export`, `term`, `gather` and `forget`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.model.errors import CourseError
from grader.model.files import write_named
from grader.model.score import join_names, pluralize, points_text
from grader.report.console import Pace, Say, explain_missing_package, print_error, shows_colours, terminal_width
from grader.report.safe import for_terminal, wrap

if TYPE_CHECKING:
    from grader.batch.changes import RegradedExercise
    from grader.batch.class_summary import ClassSummary
    from grader.batch.journal import Journal
    from grader.model import Course
    from grader.report.csv_table import CsvTable
    from grader.report.export.formats import Visibility
    from grader.report.export.lms import ScoreColumn

_FEW = 5

out_argument = click.argument("out", type=options.PATH)
names_option = click.option("--names", is_flag=True, help="Show names of people, and not only the platform's numbers.")


@click.command("report")
@out_argument
@click.option("--all", "every", is_flag=True, help="Show all groups, not only the largest.")
@click.option("--draft", metavar="GROUP", help="Make a known wrong answer of the shortest file of a group.")
@click.option("-q", "--quiet", is_flag=True, help="Print only where the pages are.")
@names_option
@options.course
def report_command(
    out: Path, every: bool, draft: str | None, quiet: bool, names: bool, course_folder: Path | None
) -> None:
    """Show how the class graded into OUT did, and which answers no known mistake explains.

    Writes OUT/report.html, a page for each author into OUT/feedback, and OUT/feedback.zip with these pages for the bulk
    upload of Moodle or Canvas. No student code is run.
    """
    say = Say()
    say.meanwhile("Reading ...")
    from grader.batch.class_pages import write_pages
    from grader.batch.class_summary import ClassSummary
    from grader.batch.results_folder import ResultsFolder

    course = options.course_here(course_folder)
    with ResultsFolder(out).journal() as journal:
        if draft is not None:
            say.prose(*_write_draft(course, ClassSummary(course, journal, ResultsFolder(out)), journal, draft))
            return
        overview, sentences = write_pages(course, journal, ResultsFolder.make(out), Pace(say), names=names)
        if not quiet:
            say(*_report_lines(overview, out, every=every))
        say.prose(*sentences)


def _report_lines(overview: ClassSummary, out: Path, *, every: bool) -> Iterator[str]:
    """Yield a summary of the class, and groups of answers that no known mistake explains.

    Args:
        overview: the class.
        out: the folder of results, for the command that is proposed.
        every: True if all groups are shown, and not only the largest.
    """
    from grader.batch.class_text import class_lines, group_lines

    width = terminal_width()
    yield from class_lines(overview, width)
    yield from group_lines(overview, len(overview.groups) if every else _FEW, width, colours=shows_colours())
    yield ""
    if usable := [group for group in overview.groups if not group.why_not]:
        yield from wrap(
            f"To make a known wrong answer of a group:  grade report {out} --draft {usable[0].name}", "", width
        )


def _write_draft(course: Course, graded: ClassSummary, journal: Journal, name: str) -> Iterator[str]:
    """Write a draft of a known wrong answer from a group of similar submissions.

    Yield where the draft is, and the next steps.

    Args:
        course: the course.
        graded: the class, with its groups.
        journal: the journal of the batch.
        name: the name of the group.

    Raises:
        CourseError: there is no such group, or no draft can be made or written.
    """
    from grader.batch.drafts import STEPS, draft_path, draft_source, find_group, write_draft

    group = find_group(graded.groups, name)
    draft_path(course, group)  # what is wrong there is said before an answer is made
    path = write_draft(course, group, draft_source(journal, group))
    yield f"A new wrong answer, from {pluralize(len(group.members), 'submission')}, is in {path}"
    yield "Now"
    yield from (f"- {step.format(exercise=group.exercise.id)}" for step in STEPS)


@click.command("similar")
@out_argument
@names_option
@options.course
def similar_command(out: Path, names: bool, course_folder: Path | None) -> None:
    """List pairs of submissions that have much code in common, in OUT/similar.html, to read side by side.

    It gives no verdict. It needs copydetect: pip install "copydetect>=0.5,<0.6"
    """
    say = Say()
    say.meanwhile(what := f"Comparing the submissions of {out}")
    from grader.batch.results_folder import SIMILAR, ResultsFolder
    from grader.report.html import render_template
    from grader.report.progress_lines import PacedProgress

    with explain_missing_package("copydetect", "similarity"):
        from grader.batch.similar import similar_answers
    course = options.course_here(course_folder)
    with ResultsFolder(out).journal() as journal:
        say(for_terminal(what, one_line=True))
        items = list(similar_answers(course, journal, PacedProgress(say)))
        values = {"course": course.title, "items": items, "names": journal.names() if names else {}}
        path = ResultsFolder.make(out).write_page(SIMILAR, render_template("similar.html", **values))
    for item in items:
        say.prose(f"{item.exercise.number:>6}  {item.in_words} ({pluralize(item.compared, 'submission')})")
    say.prose(f"Read the pairs in {path}. That is not a verdict: talk with their authors before you decide anything.")


@click.command("forget")
@out_argument
@click.argument("author")
@options.course
def forget_command(out: Path, author: str, course_folder: Path | None) -> None:
    """Remove all that OUT has of an author: results, files, reports, pages, rows of tables.

    Pages with several authors are removed, too; grade report and grade similar write them anew. The folder of
    submissions stays as it is.
    """
    from grader.batch.journal import SubmissionRecord
    from grader.batch.results_folder import ResultsFolder
    from grader.course.files import suggestion

    course = options.course_here(course_folder)
    with ResultsFolder(out).journal() as journal:
        names = journal.names()
        records = {one.author: one for one in journal.submissions()}
        # Of who handed in nothing that can be read, there is a name alone.
        records = {**{key: SubmissionRecord(key, (), "", "", late=False) for key in names}, **records}
        same_name = [one for key, one in records.items() if author in (key, names.get(key), *one.authors)]
        if not same_name:
            raise CourseError(f"{out} has nothing of {author!r}{suggestion(author, [*records, *names.values()])}")
        if len(same_name) > 1:
            raise CourseError(f"{author!r} may be {', '.join(one.author for one in same_name)}; name one of them")
        key = same_name[0].author
        if author != key and (others := [member for member in same_name[0].members if member not in (author, key)]):
            raise CourseError(f"{author} handed in with {', '.join(others)}; to forget all of them, name {key}")
        folder = ResultsFolder.make(out)
        folder.forget(same_name[0], folder.rules(course, journal, journal.handin()))
        journal.forget_author(key)
    Say().prose(f"{out} has nothing of {key} any more. Remove what they handed in, too: the next batch would grade it.")


@click.command("diff")
@out_argument
@click.option("--all", "every", is_flag=True, help="Also show what was graded again with the same result.")
@options.course
def diff_command(out: Path, every: bool, course_folder: Path | None) -> None:
    """Show what the last regrade into OUT changed, and what staff did, by overrides.csv and void checks.

    Each author and check has the score before, the score after, and the reason. At the end stand the rules that wait
    for points from a person.
    """
    from grader.batch.changes import exercises_changed_by_staff, last_regrade, waiting_for_staff
    from grader.batch.reports import notes_for_staff
    from grader.batch.results_folder import ResultsFolder
    from grader.grading.plan import RunPlan
    from grader.model.messages import Setup, Start
    from grader.report.gradebook import BY_HAND, needs_points_text

    course, say = options.course_here(course_folder), Say()
    plan = RunPlan(course, course.exercises, Setup(Start.FORK))  # nothing is run
    with ResultsFolder(out).journal() as journal:
        rules = ResultsFolder(out).rules(course, journal, journal.handin())
        at, changes = last_regrade(course, journal)
        by_staff = list(exercises_changed_by_staff(plan, journal, rules))
        notes = list(notes_for_staff(plan, journal, rules))
        waiting = waiting_for_staff(plan, journal, rules)
    changed = [change for change in changes if change.differs]
    _say_changes(say, changes if every else changed)
    again = f"Graded again on {at}: {pluralize(len(changes), 'exercise')}, {len(changed)} with another result."
    say(again if at else "Nothing was graded again yet: every score is the first one.")
    if by_staff:
        say("", "Changed by staff, from the points of the checks to the points that count:")
        _say_changes(say, by_staff)
    say.prose(*(f"{needs_points_text(number, rule, count)}; {BY_HAND}" for (number, rule), count in waiting.items()))
    say.prose(*notes)


def _say_changes(say: Say, changes: Sequence[RegradedExercise]) -> None:
    for change in changes:
        before, after = (points_text(one.score.earned) for one in (change.before, change.after))
        author = for_terminal(change.author, one_line=True)
        say(f"{change.after.exercise.number:>6} {f'{before} -> {after}':>14}  {author}  ({change.why})")
        for id, *both in change.changed_checks:
            ends = [f"{end[0]} {points_text(end[1])}" if end else "none" for end in both]
            say(f"{'':>8}{' -> '.join(ends)}  {for_terminal(id, one_line=True)}")


@click.command("export")
@click.argument("reports", metavar="REPORT...", nargs=-1, required=True, type=options.PATH)
@options.format_option(required=True, more=options.LMS)
@click.option("--into", type=options.PATH, help="The file downloaded from Canvas or Moodle, to fill in.")
@click.option("--handin", metavar="HANDIN", help="Fill in this hand-in alone; other folders count for grace days.")
@click.option("--column", default="", help="With --into: the title of the column; by default what course.yaml says.")
@click.option("--scale", "scales", is_flag=True, help="With --into: scale scores to the points of the column.")
@click.option("--zeros", is_flag=True, help="With --into: give 0 to everybody in the file who handed in nothing.")
@names_option
@options.course
@options.points
@options.hidden
def export_command(
    reports: tuple[Path, ...],
    formats: tuple[tuple[str, str], ...],
    into: Path | None,
    handin: str | None,
    column: str,
    scales: bool,
    zeros: bool,
    names: bool,
    course_folder: Path | None,
    points: bool | None,
    hidden: Visibility,
) -> None:
    """Write a report in the format of another program. REPORT is a file of `grade --json` or `grade batch`.

    For canvas and moodle, REPORT is the folder OUT of a batch, or several of them, and --into names the file
    downloaded from the platform. A Moodle worksheet gets the scores of its own hand-in; other folders count only for
    grace days.
    """
    from grader.report.csv_table import CsvTable
    from grader.report.export.formats import Options, write_format
    from grader.report.export.lms import fill_columns, moodle_upload_notes
    from grader.report.read import read_report

    (kind, place), say = formats[0], Say(quiet=any(place == "-" for _, place in formats))
    if lms := [name for name, _ in formats if name in options.LMS]:
        if len(formats) > 1 or into is None:
            raise CourseError(
                f"--format {lms[0]} needs --into FILE, a file downloaded from the platform, and no other --format"
            )
        table = CsvTable(into)
        columns, notes = _read_score_columns(reports, kind, handin, column, course_folder, table)
        done = fill_columns(table, kind, columns, scales=scales, zeros=zeros)
        write_named(place or into, table.content(), "--format")
        shown = {author: name for one in columns for author, name in one.names.items()} if names else {}
        notes += moodle_upload_notes(done) if kind == "moodle" else []
        for line in (*done.lines(place or str(into), shown, zeros=zeros), *notes):
            (print_error if place == "-" else say.prose)(line)
        return
    if len(reports) > 1:
        raise CourseError("name one report; several folders are for --format canvas and --format moodle")
    read = read_report(reports[0])
    settings = Options(environ=os.environ, points=points is not False, hidden=hidden)
    for name, place in formats:
        write_format(name, place, read, settings)
        say(f"wrote {place}")


def _read_score_columns(
    outs: Sequence[Path], kind: str, handin: str | None, column: str, course_folder: Path | None, table: CsvTable
) -> tuple[list[ScoreColumn], list[str]]:
    """Return the columns of final scores for a platform's table, and notes for the user.

    Each hand-in that goes into the table has one column.

    Args:
        outs: the folders of results. All of them count for grace days.
        kind: the kind of the table: "canvas" or "moodle".
        handin: the id of the hand-in that goes into the table; None for all, or on Moodle for the one that fits.
        column: the title of the column; "" for the one that the course has.
        course_folder: a folder in the course; None for the user's folder.
        table: the table of the platform.

    Raises:
        CourseError: a folder cannot be read, or it is not clear which hand-in is meant.
    """
    from grader.batch.term import column_of, other_score_changes, read_scores, with_grace
    from grader.report.export.lms import count_authors_in

    all_scores, course = [read_scores(out) for out in outs], options.course_here(course_folder)
    if handin is not None and handin not in [one.handin for one in all_scores]:
        known = join_names([one.handin or "no hand-in" for one in all_scores])
        raise CourseError(f"--handin: these folders have results of {known}, and none of {handin}")
    if len(all_scores) == 1 and course.policy.grace_days and len(course.handins) > 1:
        print_error(
            "grace days that other hand-ins used up are unknown here; name the folders of all hand-ins, and this one "
            "with --handin"
        )
    known_by = [count_authors_in(table, kind, column_of(one, "")) for one in all_scores]
    chosen = [place for place, one in enumerate(all_scores) if handin in (None, one.handin)]
    if kind == "moodle" and len(chosen) > 1:  # a worksheet is of one assignment, in which all have other numbers
        chosen = [place for place in chosen if known_by[place]]
        if len(chosen) != 1:
            which = (
                "none of these hand-ins" if not chosen else join_names([all_scores[place].label for place in chosen])
            )
            raise CourseError(f"{table.path} fits {which}; say which hand-in it is for: --handin HANDIN")
    if column and len(chosen) > 1:
        raise CourseError(
            "--column is for one hand-in; the columns of several are named in course.yaml, under handins, as column"
        )
    notes = other_score_changes(all_scores, chosen, course) if len(all_scores) > 1 else []
    all_scores = with_grace(all_scores, course) if len(all_scores) > 1 else all_scores
    columns = []
    for one in (all_scores[place] for place in chosen):
        known_handin = course.handin(one.handin)
        title = column or ("" if kind == "moodle" or known_handin is None else known_handin.column)
        columns.append(column_of(one, title))
    return columns, notes


@click.command("term")
@click.argument("outs", metavar="OUT...", nargs=-1, required=True, type=options.PATH)
@click.option("--to", default="term.csv", show_default=True, type=options.PATH, help="The table.")
@click.option("--pages", is_flag=True, help="Also write the pages of each OUT again, with the term's grace days.")
@names_option
@options.course
def term_command(outs: tuple[Path, ...], to: Path, pages: bool, names: bool, course_folder: Path | None) -> None:
    """Join the hand-ins graded into OUT... to one gradebook of the term, by course.yaml's weights and policy.

    With --pages, the pages of  grade report  are written again for each hand-in, with the scores that count when all
    hand-ins share a person's grace days.
    """
    from grader.batch.class_pages import write_pages
    from grader.batch.results_folder import ResultsFolder
    from grader.batch.term import read_scores, term_csv, term_lines, term_rows, with_grace

    course, say = options.course_here(course_folder), Say()
    all_scores = [read_scores(out) for out in outs]
    rows, ids = term_rows(all_scores, course), [one.handin or "" for one in all_scores]
    write_named(to, term_csv(rows, ids), "--to")
    say(*term_lines(rows, ids))
    alone = [row.uid for row in rows if len(row.scores) == 1]
    if len(outs) > 1 and alone:
        say.prose(
            f"{pluralize(len(alone), 'person')} handed in only one of these: {join_names(alone)}. If a name differs "
            "from hand-in to hand-in, give each batch its --roster."
        )
    for one in with_grace(all_scores, course) if pages else ():
        with one.folder.journal() as journal:
            folder = ResultsFolder.make(one.folder.path)
            say.prose(*write_pages(course, journal, folder, Pace(say), names=names, over_term=one.scores)[1])
    say.prose(f"{pluralize(len(rows), 'person')} in {pluralize(len(outs), 'hand-in')}: {to}")


@click.command("gather")
@click.argument("folder", metavar="DIR", type=options.PATH)
@click.option("--out", default="gradebook.csv", show_default=True, type=options.PATH, help="The gradebook.")
def gather_command(folder: Path, out: Path) -> None:
    """Make one gradebook of all reports below DIR. Of several reports of an author the latest counts."""
    from grader.ci.clones import gather

    gathered, say = gather(folder), Say()
    write_named(out, gathered.gradebook(), "--out")
    say(f"{out} has {pluralize(gathered.authors, 'author')}", *gathered.lines())
