"""What is kept and said after a run in a student's own folder: how far they are, advice, news of the course."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model import Course, Report
from grader.model.score import counted
from grader.student.advice import advice_lines
from grader.student.given import is_behind
from grader.student.pages import prose
from grader.student.progress import read_progress, write_progress
from grader.student.reset import keep_starters


def after_run(course: Course, report: Report, width: int) -> Iterator[str]:
    """Keep how far the student is, and give advice."""
    before = read_progress(course)
    after = before.after(report)
    problem = write_progress(course, after)
    problems = [problem or before.problem]
    if not problem:
        keep_starters(course)
    yield from advice_lines(course, report, after, width, kept=not problem)
    if is_behind(course.root):
        problems.append("The course was changed since you got it:  grade update  brings that, and keeps your work")
    for problem in filter(None, problems):
        yield from prose(problem, width)


def unchanged_lines(count: int, width: int) -> Iterator[str]:
    """How many exercises were not run, and why."""
    if count:
        since = "has not changed since it was" if count == 1 else "have not changed since they were"
        text = f"{counted(count, 'exercise')} {since} last run, so this is the result of that run (--fresh runs all)"
        yield from prose(text, width)
