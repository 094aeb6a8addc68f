"""`grade report OUT`: a class at a glance, and what of it no known wrong answer explains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.telling import Say, course_and_exercises, terminal_width, told_errors

if TYPE_CHECKING:
    from grader.batch.journal import Journal
    from grader.batch.overview import Class
    from grader.grading.groups import Group
    from grader.model import Course

_FEW = 5


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--all", "every", is_flag=True, help="All groups, and not the largest alone.")
@click.option("--draft", metavar="GROUP", help="Make a known wrong answer of the group's shortest file.")
@click.option("--course", "course_folder", type=click.Path(path_type=Path), help="The course; by default this folder.")
def command(out: Path, every: bool, draft: str | None, course_folder: Path | None) -> None:
    """Show what came of the class that was graded into OUT, and what no known mistake explains.

    Writes OUT/report.html, and a page for each author into OUT/feedback. Nobody's code is run.
    """
    say = Say()
    say("Reading ...")
    with told_errors():
        from grader.batch.journal import open_journal
        from grader.batch.overview import Class

        course, _ = course_and_exercises((), course_folder)
        with open_journal(out, new=False) as journal:
            if draft is not None:
                say(*_drafted(course, Class(course, journal, out), draft, out))
            else:
                say(*_shown(course, journal, out, every=every))


def _shown(course: Course, journal: Journal, out: Path, *, every: bool) -> Iterator[str]:
    """Write the pages, and tell the class in short."""
    from grader.batch.files import Out
    from grader.batch.overview import Class
    from grader.report.gradebook import group_lines, overview_lines
    from grader.report.html import page
    from grader.report.lines import filled
    from grader.report.overview import overview_page

    width, place = terminal_width(), Out(out)
    overview = Class(course, journal, out, lambda report: place.write_page(page(report), report.author)).overview()
    path = place.write_page(overview_page(overview))
    yield from overview_lines(overview, width)
    groups = overview.groups
    yield from group_lines(groups, len(groups) if every else _FEW, width)
    yield ""
    if usable := [group for group in groups if not group.why_not]:
        # A command is copied, so that it is not broken.
        told = ["To make a known", "wrong answer", "of a group:", f" grade report {out} --draft {usable[0].name}"]
        yield from filled(told, "", width)
    yield from filled(["All of it,", "with everybody's page,", "is in", str(path)], "", width)


def _drafted(course: Course, found: Class, name: str, out: Path) -> Iterator[str]:
    """Write a draft into the course's folder of wrong answers, and tell what to do with it.

    Raises:
        CourseError: there is no such group, or no draft can be made or written.
    """
    from grader.course.layout import Places, refuse_given
    from grader.model.errors import CourseError
    from grader.model.files import write_whole
    from grader.model.score import counted
    from grader.report.lines import filled

    refuse_given(course.root, "report --draft")
    group = _named(found.groups, name, out)
    path = course.root / Places.of(group.exercise).wrong / f"group_{group.name}.py"
    if path.exists():
        raise CourseError(f"{path} is there already; write its sentence, or remove it")
    try:
        text = found.draft(group)
        path.parent.mkdir(exist_ok=True)
        write_whole(path, text)
    except ValueError as error:
        raise CourseError(f"no wrong answer can be made of group {group.name}: {error}") from None
    except OSError as error:
        raise CourseError(f"{path} cannot be written: {error.strerror}") from None
    id = group.exercise.id
    told = ["A new", "wrong answer,", f"of {counted(len(group.members), 'submission')},", "is in", str(path)]
    yield from filled(told, "", terminal_width())
    yield "Now"
    for step in (
        "write its sentence in place of TODO, and give the file the mistake's name",
        "look whether a name of somebody is left in it; take out what is right, and name that in  keeps:",
        f"run  grade verify {id}  which proves that the checks catch it",
        "run the batch again: whoever behaves like it is told the sentence",
    ):
        first, *rest = step.split(" ")
        yield from filled([f"- {first}", *rest], "  ", terminal_width())


def _named(groups: Sequence[Group], name: str, out: Path) -> Group:
    """The group of a name, or of its beginning.

    Raises:
        CourseError: there is none, or more than one; with the nearest.
    """
    import difflib

    from grader.model.errors import CourseError

    found = [group for group in groups if group.name.startswith(name.lower())] if name else []
    if len(found) == 1:
        return found[0]
    names = [group.name for group in found or groups]
    if not names:
        raise CourseError(f"{out} has no group: known mistakes explain all that lost points")
    if found:
        raise CourseError(f"--draft: {name} may be {' or '.join(names)}")
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.4)
    told = f"did you mean {near[0]}?" if near else f"grade report {out} --all  lists them"
    raise CourseError(f"--draft: there is no group {name!r}; {told}")
