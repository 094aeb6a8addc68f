"""`grade [EXERCISE…]`: grade the course in this folder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import (
    complete_grade,
    confinement_option,
    device_option,
    plain_option,
    read_setup,
    seed_option,
    staff_option,
    start_option,
)
from grader.cli.telling import Say, broken_of, check_rules, course_and_exercises, drawing, terminal_width, told_errors

if TYPE_CHECKING:
    from grader.grading.plan import RunPlan
    from grader.grading.work import Finished
    from grader.model import GradedExercise, Report, Submission
    from grader.model.messages import Setup
    from grader.report.schema import ReportFile

POINTS_LOST = 1
UNDECIDED = 3


@click.command("run", hidden=True)
@click.argument("names", metavar="[EXERCISE]... [RULE]...", nargs=-1, shell_complete=complete_grade)
@click.option("--submission", type=click.Path(path_type=Path), help="A folder, zip or file to grade.")
@click.option("--json", "json_path", metavar="FILE", help="Write the report as JSON; - for standard output.")
@click.option("--html", "html_path", metavar="FILE", help="Write the report as a page for a browser.")
@staff_option
@seed_option
@click.option("--like", metavar="REPORT", help="As in the run of that report: its seed, limits, start and author.")
@click.option("-x", "--exitfirst", "stops", is_flag=True, help="Stop at the first check that loses points.")
@click.option("--fresh", is_flag=True, help="Run also what has not changed since the last run.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the table and the total.")
@click.option("-v", "--verbose", is_flag=True, help="Show every check with its message, also those that passed.")
@plain_option
@confinement_option("none")
@device_option
@start_option
def command(
    names: tuple[str, ...],
    submission: Path | None,
    json_path: str | None,
    html_path: str | None,
    staff: bool,
    seed: int | None,
    like: str | None,
    stops: bool,
    fresh: bool,
    quiet: bool,
    verbose: bool,
    plain: bool,
    confinement: str,
    device: str,
    start: str | None,
) -> None:
    """Grade exercises, print what to mend, and say what to do next."""
    say = Say(quiet=json_path == "-")
    if not quiet:
        say("Grading ...")
    with told_errors():
        _can_write("--json", None if json_path == "-" else json_path)
        _can_write("--html", html_path)
        setup, earlier = read_setup(start, device, confinement, seed or 0), None
        details = say if not quiet else Say(quiet=True)
        if like is not None:
            from grader.report.like import read_like, setup_like

            earlier = read_like(Path(like))
            setup = setup_like(earlier, setup, start is not None)
        programs = json_path is not None
        lines = partial(_exercise_lines, every=verbose, plain=plain)
        saves = not (stops or programs or like or submission)
        seeded = seed is not None or like is not None
        how = _How(stops=stops, for_programs=programs, saves=saves, fresh=fresh, seeded=seeded)
        report, all_run = _grade((names, earlier), submission, setup, (say, details), lines, how)
        _write(report, (json_path, html_path), say, staff=staff)
    sys.exit(_exit_status(report) if all_run else UNDECIDED)


@dataclass(frozen=True)
class _How:
    """How a run is done.

    Attributes:
        stops: whether it ends at the first check that loses points.
        for_programs: whether its report is for programs, which need a row for each check.
        saves: whether results of earlier runs are used, and new ones are saved.
        fresh: whether everything is run again all the same.
        seeded: whether its seed was given.
    """

    stops: bool
    for_programs: bool
    saves: bool
    fresh: bool
    seeded: bool


def _grade(
    wanted: tuple[tuple[str, ...], ReportFile | None],
    submission: Path | None,
    setup: Setup,
    says: tuple[Say, Say],
    lines: Callable[[GradedExercise, int], Iterator[str]],
    how: _How,
) -> tuple[Report, bool]:
    """Grade what is wanted, and report it with the first of `says`; exercises with the second, in these lines.

    With the report comes whether no exercise was left out.
    """
    from grader.course.kept import kept_results
    from grader.grading.known import Known
    from grader.grading.lanes import lanes_for, open_lanes
    from grader.grading.store import open_store
    from grader.grading.submission import grade_submission
    from grader.report.like import differences
    from grader.report.terminal import summary_lines, unread_lines
    from grader.student.after import after_run, unchanged_lines

    plan, handed_in = _plan(wanted, submission, setup, how)
    course, width, started = plan.course, terminal_width(), time.monotonic()
    done = saved = 0
    say, details = says
    details(*unread_lines(handed_in, width))

    def on_finished(one: Finished) -> None:
        nonlocal done, saved
        done, saved = done + 1, saved + one.saved
        if one.graded.checks:
            details(*lines(one.graded, width), "")

    def on_wait() -> None:
        if slots > 1:
            details.running(f"{done} of {len(plan.exercises)} exercises", time.monotonic() - started)

    slots = lanes_for(plan, handed_in)
    folder = submission or course.root
    with (
        open_store(kept_results(course) if submission is None else None) as store,
        open_lanes(
            plan.to_run(handed_in),
            plan.setup,
            slots,
            hidden=(folder,),
            known=Known(plan.setup, store),
            watch=details.running if slots == 1 else None,
        ) as lanes,
    ):
        kept = store if how.saves and not plan.rules else None
        report = grade_submission(
            plan, handed_in, lanes, kept, fresh=how.fresh, on_finished=on_finished, on_wait=on_wait
        )
        # Everything is printed before the lanes are closed: the reader need not wait for that.
        say(*summary_lines(report, width))
        details(*unchanged_lines(saved, width))
        say(*(differences(wanted[1], report, width) if wanted[1] else ()))
        if submission is None:
            details(*after_run(course, report, width))
    return report, not broken_of(course, wanted[0])


def _plan(
    wanted: tuple[tuple[str, ...], ReportFile | None], submission: Path | None, setup: Setup, how: _How
) -> tuple[RunPlan, Submission]:
    """What is to be graded, and of whose files."""
    from grader.course.layout import is_given
    from grader.course.names import split_rules
    from grader.grading.plan import RunPlan
    from grader.grading.secret import read_secret
    from grader.intake.collect import collect_one
    from grader.intake.folder import read_submission
    from grader.report.like import exercises_like

    words, earlier = wanted
    names, rules = split_rules(words)
    course, exercises = course_and_exercises(names)
    check_rules(exercises, rules)
    if earlier is not None:
        exercises = exercises_like(earlier, exercises)
    place = (submission or course.root).resolve()
    author = earlier.author if earlier else place.stem if place.is_file() else place.name
    if submission is None:
        handed_in = read_submission(course.root, exercises, author)
    else:
        handed_in = collect_one(submission, course.exercises, exercises, author)
        # Somebody else's files and hidden checks: nobody may compute the inputs. A student's own folder keeps its seed.
        if not how.seeded and not is_given(course.root) and any(exercise.hidden_checks for exercise in exercises):
            setup = replace(setup, secret=read_secret(None))
    # A module stands for what was begun of it; an exercise by its own name is run also where it was not.
    alone = bool(names) and len(exercises) <= len(names)
    # In a report for programs each check has a row; a student reads one sentence, and at once.
    plan = RunPlan(course, exercises, setup, runs_untouched=alone, has_folder=True, rules=rules)
    return replace(plan, stops=how.stops, compiles=not how.for_programs), handed_in


def _exercise_lines(graded: GradedExercise, width: int, *, every: bool, plain: bool) -> Iterator[str]:
    from grader.report.terminal import exercise_lines

    return exercise_lines(graded, width, every=every, drawing=drawing(plain=plain))


def _can_write(option: str, path: str | None) -> None:
    """Say so before anything is graded, if the report cannot be written."""
    from grader.model.errors import CourseError

    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise CourseError(f"{option}: there is no folder {folder}; make it first")
    if Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise CourseError(f"{option}: no file can be written at {path}; name another place")


def _write(report: Report, paths: tuple[str | None, str | None], say: Say, *, staff: bool) -> None:
    from grader.model.files import write_whole
    from grader.report.schema import report_json, write_report

    json_path, html_path = paths
    if json_path == "-":
        click.echo(report_json(report, staff=staff), nl=False)
    elif json_path:
        write_report(Path(json_path), report, staff=staff)
        say(f"The report is in {json_path}")
    if html_path:
        from grader.report.html import page

        write_whole(Path(html_path), page(report))
        say(f"The report for a browser is in {html_path}")


def _exit_status(report: Report) -> int:
    verdicts = {row.outcome.verdict.value for graded in report.exercises for row in graded.checks}
    if verdicts & {"broken", "inconclusive"}:
        return UNDECIDED
    total = report.score
    return POINTS_LOST if total.earned + total.undecided < total.possible else 0
