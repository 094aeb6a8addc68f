"""What came of a class: `grade report`, `diff`, `export` and `gather`."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.printing import Say, terminal_width, write_file
from grader.model.errors import CourseError
from grader.model.score import counted
from grader.report.safe import filled, prose

if TYPE_CHECKING:
    from grader.batch.journal import Journal
    from grader.batch.overview import Class
    from grader.grading.unexplained import Group
    from grader.model import Course
    from grader.report.export.items import Visibility

_FEW = 5
_STEPS = (
    "write its sentence in place of TODO, and name the file after the mistake",
    "remove names of people; remove what is right, and list it in  keeps:",
    "run  grade verify {exercise}  to prove that the checks catch it",
    "run the batch again: reports of answers that behave like it then say so",
)
"""What to do with the draft of a wrong answer."""

out_argument = click.argument("out", type=click.Path(path_type=Path))


@click.command("report")
@out_argument
@click.option("--all", "every", is_flag=True, help="Show all groups, not only the largest.")
@click.option("--draft", metavar="GROUP", help="Make a known wrong answer of the shortest file of a group.")
@options.course
def report_command(out: Path, every: bool, draft: str | None, course_folder: Path | None) -> None:
    """Show how the class graded into OUT did, and which answers no known mistake explains.

    Writes OUT/report.html, and a page for each author into OUT/feedback. Nobody's code is run.
    """
    say = Say()
    say.begin("Reading ...")
    from grader.batch.journal import open_journal
    from grader.batch.overview import Class

    course = options.course_here(course_folder)
    with open_journal(out, new=False) as journal:
        if draft is not None:
            say(*_drafted(course, Class(course, journal, out), draft, out))
        else:
            say(*_shown(course, journal, out, every=every))


def _shown(course: Course, journal: Journal, out: Path, *, every: bool) -> Iterator[str]:
    """Write the pages, and show the class in short."""
    from grader.batch.book import Out
    from grader.batch.overview import Class
    from grader.report.gradebook import group_lines, overview_lines
    from grader.report.html import page
    from grader.report.overview import overview_page

    width, place = terminal_width(), Out(out)
    overview = Class(course, journal, out, lambda report: place.write_page(page(report), report.author)).overview()
    path = place.write_page(overview_page(overview))
    yield from overview_lines(overview, width)
    groups = overview.groups
    yield from group_lines(groups, len(groups) if every else _FEW, width)
    yield ""
    if usable := [group for group in groups if not group.why_not]:
        # A command will be copied, so it is not wrapped.
        words = ["To make a known", "wrong answer", "of a group:", f" grade report {out} --draft {usable[0].name}"]
        yield from filled(words, "", width)
    yield from filled(["All of it,", "with everybody's page,", "is in", str(path)], "", width)


def _drafted(course: Course, graded: Class, name: str, out: Path) -> Iterator[str]:
    """Write a draft into the course's folder of wrong answers, and say what to do with it.

    Raises:
        CourseError: there is no such group, or no draft can be made or written.
    """
    from grader.course.layout import Places, refuse_given

    refuse_given(course.root, "report --draft")
    group = _group_of(graded.groups, name, out)
    path = course.root / Places.of(group.exercise).wrong / f"group_{group.name}.py"
    if path.exists():
        raise CourseError(f"{path} exists already; write its sentence, or remove it")
    try:
        text = graded.draft(group)
    except ValueError as error:
        raise CourseError(f"no wrong answer can be made of group {group.name}: {error}") from None
    write_file(path, text, makes_folder=True)
    width = terminal_width()
    words = ["A new", "wrong answer,", f"from {counted(len(group.members), 'submission')},", "is in", str(path)]
    yield from filled(words, "", width)
    yield "Now"
    for step in _STEPS:
        yield from prose(f"- {step.format(exercise=group.exercise.id)}", width, "  ", "  ")


def _group_of(groups: Sequence[Group], name: str, out: Path) -> Group:
    """The group of a name, or of its beginning.

    Raises:
        CourseError: no group has this name, or more than one; with the nearest.
    """
    matching = [group for group in groups if group.name.startswith(name.lower())] if name else []
    if len(matching) == 1:
        return matching[0]
    names = [group.name for group in matching or groups]
    if not names:
        raise CourseError(f"{out} has no group: known mistakes explain all that lost points")
    if matching:
        raise CourseError(f"--draft: {name} may be {' or '.join(names)}")
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else f"grade report {out} --all  lists them"
    raise CourseError(f"--draft: there is no group {name!r}; {hint}")


@click.command("diff")
@out_argument
@click.option("--all", "every", is_flag=True, help="Also show what was graded again with the same result.")
@options.course
def diff_command(out: Path, every: bool, course_folder: Path | None) -> None:
    """Show what the last regrade into OUT changed. For each author and check: the score before, after, and why."""
    from grader.batch.book import last_regrade
    from grader.batch.journal import open_journal
    from grader.report.gradebook import changed_check, changed_exercise

    course, say = options.course_here(course_folder), Say()
    with open_journal(out, new=False) as journal:
        diff = last_regrade(course, journal)
    if not diff.at:
        say("Nothing was graded again yet: every score is the first one.")
        return
    changed = [change for change in diff.changes if change.checks]
    for change in diff.changes if every else changed:
        before, after = change.before.score.earned, change.after.score.earned
        say(changed_exercise(change.author, change.after.exercise.number, before, after, change.why))
        for check in change.checks:
            say(changed_check(check.id, check.before, check.after))
    again = counted(len(diff.changes), "exercise")
    say(f"Graded again on {diff.at}: {again}, {len(changed)} with another result.")


@click.command("export")
@click.argument("report", metavar="REPORT", type=click.Path(path_type=Path))
@options.formats(required=True)
@options.points
@options.hidden
def export_command(report: Path, formats: tuple[tuple[str, str], ...], points: bool | None, hidden: Visibility) -> None:
    """Write a report in the format of another program. REPORT is a file of `grade --json` or `grade batch`."""
    from grader.report.export.formats import write_format
    from grader.report.export.items import Options
    from grader.report.schema import read_report

    options = Options(environ=os.environ, points=points is not False, hidden=hidden)
    read = read_report(report)
    say = Say(quiet=any(place == "-" for _, place in formats))
    for name, place in formats:
        write_format(name, place, read, options)
        say(f"wrote {place}")


@click.command("gather")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out", default="gradebook.csv", show_default=True, type=click.Path(path_type=Path), help="The gradebook."
)
def gather_command(folder: Path, out: Path) -> None:
    """Make one gradebook of all reports below DIR. Of several reports of an author the latest counts."""
    from grader.ci.gather import gather

    gathered, say = gather(folder), Say()
    write_file(out, gathered.gradebook(), "--out")
    say(f"{gathered.authors} authors are in {out}", *gathered.lines())
