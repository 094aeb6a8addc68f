"""`grade [EXERCISE…]`: its options. They are a part of `grade --help`, so this module imports nothing that grades."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli import hand_back, options

if TYPE_CHECKING:
    from grader.runner.early import EarlyProcesses

_RUNTIME = "grader.grading.runtime"
"""What takes longest to import."""


@click.command("run", hidden=True)
@click.argument("names", metavar="[EXERCISE]... [RULE]...", nargs=-1, shell_complete=options.complete_grade)
@click.option("--submission", type=options.PATH, help="A folder, zip or file to grade; by default this course.")
@click.option("--json", "json_path", metavar="FILE", help="Write the report as JSON; - for standard output.")
@click.option("--html", "html_path", metavar="FILE", help="Write the report as a page for a browser.")
@options.staff
@options.seed
@click.option("--like", metavar="REPORT", help="Repeat the run of a report: its seed, start and author.")
@click.option("-x", "--exitfirst", "stops", is_flag=True, help="Stop at the first check that loses points.")
@click.option("--fresh", is_flag=True, help="Also run what has not changed since the last run.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the table and the total.")
@click.option("-v", "--verbose", is_flag=True, help="Show every check with its message, even if it passed.")
@options.plain
@options.workers("none")
def run_command(**chosen: Any) -> None:
    """Grade exercises, print what to fix, and say what to do next."""
    if chosen["submission"] is not None or not chosen["workers"].forks:
        hand_back()
    with _start_early(chosen["submission"], chosen["workers"]) as early:
        from grader.cli.grade import grade_here

        grade_here(**chosen, early=early)


@contextmanager
def _start_early(submission: Path | None, workers: options.Workers) -> Iterator[EarlyProcesses | None]:
    """Start the processes that will grade the user's own folder, and yield them.

    They start while this process imports what grading needs, which takes as long. Yield None if no process is started:
    what grading needs is imported already, workers are not forked, the folder is in no course, or PyTorch's bytecode is
    not written yet, as PyTorch must not be imported before that.
    """
    from grader.course.layout import find_course
    from grader.model.errors import CourseError, StartError
    from grader.runner.compiled import is_compiled

    started = submission is None and _RUNTIME not in sys.modules and workers.forks and is_compiled()
    try:
        root = find_course(Path.cwd().resolve()) if started else None
    except CourseError:  # which is raised again, and said, where the course is read
        root = None
    if root is None:
        yield None
        return
    from grader.runner.early import EarlyProcesses

    try:
        early = EarlyProcesses(root, workers.confinement or "none")
    except (StartError, OSError):  # raised again, and said, where a process is needed; a saved result needs none
        yield None
        return
    with closing(early):
        yield early
